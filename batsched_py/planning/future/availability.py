"""The availability: the hosts that are free now and in the future, for planning algorithms.

It has three parts. It keeps the current state (`busy`, `reserved`, `down`) itself. The *calendar* has the future
changes. With few reservations, a query walks the calendar from now on, which is the cheapest way for an algorithm with
one promise. With more, it uses a *slot table*, which is built from the calendar when a query needs it, and dropped at
changes that cannot be applied to it. The promises themselves are in a promise book (`promise_book`) or a book of
reservations (`reservations`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from batsched_py.bits import SMALL, size_of, sized, without
from batsched_py.errors import InvariantError
from batsched_py.hostset import HostSet, pick_hosts
from batsched_py.model.demand import HostCapacity
from batsched_py.model.host_room import Places
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.calendar import Calendar
from batsched_py.planning.future.count_slots import CountSlots
from batsched_py.planning.future.host_slots import HostSlots
from batsched_py.planning.future.promises import Choose, Claim, Promise, RoomSlot, Shadow, Slot
from batsched_py.planning.future.room_future import RoomFuture
from batsched_py.planning.future.room_search import RoomSearch
from batsched_py.planning.future.slot_table import SlotTable
from batsched_py.planning.future.standing_room import StandingRoom
from batsched_py.planning.task_packing import Pack, Packer

# Between two calls `busy`, `reserved` and `down` are true of `now`, bookings in the calendar begin and end later than
# `now`, and `_free` is None or true; `_table` is None or true, except that one whose `late` has changed is replaced at
# the next question. `disruptions` counts the changes that may break a promise; a book whose count is the same may
# compress its promises instead of making each anew.
#
# Two representations are kept because two kinds of algorithms ask. With a single promise, as in EASY, most questions
# are answered within the first few changes, and a change costs one binary search and one insertion: 1.5 us, where an
# always current slot table costs 16 to 54 us (ADR 26). With hundreds of promises each question walks hundreds of
# changes: conservative backfilling took 31 s for 3 000 jobs (ADR 20). The slot table answers those. Dropping it at
# every end of work would be simpler and 18 to 24 % slower, so work that nothing else touches is written through, and
# everything else drops it: odd cases are handled in one place, the calendar.
#
# Work past its predicted end still holds its hosts at `now`; it is expected at the next floating-point number after it.
# There is no tolerance: Batsim announces completions slightly late, and a rule that considers hosts free before that
# starts jobs which Batsim refuses (ADR 4).
#
# The remaining branches save time. Until two works share a host (`_shared`), sets are disjoint: `shadow` adds numbers
# instead of joining sets, and `vacate` intersects none. Sets of more than 4 096 hosts are counted once, and their sizes
# then follow by addition (`_large`).

#: Number of starts of reservations up to which queries walk the calendar; with more, a slot table is faster.
FEW: Final = 2


class Availability:
    """The free hosts as a step function of time.

    The hosts free at `now` are facts; later ones are predictions: work ends at its walltime, reservations begin and
    end. Work past its predicted end keeps its hosts; they are expected the instant after `now`. Hosts in `down`
    (asleep, switching, failed) are never free, unless their return is expected (`expect`).

    A change costs a binary search and an insertion; a query walks the calendar until it has its result.
    """

    __slots__ = (
        *("_adjusted", "_calendar", "_down", "_ends", "_free", "_large", "_predicted", "_shared", "_starts", "_stops"),
        *("_table", "busy", "disruptions", "hosts", "now", "reserved", "rooms"),
    )

    def __init__(self, now: float, hosts: int, down: int = 0) -> None:
        """Begin with all of the bits `hosts` without work at `now`."""
        self.now = now
        #: Bits of all hosts.
        self.hosts = hosts
        self._down = down
        #: Bits of hosts that work holds at `now`.
        self.busy = 0
        #: Bits of hosts whose reservation has begun and not ended at `now`.
        self.reserved = 0
        self._calendar = Calendar(hosts)
        # Used in the hot path.
        self._ends, self._starts, self._stops = self._calendar.ends, self._calendar.starts, self._calendar.stops
        #: Bits of busy hosts whose predicted end has changed since their work began.
        self._predicted = 0
        #: Bits of the hosts of work -> its predicted end, if that is another than was said at its start.
        self._adjusted: dict[int, float] = {}
        #: The same future as slots, while there are many reservations; None: built when it is needed.
        self._table: SlotTable | None = None
        #: Bits of hosts that are free; None if they must be recomputed.
        self._free: int | None = None
        #: True if sets are so large that counting their bits is slow.
        self._large = hosts.bit_length() > SMALL
        #: True once work has started on busy hosts.
        self._shared = False
        #: Number of changes other than starts and ends of work, and promises made and released. As long as it does not
        #: change, reservations remain possible.
        self.disruptions = 0
        #: The free resources of hosts that tasks share; None until there is such a task.
        self.rooms: RoomFuture | None = None

    @property
    def free(self) -> int:
        """Bits of hosts that are free at `now`."""
        if self._free is None:
            self._free = without(self.hosts, self.busy | self.reserved | self._down)
            if self.rooms is not None:
                self._free &= ~self.rooms.used_now()
        return self._free

    @property
    def down(self) -> int:
        """Bits of hosts that can take no work now, for a reason other than work."""
        return self._down

    @down.setter
    def down(self, hosts: int) -> None:
        if self._calendar.returns.times:
            self._calendar.returns.forget(self._down & ~hosts)
        self._down, self._free = hosts, None
        self.disrupt()

    def drop_slots(self) -> None:
        """Rebuild the slot table at the next query, which is cheaper than applying many changes."""
        self._table = None

    def disrupt(self) -> None:
        """Record a change that may break a promise."""
        self._table = None
        self.disruptions += 1

    def advance(self, now: float) -> None:
        """Let reservations begin and end until `now`."""
        self.now = now
        if self.rooms is not None:
            self.rooms.advance(now)
            self._free = None
        starts, stops = self._starts, self._stops
        while starts.times or stops.times:
            time = min(starts.times[:1] + stops.times[:1])
            if time > now:
                break
            self.reserved = self.reserved & ~stops.take(time) | starts.take(time)
            self._free = None
        table = self._table
        if table is not None:  # with nothing reserved questions walk the calendar, and need no table
            if table.late or not (starts.times or stops.times or self._calendar.claims):
                self._table = None
            else:
                table.advance(now)

    def occupy(self, hosts: int, until: float) -> None:
        """Start work on these hosts now, with the predicted end `until` (infinity: unknown)."""
        if self._table is not None:
            self._table.take(self.now, until, hosts, plain=self._is_plain(hosts) and not hosts & self.busy)
        if hosts & self.busy:
            self._shared = True
        self.busy |= hosts
        free = self._free
        if free is not None:
            taken = free & hosts
            self._free = left = free ^ taken
            if self._large and taken == hosts:
                sized(left, size_of(free) - size_of(hosts))
        if until < math.inf:
            self._ends.add(until, hosts)

    def adjust(self, hosts: HostSet, until: float, end: float) -> None:
        """Predict another end for work that has just started, with the end `until`.

        Unlike `predict`, this breaks no promise: those that were made have taken this end into account.
        """
        bits = hosts.bits
        if self._shared or bits & self._predicted or bits & ~self.busy:
            self.predict(hosts, end)
            return
        self._adjusted[bits] = end
        if until < math.inf:
            self._ends.remove(until, bits)
        if end < math.inf:
            self._ends.add(end, bits)
        if self._table is not None:
            change = self._table.give if end < until else self._table.take
            change(max(min(end, until), self.now), max(end, until), bits, plain=self._is_plain(bits))

    def vacate(self, hosts: int, until: float) -> None:
        """End the work on these hosts whose predicted end was `until`."""
        if self._adjusted:
            until = self._adjusted.pop(hosts, until)
        self.busy ^= self.busy & hosts if self._shared else hosts
        free = self._free
        if free is not None:
            if not self._large or self.reserved or self._down or self._shared:
                self._free = None
            else:
                self._free = free | hosts
                sized(self._free, size_of(free) + size_of(hosts))
        if hosts & self._predicted:
            self._predicted &= ~hosts
            self._ends.forget(hosts)
            self.disrupt()
        elif until < math.inf:
            self._ends.remove(until, hosts)
        if self._table is not None:
            if until > self.now:
                self._table.give(self.now, until, hosts, plain=self._is_plain(hosts))
            elif self._table.late:
                self._table = None

    def share(self, capacities: Mapping[int, HostCapacity], licences: Mapping[str, int]) -> None:
        """Let tasks share hosts with these resources, and the machine's numbers of licences."""
        self.rooms = RoomFuture(self.now, capacities, licences)

    def occupy_tasks(self, job_id: str, places: Places, demand: JobDemand, until: float) -> None:
        """Start tasks of a job now, with the predicted end `until` (infinity: unknown)."""
        self._changing_rooms().occupy(job_id, places, demand, until)

    def vacate_tasks(self, job_id: str) -> None:
        """End the tasks of a job."""
        self._changing_rooms().vacate(job_id)

    def predict_tasks(self, job_id: str, end: float) -> None:
        """Change the predicted end of the tasks of a job; infinity: never."""
        self._changing_rooms().predict(job_id, end)
        self.disrupt()

    def adjust_tasks(self, job_id: str, end: float) -> None:
        """Predict another end for tasks that have just started; promises that were made have taken it into account."""
        self._changing_rooms().predict(job_id, end)

    def _changing_rooms(self) -> RoomFuture:
        self._free = self._table = None
        return self._shared_rooms()

    def _shared_rooms(self) -> RoomFuture:
        if self.rooms is None:
            raise InvariantError(f"t={self.now}: tasks can only be placed if hosts may be shared")
        return self.rooms

    def _is_plain(self, hosts: int) -> bool:
        """Return whether nothing but work takes these hosts."""
        if self.rooms is not None and hosts & self.rooms.lined:
            return False
        return not (self._starts.times or self._stops.times or self.reserved or hosts & self._down)

    def _taken_twice(self) -> int:
        """Return the bits of hosts that are taken for two reasons at the same time, or may be if tasks use them."""
        twice = self._calendar.taken_twice(self.busy, self.reserved, self._down)
        return twice if self.rooms is None else twice | self.rooms.lined

    def predict(self, hosts: HostSet, end: float) -> None:
        """Change the predicted end of the work on these hosts; infinity: never.

        Walks the running work once. Hosts without work are ignored.
        """
        bits = hosts.bits & self.busy
        self._ends.forget(bits)
        self._predicted |= bits
        self.disrupt()
        if bits and end < math.inf:
            self._ends.add(end, bits)

    def expect(self, hosts: HostSet, time: float) -> None:
        """Expect these hosts, which are down, back at `time` (infinity: never, which is the default).

        Queries and promises for later times count them. The expectation ends when a host is back; a host that is late
        is expected the instant after `now`. Hosts that are not down are ignored.
        """
        bits = hosts.bits & self._down
        self._calendar.returns.forget(bits)
        self.disrupt()
        if bits and time < math.inf:
            self._calendar.returns.add(time, bits)

    def end_announced_by(self, time: float) -> bool:
        """Return whether an end of work, late or expected at `time`, will be announced, so that no call is needed.

        The same applies to hosts whose return is late or expected at `time`.
        """
        if self.rooms is not None and self.rooms.ends_at(time):
            return True
        return self._calendar.announces(time, self.now)

    def reserve(self, promise: Promise) -> None:
        """Reserve these hosts, or their number, or rooms; they must be free then, as the queries return them."""
        if isinstance(promise, RoomSlot):
            self._changing_rooms().reserve(promise)
            return
        self._book(promise, reserved=True)
        if self._table is not None:
            self._table.book(promise, self.now, reserved=True)

    def release(self, promise: Promise) -> None:
        """Release a reservation, unless it has already ended by itself."""
        if isinstance(promise, RoomSlot):
            self._changing_rooms().release(promise)
            return
        if promise.end <= self.now:
            return
        self._book(promise, reserved=False)
        if self._table is not None:
            self._table.book(promise, self.now, reserved=False)

    def move_claim(self, before: Claim, after: Claim) -> None:
        """Replace the claim `before`, which has not begun, by `after`; the slot table has been updated."""
        claims = self._calendar.claims
        claims.remove(before)
        claims.add(after)

    def move(self, before: Slot, after: Slot) -> bool:
        """Replace the slot `before`, which has not begun, by `after`, which is not later and has as many hosts.

        Return False if the slots from which it was computed are outdated.
        """
        self._book(before, reserved=False)
        self._book(after, reserved=True)
        return self._table is not None and self._table.move(before, after)

    def _book(self, promise: Slot | Claim, *, reserved: bool) -> None:
        """Add a promise to the calendar, or remove it."""
        if isinstance(promise, Claim):
            claims = self._calendar.claims
            (claims.add if reserved else claims.remove)(promise)
            return
        hosts = promise.hosts.bits
        if promise.start <= self.now:
            self.reserved, self._free = self.reserved | hosts if reserved else self.reserved & ~hosts, None
        else:
            (self._starts.add if reserved else self._starts.remove)(promise.start, hosts)
        if promise.end < math.inf:
            (self._stops.add if reserved else self._stops.remove)(promise.end, hosts)

    @property
    def slots_by_host(self) -> HostSlots:
        """The slot table by hosts: the free hosts over time. Internal to planning."""
        table = self._true_table()
        if table.by_host is None:
            table.tangled = self._taken_twice()
            table.by_host = HostSlots(self._steps())
        return table.by_host

    @property
    def slots_by_count(self) -> CountSlots:
        """The slot table by counts: the number of free and unclaimed hosts over time. Internal to planning."""
        table = self._true_table()
        if table.by_count is None:
            table.tangled = self._taken_twice()
            table.by_count = CountSlots(self._counts())
        return table.by_count

    def _true_table(self) -> SlotTable:
        late = self._calendar.late(self.now) or (self.rooms is not None and self.rooms.is_late)
        if self._table is None or late != self._table.late:
            self._table = SlotTable(late=late)
        return self._table

    def free_during(self, start: float, end: float) -> HostSet:
        """Return the hosts that are free during all of [start, end), `start` at or after now."""
        free = self.free if start <= self.now else self._free_at(start)
        return HostSet(free & ~self._starting(start, end))

    def slot_at(
        self, start: float, size: int, duration: float, among: HostSet | None = None, choose: Choose | None = None
    ) -> Slot | None:
        """Return a slot of `size` hosts in [start, start + duration), not before now; None if there are too few.

        `among` are the eligible hosts, None for all; `choose` selects them, None for the lowest.
        """
        hosts = pick_hosts(self.free_during(start, start + duration).bits, size, choose, among)
        return None if hosts is None else Slot(start, start + duration, hosts)

    def earliest(
        self, size: int, duration: float, among: HostSet | None = None, choose: Choose | None = None
    ) -> Slot | None:
        """Return the first slot of `size` hosts for `duration` seconds; None if there is none.

        `among` and `choose` as for `slot_at`; if `choose` returns None, later starts are tried.
        """
        eligible = self.hosts if among is None else among.bits
        if len(self._starts.times) > FEW:
            return self.slots_by_host.earliest(size, duration, eligible, choose)
        for time, free in self._steps():
            if (free & eligible).bit_count() < size:
                continue
            hosts = pick_hosts(free & eligible & ~self._starting(time, time + duration), size, choose)
            if hosts is not None:
                return Slot(time, time + duration, hosts)
        return None

    def earliest_room(
        self,
        wanted: JobDemand,
        duration: float,
        pack: Pack,
        among: HostSet | None = None,
        limit: float = math.inf,
        *,
        first: float = -math.inf,
    ) -> RoomSlot | None:
        """Return the first places of all tasks for `duration` seconds, from `first` on; None for none by the `limit`.

        `among` are the eligible hosts, None for all; `pack` places the tasks in rooms that are free for that long.
        """
        return self._room_search(wanted, duration, among).run(self._whole_steps(), pack, limit, first)

    def standing_room(self, wanted: JobDemand, duration: float, pack: Packer) -> tuple[RoomSlot | None, StandingRoom]:
        """Search as `earliest_room`; return also from what `stands` sees whether the result does."""
        search = self._room_search(wanted, duration, None)
        slot = search.run(self._whole_steps(), pack)
        return slot, StandingRoom(search, search.found() if self._calendar.only_ends(self.now) else None, pack)

    def stands(self, slot: RoomSlot, standing: StandingRoom) -> bool:
        """Return whether a search would have this result again, without its reservation; False if that is unknown."""
        return self._calendar.only_ends(self.now) and standing.holds(slot, self._whole_steps())

    def room_now(self, wanted: JobDemand, duration: float, pack: Pack, among: HostSet | None = None) -> Places | None:
        """Return places of all tasks for `duration` seconds from now on, as `earliest_room`; None if there are none."""
        rooms = self._shared_rooms()
        free = without(self.hosts if among is None else among.bits, self.busy | self.reserved | self._down)
        levels = rooms.levels_until(self.now + duration)
        if not levels.may_have(wanted, free):
            return None
        return RoomSearch(rooms, wanted, duration, self._starts, free, levels=levels).run_now(free, pack)

    def _room_search(self, wanted: JobDemand, duration: float, among: HostSet | None) -> RoomSearch:
        rooms, eligible = self._shared_rooms(), self.hosts if among is None else among.bits
        return RoomSearch(rooms, wanted, duration, self._starts, eligible, levels=rooms.levels())

    def earliest_count(self, size: int, duration: float) -> Claim | None:
        """Return the first claim of any `size` hosts for `duration` seconds; None if there is none.

        It counts hosts that are neither reserved nor claimed.
        """
        return self.slots_by_count.earliest(size, duration)

    def count_falls(self) -> list[tuple[float, int]]:
        """Return (instant, number of hosts that are free and unclaimed from now until after it).

        The first instant is now; numbers descend, and instants without a decrease are omitted.
        """
        falls: list[tuple[float, int]] = []
        for time, room in self._counts():
            if not falls or room < falls[-1][1]:
                falls.append((time, room))
        return falls

    def host_falls(self) -> list[tuple[float, HostSet]]:
        """Return (instant, hosts that are free from now until after it), like `count_falls`."""
        free = self.free
        falls = [(self.now, HostSet(free))]
        for time, starting in self._all_starts():
            left = free & ~starting
            if left != free:
                falls.append((time, HostSet(left)))
                free = left
        return falls

    def shadow(self, size: int) -> Shadow | None:
        """Return the time at which any `size` hosts will be free, and the number of spare hosts; None if never.

        EASY's "shadow time" and "extra nodes" (Lifka 1995; Mu'alem and Feitelson 2001): a promise on a count of hosts.
        """
        free = self.free
        spare = size_of(free) - size
        if spare >= 0:
            return Shadow(self.now, spare)
        if self.rooms is not None or not self._calendar.only_ends(self.now):
            for time, free in self._steps():
                spare = free.bit_count() - size
                if spare >= 0:
                    return Shadow(time, spare)
            return None
        ends = self._ends
        if not (self._down or self._shared or self.reserved):  # sets of different ends are disjoint: count
            sizes = ends.sizes
            for time in ends.times:
                spare += sizes[time]
                if spare >= 0:
                    return Shadow(time, spare)
            return None
        up = ~self._down
        for time in ends.times:
            free |= ends.bits[time] & up
            spare = free.bit_count() - size
            if spare >= 0:
                return Shadow(time, spare)
        return None

    def steps(self) -> Iterator[tuple[float, HostSet]]:
        """Return (instant, hosts free from then on), from now, instants ascending."""
        return ((time, HostSet(free)) for time, free in self._steps())

    def _steps(self) -> Iterator[tuple[float, int]]:
        return self._whole_steps() if self.rooms is None else self.rooms.taken_from(self._whole_steps())

    def _whole_steps(self) -> Iterator[tuple[float, int]]:
        """Yield the steps without regard to tasks that share hosts."""
        free = self.free if self.rooms is None else without(self.hosts, self.busy | self.reserved | self._down)
        yield self.now, free
        if not self._calendar.only_ends(self.now):
            yield from self._calendar.steps(self.now, self.hosts, self.busy, self.reserved, self._down)
            return
        for time in self._ends.times:  # no reservations: hosts only become free
            free |= self._ends.bits[time]
            yield time, free & ~self._down

    def _starting(self, start: float, end: float) -> int:
        """Return the bits of hosts with a reservation or a use that begins in the open interval (start, end)."""
        starting = self._starts.between(start, end)
        return starting if self.rooms is None else starting | self.rooms.beginning(start, end)

    def _all_starts(self) -> list[tuple[float, int]]:
        """Return (instant, bits of hosts with a reservation or a use that begins then), instants ascending."""
        starts = dict(self._starts.bits)
        for time, hosts in self.rooms.all_begins() if self.rooms is not None else ():
            starts[time] = starts.get(time, 0) | hosts
        return sorted(starts.items())

    def _counts(self) -> Iterator[tuple[float, int]]:
        """Return (instant, number of hosts that are free and unclaimed from then on), from now, instants ascending."""
        return self._calendar.claims.left_of(((time, free.bit_count()) for time, free in self._steps()), self.now)

    def _free_at(self, start: float) -> int:
        free = self.free
        for time, bits in self._steps():
            if time > start:
                break
            free = bits
        return free
