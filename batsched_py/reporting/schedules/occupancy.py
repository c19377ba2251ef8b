"""Occupancy of hosts over time: numbers of free hosts, longest runs of free hosts, and sharing between jobs."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from msgspec import Struct

from batsched_py.bits import without
from batsched_py.results.records import JobRecord
from batsched_py.results.tracing import counts, numbers


class FreeHostCurve(Struct, frozen=True):
    """The free hosts over time, from 0 on; times are distinct.

    Attributes:
        times: the times in seconds, ascending.
        free: the number of free hosts from each time on.
        longest: the length of the longest run of free hosts with consecutive numbers.
        shared: True if a job began on an occupied host, even if the overlap is within the resolution of times.
    """

    times: array[float]
    free: array[int]
    longest: array[int]
    shared: bool


def occupancy_of(ran: Iterable[JobRecord], hosts: int) -> FreeHostCurve:
    """Return the occupancy of a machine with `hosts` compute hosts by jobs that ran."""
    times, free, longest, taken = numbers(), counts(), counts(), TakenHosts()
    for time, left in free_hosts(ran, hosts, taken):
        times.append(time)
        free.append(left.bit_count())
        longest.append(longest_run(left))
    return FreeHostCurve(times, free, longest, taken.shared)


def longest_run(bits: int) -> int:
    """Return the length of the longest run of ones, in about log(length) steps.

    `runs[k]` has a one at each start of a run of at least 2 ** k; the length is found from its highest binary digit
    down.
    """
    runs = []
    length = 1
    while bits:
        runs.append(bits)
        bits &= bits >> length
        length *= 2
    if not runs:
        return 0
    found, begins = 1 << (len(runs) - 1), runs[-1]
    for power in range(len(runs) - 2, -1, -1):
        longer = begins & (runs[power] >> found)
        if longer:
            found, begins = found + (1 << power), longer
    return found


class TakenHosts:
    """The occupied hosts, and the number of jobs on each, stored as a few sets regardless of how many are shared."""

    def __init__(self) -> None:
        #: Hosts with a job, as bits.
        self.hosts = 0
        #: True if a host had two jobs at the same time.
        self.shared = False
        #: For each binary digit, from the lowest: the hosts whose number of jobs beyond the first has a one there.
        self._more: list[int] = []

    def take(self, hosts: int) -> int:
        """Assign hosts to one more job, by a binary addition for all hosts at once; return those already occupied."""
        carry = taken = self.hosts & hosts
        self.hosts |= hosts
        if not carry:
            return 0
        self.shared = True
        for place, digit in enumerate(self._more):
            if not carry:
                return taken
            self._more[place], carry = digit ^ carry, digit & carry
        if carry:
            self._more.append(carry)
        return taken

    def give_back(self, hosts: int) -> None:
        """Release the hosts of one job; those that other jobs share stay occupied."""
        shared = 0
        for digit in self._more:
            shared |= digit & hosts
        self.hosts ^= hosts ^ shared
        for place, digit in enumerate(self._more):
            if not shared:
                return
            self._more[place], shared = digit ^ shared, without(shared, digit)


def free_hosts(ran: Iterable[JobRecord], hosts: int, taken: TakenHosts) -> Iterator[tuple[float, int]]:
    """Yield (time, the free compute hosts from then on, as bits), from 0 on, each time once; `taken` is updated."""
    every = (1 << hosts) - 1
    moves = sorted(_moves(ran, every))  # ends first: touching jobs do not share hosts
    now = min(moves[0][0], 0.0) if moves else 0.0
    for time, sign, some in moves:
        if time != now:
            yield now, every ^ taken.hosts
            now = time
        if sign < 0:
            taken.give_back(some)
        else:
            taken.take(some)
    yield now, every ^ taken.hosts


def _moves(ran: Iterable[JobRecord], every: int) -> Iterator[tuple[float, int, int]]:
    """Yield (time, +1 for allocated and -1 for released hosts, the hosts)."""
    for record in ran:
        hosts = record.hosts.bits & every
        if hosts and record.finish > record.start:
            yield record.start, 1, hosts
            yield record.finish, -1, hosts
