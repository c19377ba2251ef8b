"""Promises that are made better: what the agenda leaves alone, and what it moves."""

from __future__ import annotations

import math
import random

import pytest

from batsched_py.planning.future.agenda import Agenda, Entry
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import Promise, Slot

HOSTS = 9
ALL = (1 << HOSTS) - 1


class Machine:
    """Jobs that wait and run; compressed by the agenda, or by giving back and reserving again one by one."""

    def __init__(self, *, on_hosts: bool, naive: bool) -> None:
        self.on_hosts, self.naive = on_hosts, naive
        self.future = Availability(0.0, ALL)
        self.agenda = Agenda()
        #: (entry, duration) of those that wait, in order.
        self.waiting: list[tuple[Entry, float]] = []
        #: (hosts, until) of those that run.
        self.running: list[tuple[int, float]] = []

    def earliest(self, size: int, duration: float) -> Promise:
        found = self.future.earliest(size, duration) if self.on_hosts else self.future.earliest_count(size, duration)
        assert found is not None
        return found

    def submit(self, number: int, size: int, duration: float) -> None:
        promise = self.earliest(size, duration)
        self.future.reserve(promise)
        self.waiting.append((self.agenda.add(str(number), size, duration, promise), duration))

    def end(self, chosen: list[int], now: float) -> None:
        """Those end, and whoever can starts."""
        self.future.advance(now)
        for hosts, until in [run for number, run in enumerate(self.running) if number in chosen or run[1] <= now]:
            self.running.remove((hosts, until))
            self.future.vacate(hosts, until)
        if self.naive:
            self.one_by_one()
        else:
            list(self.agenda.compress(self.future))
        self.start(now)

    def one_by_one(self) -> None:
        for entry, duration in self.waiting:
            self.future.release(entry.promise)
            entry.promise = self.earliest(entry.size, duration)
            self.future.reserve(entry.promise)

    def start(self, now: float) -> None:
        for entry, duration in [each for each in self.waiting if each[0].promise.start <= now]:
            self.waiting.remove((entry, duration))
            if not self.naive:
                self.agenda.drop(entry)
            self.future.release(entry.promise)
            hosts = entry.promise.hosts.bits if isinstance(entry.promise, Slot) else self.free(entry.size)
            self.running.append((hosts, now + duration))
            self.future.occupy(hosts, now + duration)

    def free(self, size: int) -> int:
        hosts = self.future.free_during(self.future.now, self.future.now + 0.001).first(size)
        assert hosts is not None
        return hosts.bits

    def promises(self) -> list[Promise]:
        return [entry.promise for entry, _ in self.waiting]


@pytest.mark.parametrize("on_hosts", [False, True])
@pytest.mark.parametrize("seed", range(30))
def test_compressing_is_giving_back_and_reserving_again_one_by_one(seed: int, on_hosts: bool) -> None:
    """Start by start and host set by host set, through whole lives: what is skipped could not have moved."""
    chance = random.Random(seed)
    fast, naive = Machine(on_hosts=on_hosts, naive=False), Machine(on_hosts=on_hosts, naive=True)
    now, longest = 0.0, chance.choice((6, 20, 60))
    for number in range(60):
        size, duration = chance.randint(1, chance.choice((3, HOSTS))), chance.randint(1, longest)
        for machine in (fast, naive):
            machine.submit(number, size, duration)
            machine.start(now)
        assert fast.promises() == naive.promises()
        if chance.random() < 0.6:
            latest = min((until for _, until in fast.running), default=math.inf)
            now = min(now + chance.randint(0, 5), latest)
            chosen = [position for position in range(len(fast.running)) if chance.random() < 0.3]
            for machine in (fast, naive):
                machine.end(chosen, now)
            assert fast.promises() == naive.promises()
            assert fast.running == naive.running
            assert list(fast.future.steps()) == list(naive.future.steps())
    assert fast.agenda.first_start == min((promise.start for promise in fast.promises()), default=math.inf)
