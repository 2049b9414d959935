"""What the check of five sentences knows of the page that they were written for.

``report_card`` notes it here. A judge makes no page, and then this is empty.
"""

BEGAN: list[float] = []
"""The first loss of the run on the page that was made last."""
