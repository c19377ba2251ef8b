"""A question: a decision required from an agent, with the available information."""

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
        window: maximum number of displayed waiting jobs.
        hosts: number of compute hosts.
    """

    window: int
    hosts: int


class Question(Struct, frozen=True):
    """A decision required now.

    Attributes:
        view: view of an algorithm at this instant.
        jobs: displayed waiting jobs, in order of arrival, at most the size of the window.
        free: hosts that could run a job now.
        host_count: number of compute hosts.
    """

    view: View
    jobs: Sequence[Job]
    free: HostSet
    host_count: int

    @classmethod
    def about(cls, view: View, window: int) -> Question:
        """Return the question that shows the first waiting jobs, at most `window` of them."""
        return cls(view, tuple(islice(view.queue, window)), view.free, len(view.hosts))

    @classmethod
    def nothing(cls, view: View) -> Question:
        """Return an empty question without jobs, for the observation after the last decision."""
        return cls(view, (), view.free, len(view.hosts))
