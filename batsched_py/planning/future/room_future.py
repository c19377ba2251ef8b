"""The future of hosts that tasks share: their free resources over time, for running tasks and promises."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_log import HostLog
from batsched_py.model.host_room import HostRoom, Places
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.calendar import Changes
from batsched_py.planning.future.promises import RoomSlot
from batsched_py.planning.future.ranking import Ranking
from batsched_py.planning.future.room_levels import RoomLevels, capacity_classes
from batsched_py.planning.future.room_steps import Amounts, RoomLayout, RoomSteps, TaskFit

# A host is here while any task uses it, now or by a promise; all others are empty, and known by their capacities alone.
# Work has no begin (minus infinity), as no query concerns the past, so a start costs one border.
#
# Between two calls no use ends at or before `now` except promises: late work is moved to the next floating-point number
# after `now` at each `advance`, as whole hosts are expected (see `availability`). `_ends` has all uses by their ends,
# `_begins` the promises by their starts; both are walked by searches, from now on.
#
# The bits of used hosts over time (`_used`, `_begins`, `_ceases`) are only needed when a job asks for whole hosts, so
# they are made for the changed hosts when they are asked (`_settle`). Without such jobs a change costs one set entry.

#: The number of demands whose amounts are kept.
_MOST_DEMANDS: Final = 1 << 12


class RoomUse:
    """Tasks that use rooms, now or later: running tasks, or a promise.

    Attributes:
        start: minus infinity for running tasks.
        end: expected end.
        places: where the tasks are.
        demand: what they request.
        taken: host -> amounts that they take there.
        licences: licences that they take.
    """

    __slots__ = ("demand", "end", "licences", "places", "start", "taken")

    def __init__(self, start: float, end: float, places: Places, demand: JobDemand) -> None:
        self.start, self.end, self.places, self.demand = start, end, places, demand
        self.taken: Mapping[int, Amounts] = {}
        self.licences: Amounts = ()


class RoomFuture:
    """The free resources of hosts as step functions of time.

    Args:
        now: the current time.
        capacities: resources of the hosts, by number.
        licences: numbers of licences of the whole machine, by name.

    Attributes:
        now: the current time.
        layout: the meaning of amounts.
        lines: host -> its steps, while anything uses it now or later.
        lined: bits of these hosts.
        classes: capacity -> its amounts, and bits of the hosts that have it.
        licences: the free licences.
        ends, starts: all uses by their ends, and promises by their starts.
        promised: bits of hosts with promises.
        log: the hosts of which a use has begun, ended or moved.
    """

    def __init__(
        self, now: float, capacities: Mapping[int, HostCapacity], licences: Mapping[str, int] | None = None
    ) -> None:
        self.now = now
        self.capacities = capacities
        self.layout = RoomLayout(capacities.values())
        #: Host -> its steps, while anything uses it now or later.
        self.lines: dict[int, RoomSteps] = {}
        #: Bits of these hosts.
        self.lined = 0
        #: Host -> identity of a use -> the use, for these hosts.
        self._uses: dict[int, dict[int, RoomUse]] = {}
        #: Capacity -> its amounts, and bits of the hosts that have it.
        self.classes = capacity_classes(capacities, self.layout)
        self._licence_names = tuple(sorted(licences or ()))
        #: The free licences.
        self.licences = RoomSteps(tuple((licences or {})[name] for name in self._licence_names))
        #: Job id -> its running tasks.
        self._works: dict[str, RoomUse] = {}
        #: Identity of a promise -> the promise, and its use: equal promises are different.
        self._promises: dict[int, tuple[RoomSlot, RoomUse]] = {}
        #: All uses by their ends, and those with a start by it.
        self.ends: Ranking[RoomUse] = Ranking()
        self.starts: Ranking[RoomUse] = Ranking()
        #: Bits of hosts with promises.
        self.promised = 0
        self.log = HostLog(len(capacities))
        self._levels = RoomLevels(self.layout, capacities, self.classes)
        #: Levels of what is free from now on for all time; None until they are asked.
        self._lasting: RoomLevels | None = None
        #: Hosts whose free amounts have changed since the levels were asked.
        self._changed: set[int] = set()
        self._changed_lasting: set[int] = set()
        #: Capacity -> the room of unused hosts; host -> the room of a used one at `now`, or with
        #: promises from now on, until it changes.
        self._unused = {capacity: HostRoom(capacity) for capacity in self.classes}
        self._rooms: dict[int, HostRoom] = {}
        self._fits: dict[TaskDemand, TaskFit] = {}
        #: Bits of hosts that tasks use at `now`, and those that they begin or cease to use later; see `_settle`.
        self._used = 0
        self._begins, self._ceases = Changes(), Changes()
        #: Host -> its instants in these, for hosts that have some.
        self._edges: dict[int, list[tuple[float, bool]]] = {}
        #: Hosts whose steps have changed since `_settle`.
        self._unsettled: set[int] = set()

    # Changes.

    def advance(self, now: float) -> None:
        """Let the time pass; work whose end is past is expected the instant after `now`."""
        before, self.now = self.now, now
        for use in self.ends.within(-math.inf, now):
            if use.start == -math.inf:
                self._move_end(use, math.nextafter(now, math.inf))
            else:
                self._note(use)
        for use in self.starts.within(before, now):
            self._note(use)

    def occupy(self, job_id: str, places: Places, demand: JobDemand, until: float) -> None:
        """Start tasks now, with the predicted end `until` (infinity: unknown)."""
        use = self._works[job_id] = self._use(-math.inf, self._later(until), places, demand)
        self._add(use)

    def vacate(self, job_id: str) -> None:
        """End the tasks of a job."""
        self._remove(self._works.pop(job_id))

    def predict(self, job_id: str, end: float) -> None:
        """Change the predicted end of the running tasks of a job."""
        use = self._works.get(job_id)
        if use is not None:
            self._move_end(use, self._later(end))

    def reserve(self, slot: RoomSlot) -> None:
        """Reserve the resources of a promise, which must be free then."""
        use = self._use(slot.start, slot.end, slot.places, slot.demand)
        self._promises[id(slot)] = slot, use
        for host in use.taken:
            self._line(host).promises += 1
            self.promised |= 1 << host
        self._add(use)

    def release(self, slot: RoomSlot) -> None:
        """Release a reservation."""
        _, use = self._promises.pop(id(slot))
        for host in use.taken:
            line = self.lines[host]
            line.promises -= 1
            if not line.promises:
                self.promised ^= 1 << host
        self._remove(use)

    # Queries.

    @property
    def is_late(self) -> bool:
        """True if some work should have ended by now."""
        ends = self.ends
        at = bisect_right(ends.numbers, math.nextafter(self.now, math.inf))
        return any(use.start == -math.inf for use in ends.items[:at])

    def ends_at(self, time: float) -> bool:
        """Return whether work is expected to end exactly at an instant, or is late."""
        ends = self.ends
        at = bisect_right(ends.numbers, math.nextafter(time, -math.inf))
        exactly = ends.numbers[at : bisect_right(ends.numbers, time)]
        return self.is_late or any(use.start == -math.inf for use in ends.items[at : at + len(exactly)])

    def room(self, host: int, start: float, end: float) -> HostRoom:
        """Return what is free of a host during all of [start, end), each resource by itself; it may not be changed."""
        line = self.lines.get(host)
        if line is None:
            return self._unused[self.capacities[host]]
        if start > self.now or (line.promises and end <= self.last_start):
            return self._room(host, line.least(start, end), start)
        room = self._rooms.get(host)
        if room is None:
            free = line.least(start, math.inf) if line.promises else line.at(start)
            room = self._rooms[host] = self._room(host, free, start)
        return room

    def lasting_room(self, host: int) -> HostRoom | None:
        """Return what is free of a host from now on for all time, as `room`; None if it is unused."""
        return self.room(host, self.now, math.inf) if host in self.lines else None

    def only_promise(self, slot: RoomSlot) -> RoomUse | None:
        """Return the use of a promise; None if it is not reserved, or not the only one that begins later."""
        promise = self._promises.get(id(slot))
        return None if promise is None or self.starts.items != [promise[1]] else promise[1]

    def room_without(self, host: int, free: Amounts, time: float, use: RoomUse) -> HostRoom:
        """Return a room with these free amounts, as it would be at an instant without some use."""
        return self._room(host, free, time, use)

    @property
    def last_start(self) -> float:
        """The last start of a promise; minus infinity if there is none."""
        starts = self.starts.numbers
        return starts[-1] if starts else -math.inf

    def levels(self) -> RoomLevels:
        """Return the hosts on which tasks fit now."""
        lines, levels = self.lines, self._levels
        if not self._changed:
            return levels
        for host in self._changed:
            line = lines.get(host)
            levels.change(host, None if line is None else line.at(self.now))
        self._changed.clear()
        return levels

    def lasting_levels(self) -> RoomLevels:
        """Return the hosts on which tasks fit now and as long as you like, so that no promise is broken."""
        lines, levels = self.lines, self._lasting
        if levels is None:
            levels = self._lasting = RoomLevels(self.layout, self.capacities, self.classes, lasting=True)
            self._changed_lasting.update(lines)
        elif not self._changed_lasting:
            return levels
        for host in self._changed_lasting:
            line = lines.get(host)
            if line is None:
                levels.change(host, None)
            else:
                levels.change(host, line.least(self.now, math.inf) if line.promises else line.at(self.now))
        self._changed_lasting.clear()
        return levels

    def levels_until(self, end: float) -> RoomLevels:
        """Return the hosts on which tasks fit now: for all time, if that is as well known as until this end."""
        starts = self.starts.numbers
        return self.lasting_levels() if starts and self.now < starts[-1] < end else self.levels()

    def fit(self, task: TaskDemand) -> TaskFit:
        """Return the count of tasks that fit into some amounts."""
        found = self._fits.get(task)
        if found is None:
            if len(self._fits) >= _MOST_DEMANDS:
                self._fits.clear()
            found = self._fits[task] = TaskFit(task, self.layout)
        return found

    def licences_of(self, wanted: JobDemand) -> Amounts | None:
        """Return the licences that a job takes as amounts; None if the machine never has as many."""
        if not wanted.licences:
            return (0,) * len(self._licence_names)
        named = dict(wanted.licences)
        amounts = tuple(named.pop(name, 0) for name in self._licence_names)
        enough = all(need <= have for need, have in zip(amounts, self.licences.capacity, strict=True))
        return amounts if enough and not named else None

    def used_now(self) -> int:
        """Return the bits of hosts that tasks use now."""
        self._settle()
        return self._used

    def beginning(self, start: float, end: float) -> int:
        """Return the bits of unused hosts that tasks begin to use in the open interval (start, end)."""
        self._settle()
        return self._begins.between(start, end)

    def all_begins(self) -> list[tuple[float, int]]:
        """Return (instant, bits of unused hosts that tasks begin to use then), instants ascending from now."""
        self._settle()
        return [(time, self._begins.bits[time]) for time in self._begins.times]

    def taken_from(self, steps: Iterable[tuple[float, int]]) -> Iterator[tuple[float, int]]:
        """Exclude used hosts: yield (instant, bits of free hosts from then on), from now, instants ascending.

        `steps` are (instant, bits of the hosts that are free otherwise), the first is now.
        """
        self._settle()
        used, free = self._used, 0
        changes = sorted({*self._begins.times, *self._ceases.times})
        position = 0
        for time, following in steps:
            while position < len(changes) and changes[position] <= time:
                used = self._after(changes[position], used)
                if changes[position] < time:
                    yield changes[position], free & ~used
                position += 1
            free = following
            yield time, free & ~used
        for change in changes[position:]:
            used = self._after(change, used)
            yield change, free & ~used

    def _after(self, time: float, used: int) -> int:
        return used & ~self._ceases.bits.get(time, 0) | self._begins.bits.get(time, 0)

    def _settle(self) -> None:
        """Bring the bits of used hosts up to date."""
        for host in sorted(self._unsettled):
            bit = 1 << host
            for time, used in self._edges.pop(host, ()):
                (self._begins if used else self._ceases).remove(time, bit)
            line = self.lines.get(host)
            edges = [] if line is None else line.edges()
            past = [used for time, used in edges if time <= self.now]
            self._used = self._used | bit if past and past[-1] else self._used & ~bit
            later = [edge for edge in edges if edge[0] > self.now]
            for time, used in later:
                (self._begins if used else self._ceases).add(time, bit)
            if later:
                self._edges[host] = later
        self._unsettled.clear()
        begins, ceases = self._begins, self._ceases
        while begins.times or ceases.times:
            time = min(begins.times[:1] + ceases.times[:1])
            if time > self.now:
                break
            self._used = self._used & ~ceases.take(time) | begins.take(time)

    # Parts.

    def _use(self, start: float, end: float, places: Places, demand: JobDemand) -> RoomUse:
        use = RoomUse(start, end, places, demand)
        use.taken = {place.host: self.layout.taken(self.capacities[place.host], demand.task, place) for place in places}
        use.licences = self.licences_of(demand) or (0,) * len(self._licence_names)
        return use

    def _later(self, end: float) -> float:
        return end if end > self.now else math.nextafter(self.now, math.inf)

    def _line(self, host: int) -> RoomSteps:
        line = self.lines.get(host)
        if line is None:
            line = self.lines[host] = RoomSteps(self.classes[self.capacities[host]][0])
            self.lined |= 1 << host
            self._uses[host] = {}
        return line

    def _add(self, use: RoomUse) -> None:
        for host, amounts in use.taken.items():
            self._line(host).take(use.start, use.end, amounts)
            self._uses[host][id(use)] = use
        if any(use.licences):
            self.licences.take(use.start, use.end, use.licences)
        self.ends.add(use.end, use)
        if use.start > -math.inf:
            self.starts.add(use.start, use)
        self._note(use)

    def _remove(self, use: RoomUse) -> None:
        self.ends.remove(use.end, use)
        if use.start > -math.inf:
            self.starts.remove(use.start, use)
        for host, amounts in use.taken.items():
            line = self.lines[host]
            line.give(use.start, use.end, amounts)
            del self._uses[host][id(use)]
            if not self._uses[host]:
                del self.lines[host], self._uses[host]
                self.lined ^= 1 << host
        if any(use.licences):
            self.licences.give(use.start, use.end, use.licences)
        self._note(use)

    def _move_end(self, use: RoomUse, end: float) -> None:
        self._remove(use)
        use.end = end
        self._add(use)

    def _note(self, use: RoomUse) -> None:
        """Record that the hosts of a use have changed."""
        self._unsettled.update(use.taken)
        self._changed.update(use.taken)
        self._changed_lasting.update(use.taken)
        self.log.add(use.taken)
        for host in use.taken:
            self._rooms.pop(host, None)

    def _room(self, host: int, free: Amounts, time: float, without: RoomUse | None = None) -> HostRoom:
        """Return a room with these free amounts, and with the kinds of the tasks of an instant."""
        kinds = [
            use.demand.task
            for use in self._uses.get(host, {}).values()
            if use.start <= time < use.end and use.demand.task.gpus and use is not without
            for place in use.places
            if place.host == host
            for _ in range(place.tasks)
        ]
        return self.layout.room(self.capacities[host], free, kinds)
