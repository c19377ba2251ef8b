"""The machines: which state each host is in, as bitmasks, and how long hosts have spent in each."""

from __future__ import annotations

from typing import Final

from batsched_py.hostset import bit_runs, format_bits, interval_bits

IDLE: Final = "idle"
COMPUTING: Final = "computing"
SLEEPING: Final = "sleeping"
SWITCHING_ON: Final = "switching_on"
SWITCHING_OFF: Final = "switching_off"
UNAVAILABLE: Final = "unavailable"


class Machines:
    """States of the compute hosts. Being unavailable covers a host's own state, which goes on underneath."""

    __slots__ = ("_jobs_on", "_since", "all", "count", "hosts_in", "seconds", "unavailable")

    def __init__(self, count: int) -> None:
        self.count = count
        self.all = interval_bits(0, count - 1)
        #: State -> its hosts; each host is in exactly one of them, unavailable or not.
        self.hosts_in = {IDLE: self.all, COMPUTING: 0, SLEEPING: 0, SWITCHING_ON: 0, SWITCHING_OFF: 0}
        #: Hosts that an external event has made unavailable.
        self.unavailable = 0
        #: State -> seconds spent in it, summed over hosts, each up to its last change of state.
        self.seconds = dict.fromkeys((*self.hosts_in, UNAVAILABLE), 0.0)
        #: Host -> time of its last change of state.
        self._since = [0.0] * count
        #: Host -> jobs on it, only for hosts that have more than one.
        self._jobs_on: dict[int, int] = {}

    @property
    def free(self) -> int:
        """Hosts that are idle and available."""
        return self.hosts_in[IDLE] & ~self.unavailable

    def occupy(self, hosts: int, now: float) -> None:
        """A job begins on idle or computing hosts."""
        for host in members(hosts & self.hosts_in[COMPUTING]):
            self._jobs_on[host] = self._jobs_on.get(host, 1) + 1
        self.move(hosts & self.hosts_in[IDLE], IDLE, COMPUTING, now)

    def release(self, hosts: int, now: float) -> None:
        """A job ends on hosts that `occupy` gave it; those without another job are idle again."""
        if self._jobs_on:
            for host in [host for host in members(hosts) if host in self._jobs_on]:
                hosts &= ~(1 << host)
                self._jobs_on[host] -= 1
                if self._jobs_on[host] == 1:
                    del self._jobs_on[host]
        self.move(hosts, COMPUTING, IDLE, now)

    def move(self, hosts: int, source: str, target: str, now: float) -> None:
        """Hosts that are all in the state `source` change to `target`."""
        self.seconds[source] += self._spent(hosts & ~self.unavailable, now)
        self.hosts_in[source] &= ~hosts
        self.hosts_in[target] |= hosts

    def withdraw(self, hosts: int, now: float) -> None:
        """Available hosts become unavailable; jobs on them go on (E16)."""
        for state, members in self.hosts_in.items():
            self.seconds[state] += self._spent(members & hosts, now)
        self.unavailable |= hosts

    def restore(self, hosts: int, now: float) -> None:
        """Unavailable hosts are again what they are underneath."""
        self.seconds[UNAVAILABLE] += self._spent(hosts, now)
        self.unavailable &= ~hosts

    def states(self, hosts: int) -> str:
        """The states of these hosts in words, for messages: "0-3 idle, 4 sleeping"."""
        shown = {UNAVAILABLE: hosts & self.unavailable}
        shown |= {state: members & hosts & ~self.unavailable for state, members in self.hosts_in.items()}
        return ", ".join(f"{format_bits(bits)} {state}" for state, bits in shown.items() if bits)

    def _spent(self, hosts: int, now: float) -> float:
        """Seconds since the last change, summed; the next are counted from now."""
        total = 0.0
        since = self._since
        for low, high in bit_runs(hosts):
            size = high - low + 1
            total += size * now - sum(since[low : high + 1])
            since[low : high + 1] = [now] * size
        return total


def members(hosts: int) -> list[int]:
    """The host numbers of a bitmask, ascending."""
    return [host for low, high in bit_runs(hosts) for host in range(low, high + 1)]
