"""Names for kinds of programs of a user's own."""

from batsched_py.timelines.kinds import Kind, Work

__all__ = [
    "Kind",
    "Work",
]
