"""Standing room: whether a search for the first start of tasks would have the same result as before."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable

from batsched_py.model.host_room import HostRoom
from batsched_py.planning.future.promises import RoomSlot
from batsched_py.planning.future.room_future import RoomUse
from batsched_py.planning.future.room_search import Circumstances, RoomSearch
from batsched_py.planning.policies.rating import Rating
from batsched_py.planning.task_packing import Packer

# EASY promises its first job a start anew at each release, and nine releases in ten change nothing: they are on hosts
# where the job does not fit before or at its start. Without other promises and without reservations hosts only become
# free, so that the number of tasks that fit never decreases in time. The search has the same result if
#
#   * immediately before the start too few tasks fit (so too few fit at all instants before), and
#   * at the start the hosts with room offer the same rooms (so the selection takes the same).
#
# Both are true of hosts that have not changed, so that only those are compared of which a use has begun, ended or
# moved. Where this cannot be said in a few steps, the answer is that the search must be repeated.


class StandingRoom:
    """The result of a search that may still stand.

    Args:
        search: the search, which has just ended.
        found: the circumstances of the slot that it returned; None if nothing is known of the next one.
        pack: placed the tasks.
    """

    __slots__ = ("_before", "_found", "_future", "_numbers", "_pack", "_rating", "_search", "_seen")

    def __init__(self, search: RoomSearch, found: Circumstances | None, pack: Packer) -> None:
        self._future, self._search, self._found, self._pack = search.future, search, found, pack
        self._rating: Rating = pack.rating
        #: The number of tasks that fit immediately before the start, and host -> its part, where that has changed.
        self._before = math.inf if found is None else found.before
        self._numbers: dict[int, int] = {}
        #: Number of changes of the future that are known.
        self._seen = self._future.log.changes

    def holds(self, slot: RoomSlot, whole: Iterable[tuple[float, int]]) -> bool:
        """Return whether the search has the result `slot` again, which is reserved; False if that is unknown.

        `whole` are (instant, bits of the hosts without whole-host work or reservations from then on), from now, where
        only ends of such work are expected.
        """
        future, found = self._future, self._found
        if found is None:
            return False
        use, moved = future.only_promise(slot), future.log.since(self._seen)
        if use is None or moved is None or self._pack.rating is not self._rating:
            return False
        if slot.start <= future.now or not found.opens(slot.start, whole):
            return False
        for host in moved:
            if not self._is_same(host, slot.start, use, found):
                return False
        self._seen = future.log.changes
        return self._before < found.wanted.tasks

    def _is_same(self, host: int, start: float, use: RoomUse, found: Circumstances) -> bool:
        """Update the number of tasks before the start; return whether the host offers the same at the start."""
        future, search, bit = self._future, self._search, 1 << host
        line = future.lines.get(host)
        if line is None:
            before = at = future.classes[future.capacities[host]][0]
        else:
            before, at = line.free[bisect_left(line.times, start) - 1], line.at(start)
            own = use.taken.get(host)
            if own is not None:
                at = tuple([have + taken for have, taken in zip(at, own, strict=True)])
        number = search.number_of(host, before) if found.open_before & bit else 0
        known = self._numbers.get(host)
        if known is None:
            known = found.number_before(host)
        self._before += number - known
        self._numbers[host] = number
        offered = found.rooms.get(host)
        fits = bool(found.open_at & bit) and search.number_of(host, at) > 0
        if offered is None or not fits:
            return offered is None and not fits
        return _is_equal(future.room_without(host, at, start, use), offered)


def _is_equal(room: HostRoom, other: HostRoom) -> bool:
    return (room.cores, room.memory, room.gpus, room.others, room.kinds) == (
        other.cores,
        other.memory,
        other.gpus,
        other.others,
        other.kinds,
    )
