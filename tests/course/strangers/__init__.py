"""Wrong answers written from the descriptions of the mistakes alone.

Whoever wrote them had not seen the exercises' wrong rules nor the judge's stories. They
say how well the checker names what it was not built for: run
``python -m tests.course.answers --folder strangers``.
"""
