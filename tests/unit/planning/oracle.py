"""The future, slow and obvious: what is written down of each host, looked up instant by instant."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from batsched_py.hostset import HostSet
from batsched_py.planning.future.promises import Claim, Shadow, Slot


@dataclass(slots=True)
class Work:
    """Hosts at work: until when, as told at the start, and as predicted since."""

    hosts: int
    until: float
    predicted: float


@dataclass(slots=True)
class Oracle:
    """Lists of work and reservations; every question walks all of them."""

    hosts: int
    now: float = 0.0
    down: int = 0
    works: list[Work] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    #: Bit of a host that is down -> when it is expected back.
    returns: dict[int, float] = field(default_factory=dict)

    def busy(self) -> int:
        return sum(work.hosts for work in self.works)

    def instants(self) -> list[float]:
        """All at which something may change, from now."""
        ends = [*(work.predicted for work in self.works), *self.returns.values()]
        later = {self._later(end) for end in ends} | {time for slot in self.slots for time in (slot.start, slot.end)}
        return sorted({self.now, *(time for time in later if self.now < time < math.inf)})

    def free_at(self, time: float) -> int:
        taken = self.down if time <= self.now else 0
        for bit, back in self.returns.items():
            taken |= bit if self._later(back) > time else 0
        taken |= self.down & ~sum(self.returns)
        for work in self.works:
            taken |= work.hosts if self._later(work.predicted) > time else 0
        for slot in self.slots:
            taken |= slot.hosts.bits if slot.start <= time < slot.end else 0
        return self.hosts & ~taken

    def free_during(self, start: float, end: float) -> int:
        free = self.free_at(start)
        for time in self.instants():
            if start < time < end:
                free &= self.free_at(time)
        return free

    def earliest(self, size: int, duration: float, among: int) -> Slot | None:
        for time in self.instants():
            hosts = HostSet(self.free_during(time, time + duration) & among).first(size)
            if hosts is not None:
                return Slot(time, time + duration, hosts)
        return None

    def room_at(self, time: float) -> int:
        """Return the number of hosts that are free and unclaimed."""
        return self.free_at(time).bit_count() - sum(each.size for each in self.claims if each.start <= time < each.end)

    def rooms(self) -> list[tuple[float, int]]:
        """(instant, how many are free and unclaimed from then on), from now."""
        claimed = {time for each in self.claims for time in (each.start, each.end) if self.now < time < math.inf}
        return [(time, self.room_at(time)) for time in sorted({*self.instants(), *claimed})]

    def earliest_count(self, size: int, duration: float) -> Claim | None:
        rooms = self.rooms()
        for start, _ in rooms:
            if all(room >= size for time, room in rooms if start <= time < start + duration):
                return Claim(start, start + duration, size)
        return None

    def shadow(self, size: int) -> Shadow | None:
        for time in self.instants():
            spare = self.free_at(time).bit_count() - size
            if spare >= 0:
                return Shadow(time, spare)
        return None

    def _later(self, end: float) -> float:
        """Return the expected end: of overdue work the instant after now."""
        return end if end > self.now else math.nextafter(self.now, math.inf)
