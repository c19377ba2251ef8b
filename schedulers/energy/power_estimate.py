"""An estimate of the watts of all hosts: an upper bound by the state of each."""

from batsched_py.api import HostSet, View
from batsched_py.schedulers.energy.power_manager import PowerManager


class PowerEstimate:
    """Watts by kinds of hosts, so that a query costs a few operations for each kind and none for a host.

    A busy host draws what it draws fully used, an idle or failed one its idle watts, each in the first pstate in which
    it computes. One that switches draws the larger of its idle watts and those of the switch.
    """

    def __init__(self, manager: PowerManager) -> None:
        self._manager = manager
        kinds = manager.kinds
        #: Kind -> bits of its hosts.
        self.bits = [0] * len(kinds)
        for host, kind in manager.kind.items():
            self.bits[kind] |= 1 << host
        draws = [power.draws[power.computing[0]] for power in kinds]
        #: Kind -> watts idle, watts that work adds, watts asleep, on the way to sleep and back.
        self.idle_watts = [draw.idle for draw in draws]
        self.work_watts = [max(0.0, draw.full - draw.idle) for draw in draws]
        sleeps = list(zip(manager.sleeps, self.idle_watts, strict=True))
        self.sleep_watts = [idle if sleep is None else sleep.watts for sleep, idle in sleeps]
        self.off_watts = [idle if sleep is None else max(idle, sleep.off_watts) for sleep, idle in sleeps]
        self.on_watts = [idle if sleep is None else max(idle, sleep.on_watts) for sleep, idle in sleeps]
        #: Kinds in the order of what work adds.
        self._order = sorted(range(len(kinds)), key=lambda kind: (self.work_watts[kind], kind))

    def now(self, view: View) -> float:
        """Return the watts with the jobs that run."""
        return self.base(view) + self.added(HostSet(view.availability().busy | view.part.bits))

    def base(self, view: View) -> float:
        """Return the watts if busy hosts were idle."""
        switching = view.switching.bits
        asleep = view.asleep.bits & ~switching
        waking, falling = self._manager.waking, self._manager.falling
        return (
            self._sum(view.all_hosts.bits & ~(asleep | waking | falling), self.idle_watts)
            + self._sum(asleep, self.sleep_watts)
            + self._sum(waking, self.on_watts)
            + self._sum(falling, self.off_watts)
        )

    def idle(self, hosts: HostSet) -> float:
        """Return the watts of these hosts, idle."""
        return self._sum(hosts.bits, self.idle_watts)

    def added(self, hosts: HostSet) -> float:
        """Return the watts that work on these hosts adds to their idle watts."""
        return self._sum(hosts.bits, self.work_watts)

    def relief(self, hosts: HostSet) -> float:
        """Return the watts that are saved if these idle hosts sleep."""
        return self._sum(hosts.bits, self.idle_watts) - self._sum(hosts.bits, self.sleep_watts)

    def alone(self, hosts: HostSet, others: HostSet) -> float:
        """Return the watts of a job on these hosts while the others are idle."""
        return self.idle(hosts | others) + self.added(hosts)

    def alone_asleep(self, hosts: HostSet, others: HostSet) -> float:
        """Return the most watts on the way from all hosts idle to a job on these while the others sleep."""
        asleep = self._sum(others.bits, self.sleep_watts)
        peaks = [
            max(idle + work, off, on)
            for idle, work, off, on in zip(self.idle_watts, self.work_watts, self.off_watts, self.on_watts, strict=True)
        ]
        step = max(off - idle for off, idle in zip(self.off_watts, self.idle_watts, strict=True))
        return max(self._sum(hosts.bits, peaks) + asleep, self.idle(hosts | others) + step)

    def cheapest(self, hosts: HostSet, count: int) -> HostSet | None:
        """Return `count` of these hosts on which work adds least, of equals the lowest; None if there are fewer."""
        if len(hosts) < count:
            return None
        chosen = HostSet()
        for kind in self._order:
            here = HostSet(hosts.bits & self.bits[kind])
            missing = count - len(chosen)
            if missing <= len(here):
                return chosen | (here.first(missing) or HostSet())
            chosen |= here
        return chosen

    def dearest(self, hosts: HostSet, count: int) -> HostSet | None:
        """Return `count` of these hosts on which work adds most; None if there are fewer."""
        cheap = self.cheapest(hosts, len(hosts) - count) if count <= len(hosts) else None
        return None if cheap is None else hosts - cheap

    def affordable(self, hosts: int, room: float, *, waking: bool) -> int:
        """Return those of these hosts, in their order, that can be switched while at most `room` watts are added."""
        allowed = 0
        for host in HostSet(hosts):
            kind = self._manager.kind[host]
            before = self.sleep_watts[kind] if waking else self.idle_watts[kind]
            rise = (self.on_watts[kind] if waking else self.off_watts[kind]) - before
            if rise <= room:
                room -= max(0.0, rise)
                allowed |= 1 << host
        return allowed

    def _sum(self, hosts: int, watts: list[float]) -> float:
        if not hosts:
            return 0.0
        return sum((hosts & bits).bit_count() * each for bits, each in zip(self.bits, watts, strict=True))
