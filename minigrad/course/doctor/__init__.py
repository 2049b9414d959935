"""Does everything that the course needs work on this computer?"""

from minigrad.course.doctor.health import doctor

__all__ = ["doctor"]
