"""The room: thirty laptops on one board, which shows ids and counts, never code."""

from minigrad.course.notebook import journal
from minigrad.course.room.sender import SENDER, join, leave, sent

__all__ = [
    "join",
    "leave",
    "sent",
]

# The one place where the journal and the room meet.
journal.listeners.append(SENDER.noticed)
