"""The placement of tasks: the hosts and GPUs that a selection for packed resources takes now."""

from __future__ import annotations

from batsched_py.errors import InvariantError
from batsched_py.model.host_room import Places
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.policies.packing import PackedSelection
from batsched_py.planning.policies.rating import Rating
from batsched_py.planning.rated_hosts import RatedHosts
from batsched_py.state.rooms import Rooms
from batsched_py.state.state import State


class TaskPlacer:
    """A selection for packed resources, applied to the hosts of one run.

    Selections that depend on expected tasks are given the tasks of the jobs submitted so far, again whenever their
    number has doubled.
    """

    def __init__(self, state: State, selection: PackedSelection) -> None:
        self._state, self._selection = state, selection
        self._rating: Rating | None = None
        #: Number of submitted jobs from which on the rating is prepared again.
        self._renewal = 0
        #: Made with the first rating.
        self._rated: RatedHosts | None = None
        #: Number of changes of rooms that the rated hosts know.
        self._seen = 0
        #: What found no places last: the demand, the usable hosts, the number of changes of rooms, and the rating.
        self._failed: tuple[JobDemand, int, int, Rating] | None = None

    def place(self, wanted: JobDemand, among: int | None = None) -> Places | None:
        """Return the places of all tasks on hosts that are usable now; None if there are none.

        `among` are the bits of the hosts on which the job may run; None for all.
        """
        rooms = self._state.rooms
        if rooms is None or rooms.short_licence(wanted):
            return None
        usable = self._state.hosts.usable
        asked = wanted, usable if among is None else usable & among, rooms.changes, self._prepared(rooms)
        if asked == self._failed:
            return None
        places = self._current(rooms).place(wanted, asked[1])
        if places is None:
            self._failed = asked
        return places

    def rating(self) -> Rating:
        """Return the rating for the tasks that are expected now."""
        if self._state.rooms is None:
            raise InvariantError("tasks are rated, but no job has a demand")
        return self._prepared(self._state.rooms)

    def _prepared(self, rooms: Rooms) -> Rating:
        """Return the rating for the tasks that are expected now."""
        if self._rating is None or rooms.requests >= self._renewal:
            expected = [task for task, number in rooms.requested.items() for _ in range(number)]
            self._rating = self._selection.prepare(tuple(rooms.capacities.values()), expected)
            self._renewal = 2 * rooms.requests
            if self._rated is not None:
                self._rated.renew(self._rating)
        return self._rating

    def _current(self, rooms: Rooms) -> RatedHosts:
        """Return the rated hosts as they are now."""
        rating = self._prepared(rooms)
        if self._rated is None:
            self._rated = RatedHosts(rooms.capacities, rating, rooms.in_use)
            self._rated.change(rooms.capacities)
        elif rooms.changes != self._seen:
            changed = rooms.changed_since(self._seen)
            self._rated.change(rooms.capacities if changed is None else changed)
        self._seen = rooms.changes
        return self._rated
