"""What learners write is no test: it is run as rows say."""

collect_ignore_glob = ["*/answers.py"]
