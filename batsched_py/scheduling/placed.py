"""Placed: where the tasks of a job are to run, on hosts that they may share with others."""

from __future__ import annotations

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.host_room import Places


class Placed(Struct, frozen=True):
    """The places of all tasks of a job, as `plan.place` returns them; for `plan.start`.

    Attributes:
        places: a TaskPlace for each host: its number, the GPUs of the tasks, and how many tasks there are.
    """

    places: Places

    @property
    def hosts(self) -> HostSet:
        """The hosts of the tasks."""
        return HostSet.from_ids(place.host for place in self.places)
