"""The machines: states of hosts as bitmasks, and the time spent in each state."""

from __future__ import annotations

from typing import Final

from batsched_py.bits import bit_runs, counter, format_bits, interval_bits, without

IDLE: Final = "idle"
COMPUTING: Final = "computing"
SLEEPING: Final = "sleeping"
SWITCHING_ON: Final = "switching_on"
SWITCHING_OFF: Final = "switching_off"
UNAVAILABLE: Final = "unavailable"

#: Number of stored changes of state below which obsolete ones are not removed.
FEWEST_CHANGES: Final = 1024


class _InState:
    """The number of hosts visibly in a state.

    Attributes:
        hosts: current number.
        since: time of its last change, in seconds.
        seconds: total host seconds in the state until then.
    """

    __slots__ = ("hosts", "seconds", "since")

    def __init__(self, hosts: int) -> None:
        self.hosts, self.since, self.seconds = hosts, 0.0, 0.0

    def add(self, hosts: int, now: float) -> None:
        """Add a number of hosts at a time."""
        self.seconds += self.hosts * (now - self.since)
        self.since = now
        self.hosts += hosts


class Machines:
    """The states of the hosts. Unavailability hides a host's own state, which continues to change.

    Args:
        compute: compute hosts, numbered from 0.
        storage: storage hosts, numbered after them.
    """

    def __init__(self, compute: int, storage: int = 0) -> None:
        self.compute_count = compute
        self.count = compute + storage
        #: Bits of all hosts; of compute hosts; of storage hosts.
        self.all = interval_bits(0, self.count - 1)
        self.compute = interval_bits(0, compute - 1)
        self._size_of = counter(self.all)
        self.storages = self.all & ~self.compute
        #: State -> its hosts; each host is in exactly one state, including unavailable hosts.
        self.hosts_in = {IDLE: self.all, COMPUTING: 0, SLEEPING: 0, SWITCHING_ON: 0, SWITCHING_OFF: 0}
        #: Hosts made unavailable by external events.
        self.unavailable = 0
        #: Those that failed since the last request, and are therefore unknown to the scheduler.
        self.failed_since_request = 0
        #: (time, compute hosts unavailable from then on), ascending.
        self.outages: list[tuple[float, int]] = []
        self._in_state = {state: _InState(compute if state == IDLE else 0) for state in (*self.hosts_in, UNAVAILABLE)}
        #: (time, hosts) of changes of state, ascending; includes at least the latest change of each host.
        self._changes: list[tuple[float, int]] = []
        #: Number of changes at which obsolete ones are removed, because each one needs a bit for every host.
        self._most_changes = FEWEST_CHANGES
        #: Host -> number of jobs on it, only for hosts with more than one.
        self._jobs_on: dict[int, int] = {}

    @property
    def free(self) -> int:
        """Hosts that are idle and available."""
        return without(self.hosts_in[IDLE], self.unavailable) if self.unavailable else self.hosts_in[IDLE]

    @property
    def switching(self) -> int:
        """Hosts that are switching to or from sleep."""
        return self.hosts_in[SWITCHING_ON] | self.hosts_in[SWITCHING_OFF]

    def occupy(self, hosts: int, now: float) -> None:
        """Begin a job on idle or computing hosts."""
        shared = hosts & self.hosts_in[COMPUTING]
        if shared:
            for host in members(shared):
                self._jobs_on[host] = self._jobs_on.get(host, 1) + 1
            hosts = without(hosts, shared)
        self.move(hosts, IDLE, COMPUTING, now)

    def release(self, hosts: int, now: float) -> None:
        """End a job on its hosts; those without another job become idle."""
        if self._jobs_on:
            for host in [host for host in members(hosts) if host in self._jobs_on]:
                hosts &= ~(1 << host)
                self._jobs_on[host] -= 1
                if self._jobs_on[host] == 1:
                    del self._jobs_on[host]
        self.move(hosts, COMPUTING, IDLE, now)

    def move(self, hosts: int, source: str, target: str, now: float) -> None:
        """Change hosts that are all in the state `source` to `target`."""
        self._count(without(hosts, self.unavailable) if self.unavailable else hosts, source, target, now)
        hosts_in = self.hosts_in
        hosts_in[source] ^= hosts
        hosts_in[target] |= hosts

    def withdraw(self, hosts: int, now: float) -> None:
        """Make available hosts unavailable; jobs on them continue (E16)."""
        for state, in_state in self.hosts_in.items():
            self._count(in_state & hosts, state, UNAVAILABLE, now)
        self.unavailable |= hosts
        self.failed_since_request |= hosts
        self.outages.append((now, self.unavailable & self.compute))

    def restore(self, hosts: int, now: float) -> None:
        """Make unavailable hosts available, in their own state."""
        for state, in_state in self.hosts_in.items():
            self._count(in_state & hosts, UNAVAILABLE, state, now)
        self.unavailable &= ~hosts
        self.failed_since_request &= ~hosts
        self.outages.append((now, self.unavailable & self.compute))

    def seconds(self) -> dict[str, float]:
        """Return state -> seconds spent in it, summed over compute hosts, each up to its last change, as in Batsim."""
        spent = {state: seen.seconds for state, seen in self._in_state.items()}
        open_since = dict.fromkeys(range(self.compute_count), 0.0)
        open_since |= {host: time for time, hosts in self._latest_changes() for host in members(hosts)}
        for state, hosts in (*self.hosts_in.items(), (UNAVAILABLE, self.unavailable)):
            in_state = hosts & self.compute
            for host in members(in_state if state == UNAVAILABLE else in_state & ~self.unavailable):
                spent[state] -= self._in_state[state].since - open_since[host]
        return spent

    def census(self) -> tuple[int, int, int, int, int]:
        """Return the numbers of hosts sleeping, switching on and off, idle, computing; the others are unavailable."""
        seen = self._in_state
        on_the_way = seen[SWITCHING_ON].hosts, seen[SWITCHING_OFF].hosts
        return seen[SLEEPING].hosts, *on_the_way, seen[IDLE].hosts, seen[COMPUTING].hosts

    @property
    def unavailable_count(self) -> int:
        """The number of compute hosts that are unavailable."""
        return self._in_state[UNAVAILABLE].hosts

    def states(self, hosts: int) -> str:
        """Return the states of these hosts as text for messages: "0-3 idle, 4 sleeping"."""
        shown = {UNAVAILABLE: hosts & self.unavailable}
        shown |= {state: members & hosts & ~self.unavailable for state, members in self.hosts_in.items()}
        return ", ".join(f"{format_bits(bits)} {state}" for state, bits in shown.items() if bits)

    def _count(self, hosts: int, source: str, target: str, now: float) -> None:
        """Move hosts to another state's count from now on; Batsim does not count storage hosts."""
        if self.storages:
            hosts &= self.compute
        if not hosts:
            return
        moved = self._size_of(hosts)
        self._in_state[source].add(-moved, now)
        self._in_state[target].add(moved, now)
        self._changes.append((now, hosts))
        if len(self._changes) > self._most_changes:
            self._changes = self._latest_changes()
            self._most_changes = 2 * len(self._changes) + FEWEST_CHANGES

    def _latest_changes(self) -> list[tuple[float, int]]:
        """Return the last change of each host, in order of time."""
        latest = []
        rest = self.all
        for time, hosts in reversed(self._changes):
            still = hosts & rest
            if still:
                latest.append((time, still))
                rest ^= still
                if not rest:
                    break
        return latest[::-1]


def members(hosts: int) -> list[int]:
    """Return the host numbers of a bitmask, ascending."""
    return [host for low, high in bit_runs(hosts) for host in range(low, high + 1)]
