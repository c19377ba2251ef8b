"""A question: the decision that an agent is asked for, and all that it may know for it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.scheduling.view import View


class Shape(Struct, frozen=True):
    """The sizes on which the spaces of observations and actions depend.

    Attributes:
        window: waiting jobs that are shown at most.
        hosts: compute hosts.
    """

    window: int
    hosts: int


class Question(Struct, frozen=True):
    """What is to be decided now.

    Attributes:
        view: all that an algorithm may know, at this instant.
        jobs: the waiting jobs that are shown, in order of arrival: at most as many as the window has.
        free: hosts that could take a job now.
        host_count: compute hosts.
    """

    view: View
    jobs: Sequence[Job]
    free: HostSet
    host_count: int

    @classmethod
    def about(cls, view: View, window: int) -> Question:
        """Return the question that shows the first waiting jobs, `window` of them at most."""
        return cls(view, tuple(islice(view.queue, window)), view.free, len(view.hosts))

    @classmethod
    def nothing(cls, view: View) -> Question:
        """Return what is observed when nothing is left to be decided: no job is shown."""
        return cls(view, (), view.free, len(view.hosts))
