"""A machine to which everything happens, at random: the availability and the oracle hear the same."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from batsched_py.hostset import HostSet
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import Claim
from tests.unit.planning.oracle import Oracle, Work

HOSTS = 7
ALL = (1 << HOSTS) - 1


class Life:
    """One life; each `step` does one thing to both."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.future = Availability(0.0, ALL)
        self.oracle = Oracle(ALL)
        self._deeds: list[Callable[[], None]] = [
            *(self.occupy, self.occupy, self.occupy_longer, self.vacate, self.vacate),
            *(self.reserve, self.reserve, self.reserve),
            *(self.claim, self.claim, self.claim, self.unclaim),
            *(self.release, self.advance, self.advance, self.fail, self.recover, self.expect, self.predict),
        ]

    def step(self) -> str:
        """Do one thing; its name."""
        deed = self.chance.choice(self._deeds)
        deed()
        return deed.__name__

    def some(self, hosts: int) -> int:
        """Some of these hosts, or none."""
        return hosts & self.chance.getrandbits(HOSTS)

    def duration(self) -> float:
        return float(self.chance.choice((*range(1, 15), math.inf)))

    def occupy(self) -> None:
        """Work begins on hosts that are free now, even where a reservation begins later."""
        hosts = self.some(self.oracle.free_at(self.oracle.now))
        if hosts:
            until = self.oracle.now + self.duration()
            self.oracle.works.append(Work(hosts, until, until))
            self.future.occupy(hosts, until)

    def occupy_longer(self) -> None:
        """Work begins that is expected to end later than it is said to, or earlier."""
        before = len(self.oracle.works)
        self.occupy()
        for work in self.oracle.works[before:]:
            work.predicted = max(self.oracle.now + 1, work.predicted + self.chance.choice((-4, -1, 0, 1, 3)))
            self.future.adjust(HostSet(work.hosts), work.until, work.predicted)

    def vacate(self) -> None:
        """Work ends: early, in time, or late."""
        if self.oracle.works:
            work = self.oracle.works.pop(self.chance.randrange(len(self.oracle.works)))
            self.future.vacate(work.hosts, work.until)

    def reserve(self) -> None:
        """Hosts are kept, at the earliest or at any other time."""
        size, duration = self.chance.randint(1, HOSTS), self.chance.randint(1, 12)
        if self.chance.random() < 0.6:
            slot = self.future.earliest(size, duration)
        else:
            slot = self.future.slot_at(self.oracle.now + self.chance.randint(0, 25), size, duration)
        if slot is not None:
            self.oracle.slots.append(slot)
            self.future.reserve(slot)

    def release(self) -> None:
        """A reservation is taken back, perhaps after its end."""
        if self.oracle.slots:
            self.future.release(self.oracle.slots.pop(self.chance.randrange(len(self.oracle.slots))))

    def claim(self) -> None:
        """A number of hosts is kept, at the earliest or at any other time when there are so many."""
        size, duration = self.chance.randint(1, HOSTS), self.chance.randint(1, 12)
        claim = self.oracle.earliest_count(size, duration)
        if self.chance.random() < 0.4:
            start = self.oracle.now + self.chance.randint(0, 25)
            claim = Claim(start, start + duration, size)
            inside = [start, *(time for time, _ in self.oracle.rooms() if start < time < claim.end)]
            if min(self.oracle.room_at(time) for time in inside) < size:
                return
        if claim is not None:
            self.oracle.claims.append(claim)
            self.future.reserve(claim)

    def unclaim(self) -> None:
        """A claim is taken back, perhaps after its end."""
        if self.oracle.claims:
            self.future.release(self.oracle.claims.pop(self.chance.randrange(len(self.oracle.claims))))

    def advance(self) -> None:
        self.oracle.now += self.chance.choice((0, 1, 1, 2, 5, 0.25))
        self.future.advance(self.oracle.now)

    def fail(self) -> None:
        self.oracle.down |= self.some(ALL)
        self.future.down = self.oracle.down

    def recover(self) -> None:
        self.oracle.down &= ~self.some(ALL)
        self.oracle.returns = {bit: time for bit, time in self.oracle.returns.items() if bit & self.oracle.down}
        self.future.down = self.oracle.down

    def expect(self) -> None:
        hosts, time = self.some(ALL), self.oracle.now + self.duration()
        for number in HostSet(hosts & self.oracle.down):
            self.oracle.returns[1 << number] = time
        self.future.expect(HostSet(hosts), time)

    def predict(self) -> None:
        if self.oracle.works:
            work = self.chance.choice(self.oracle.works)
            work.predicted = self.oracle.now + self.duration() - 1
            self.future.predict(HostSet(work.hosts), work.predicted)
