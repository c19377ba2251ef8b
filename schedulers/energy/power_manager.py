"""Sleeping, switching and idle hosts, and requests to switch them."""

import math
from functools import reduce
from operator import or_
from typing import Literal

from msgspec import Struct

from batsched_py.api import HostSet, JobDemand, Plan, View
from batsched_py.planning.power import HostPower, SleepState, SwitchTimes, read_power, wake_cost
from batsched_py.planning.task_packing import Pack

# Batsim says when hosts have switched, not how long it takes. The time is learned from requests, so a request names
# hosts of one kind and one sleep only, and the largest time seen counts. Platforms with `speed_per_state` give the time
# from the beginning, since a transition is one flop by SimGrid's convention.
#
# Between two decisions `switches` has the requests without acknowledgement, a host in at most one of them, and
# `_idle_since` has exactly the hosts that are free, by the instant since which they are. It is a table by instants and
# not by hosts: many hosts become idle together, and the question is which are idle for longer than some time.
#
# Whether sleep pays is decided by the break-even time: the idleness after which sleeping has saved more than switching
# costs.


class Switch(Struct):
    """A request that Batsim has not acknowledged: hosts of one kind, to one pstate."""

    hosts: int
    kind: int
    #: The sleep state that they enter or leave.
    sleep: int
    waking: bool
    since: float


class PowerManager:
    """The manager of the sleep of hosts.

    All sets of hosts are bits. Failed hosts are never switched. Equal hosts (by their properties) are of one kind; a
    request names hosts of one kind only, so that its acknowledgement shows the duration for that kind. Batsim does not
    send durations, but the platform may give them in `speed_per_state`: a switch is 1 flop. Until the duration is known
    from there, from the options or from the first switch, a switch counts as instantaneous: a promise made before is
    too early, never too late.
    """

    def __init__(
        self,
        view: View,
        depth: Literal["first", "deepest"] = "first",
        off_time: float | None = None,
        on_time: float | None = None,
    ) -> None:
        #: Host -> its watts, without hosts that do not describe their power.
        self.powers: dict[int, HostPower] = {}
        #: The kinds, and host -> position of its kind.
        self.kinds: list[HostPower] = []
        self.kind: dict[int, int] = {}
        known: dict[HostPower, int] = {}
        for number, host in view.hosts.items():
            power = read_power(host.name, host.properties)
            if power is not None:
                self.powers[number] = power
                self.kind[number] = known.setdefault(power, len(known))
        self.kinds = list(known)
        #: Kind -> its sleep state; None if it has none.
        self.sleeps: list[SleepState | None] = [
            power.deepest if depth == "deepest" else next(iter(power.sleeps), None) for power in self.kinds
        ]
        #: Bits of the hosts that can be sent to sleep.
        able = (number for number, kind in self.kind.items() if self.sleeps[kind] is not None)
        self.can_sleep = HostSet.from_ids(able).bits
        #: (kind, sleep pstate) -> known seconds to fall asleep and to wake up.
        self._off: dict[tuple[int, int], float] = {}
        self._on: dict[tuple[int, int], float] = {}
        self._option_times = off_time, on_time
        for position, power in enumerate(self.kinds):
            for sleep in power.sleeps if power.speeds else ():
                if off_time is None:
                    self._off[position, sleep.pstate] = 1 / power.speeds[sleep.off]
                if on_time is None:
                    self._on[position, sleep.pstate] = 1 / power.speeds[sleep.on]
        #: Pending requests.
        self.switches: list[Switch] = []
        #: Instant, ascending -> the hosts that are idle since then; all idle hosts.
        self._idle_since: dict[float, int] = {}
        self._idle = 0

    def begin(self, view: View) -> None:
        """Record acknowledgements and failures; call this before a decision."""
        if self.switches:
            switching = view.switching.bits
            for switch in [switch for switch in self.switches if not switch.hosts & switching]:
                self.switches.remove(switch)
                learned = self._on if switch.waking else self._off
                key = switch.kind, switch.sleep
                learned[key] = max(learned.get(key, 0.0), view.now - switch.since)
        if view.hosts_changed and view.unavailable:
            # Hosts that failed during a switch are not expected at its end.
            view.availability().expect(view.unavailable & (view.asleep | view.switching), math.inf)

    def follow(self, view: View) -> None:
        """Record the idle hosts; call this after a decision has started its jobs."""
        free = view.free.bits
        gone, new = self._idle & ~free, free & ~self._idle
        if gone:
            for time in list(self._idle_since):
                self._idle_since[time] &= ~gone
                if not self._idle_since[time]:
                    del self._idle_since[time]
        if new:
            self._idle_since[view.now] = self._idle_since.get(view.now, 0) | new
        self._idle = free

    @property
    def waking(self) -> int:
        """Hosts that are waking up."""
        return reduce(or_, (switch.hosts for switch in self.switches if switch.waking), 0)

    @property
    def falling(self) -> int:
        """Hosts that are falling asleep."""
        return reduce(or_, (switch.hosts for switch in self.switches if not switch.waking), 0)

    def wakeable(self, view: View) -> int:
        """Return hosts that sleep and can be woken."""
        return view.asleep.bits & self.can_sleep & ~(view.switching.bits | view.unavailable.bits)

    def soon(self, view: View) -> int:
        """Return hosts without work that are or will be awake, and are available for the next job."""
        return view.free.bits | self.waking & ~view.unavailable.bits

    def awake_soon(self, view: View) -> int:
        """Return hosts that are or will be awake, with or without work, except failed ones."""
        down = view.asleep.bits | view.switching.bits | view.unavailable.bits
        return view.all_hosts.bits & ~down | self.waking & ~view.unavailable.bits

    def times(self, host: int, sleep: SleepState) -> SwitchTimes | None:
        """Return the switch times of a host; None if one of them is not known yet."""
        key = self.kind[host], sleep.pstate
        off, on = self._off.get(key, self._option_times[0]), self._on.get(key, self._option_times[1])
        return None if off is None or on is None else SwitchTimes(off, on)

    def break_even(self, host: int) -> float | None:
        """Return the break-even idle time of a host in seconds; None if its switch times are not known yet."""
        sleep = self.sleeps[self.kind[host]]
        times = None if sleep is None else self.times(host, sleep)
        if sleep is None or times is None:
            return None
        return sleep.break_even(self.powers[host].draws[self.powers[host].computing[0]].idle, times)

    def sleeping(self, host: int, view: View) -> SleepState:
        """Return the sleep state of a host; its first one, if it has slept from the beginning."""
        power = self.powers[host]
        return power.sleep_state(int(view.pstate(host) or -1)) or power.sleeps[0]

    def lacked(self, size: int, view: View) -> int:
        """Return the sleeping hosts to wake for a job of this size, if it can start earlier with them.

        These are the cheapest hosts that would be back by the earliest instant at which it could start if all were
        woken.
        """
        wakeable = self.wakeable(view)
        if not wakeable:
            return 0
        back = self._returns(wakeable, view)
        steps = [(time, hosts.bits) for time, hosts in view.availability().steps()]
        free = there = done = 0
        for instant in sorted({time for time, _ in steps} | back.keys()):
            while done < len(steps) and steps[done][0] <= instant:
                free = steps[done][1]
                done += 1
            there |= back.get(instant, 0)
            missing = size - free.bit_count()
            if missing <= there.bit_count():
                return self.cheapest(there, missing, view)
        return 0

    def lacked_for_tasks(self, wanted: JobDemand, duration: float, pack: Pack, view: View) -> int:
        """Return the sleeping hosts to wake for the tasks of a job, if these can start earlier with them.

        These are the hosts that the selection takes at the earliest instant at which the tasks would have places if all
        hosts were woken now.
        """
        wakeable, future = self.wakeable(view), view.availability()
        if not wakeable:
            return 0
        without = future.earliest_room(wanted, duration, pack)
        for time, hosts in self._returns(wakeable, view).items():
            future.expect(HostSet(hosts), time)
        found = future.earliest_room(wanted, duration, pack)
        future.expect(HostSet(wakeable), math.inf)
        if found is None or (without is not None and found.start >= without.start):
            return 0
        return HostSet.from_ids(place.host for place in found.places).bits & wakeable

    def cheapest(self, hosts: int, count: int, view: View) -> int:
        """Return `count` of these sleeping hosts in the order of the selection `cheapest`; all if there are fewer."""
        if count <= 0:
            return 0

        def cost(host: int) -> tuple[float, float, float, int]:
            sleep = self.sleeping(host, view)
            return (*wake_cost(sleep, self.times(host, sleep)), -sleep.watts, host)

        return HostSet.from_ids(sorted(HostSet(hosts), key=cost)[:count]).bits

    def wake(self, hosts: int, view: View, plan: Plan) -> None:
        """Wake these sleeping hosts, to the first pstate in which they compute."""
        for (kind, pstate), group in self._groups(hosts, view, waking=True).items():
            plan.set_pstate(HostSet(group), self.kinds[kind].computing[0])
            self.switches.append(Switch(group, kind, pstate, True, view.now))
            view.availability().expect(HostSet(group), view.now + (self._on_time(kind, pstate) or 0.0))

    def send_to_sleep(self, hosts: int, view: View, plan: Plan) -> None:
        """Send these idle hosts to sleep."""
        for (kind, pstate), group in self._groups(hosts, view, waking=False).items():
            plan.set_pstate(HostSet(group), pstate)
            self.switches.append(Switch(group, kind, pstate, False, view.now))
        self.follow(view)

    def tired(self, view: View, count: int, patience: float | None) -> tuple[int, float]:
        """Return (at most `count` hosts that were idle for `patience` seconds, the instant of the next such host).

        Hosts that are idle for longest come first, among equals the highest numbers, because jobs take the lowest. The
        default of `patience` is the break-even time, or 0 as long as that is unknown. Hosts that are reserved for now
        or later are excluded. The instant is infinity if there is no other host.
        """
        chosen, after = 0, math.inf
        unreserved = view.availability().free_during(view.now, math.inf).bits
        for since, hosts in self._idle_since.items():
            for host in sorted(HostSet(hosts & self.can_sleep & unreserved), reverse=True):
                if count <= 0:
                    return chosen, math.inf
                wait = (self.break_even(host) or 0.0) if patience is None else patience
                if view.due(since + wait):
                    chosen |= 1 << host
                    count -= 1
                else:
                    after = min(after, since + wait)
        return chosen, after if count > 0 else math.inf

    def _on_time(self, kind: int, pstate: int) -> float | None:
        return self._on.get((kind, pstate), self._option_times[1])

    def _returns(self, hosts: int, view: View) -> dict[float, int]:
        """Return instant -> the sleeping hosts that would be back then if they were woken now."""
        back: dict[float, int] = {}
        soonest = math.nextafter(view.now, math.inf)
        for (kind, pstate), group in self._groups(hosts, view, waking=True).items():
            time = max(soonest, view.now + (self._on_time(kind, pstate) or 0.0))
            back[time] = back.get(time, 0) | group
        return back

    def _groups(self, hosts: int, view: View, *, waking: bool) -> dict[tuple[int, int], int]:
        """Group hosts by (kind, the sleep pstate that they are in or will enter)."""
        groups: dict[tuple[int, int], int] = {}
        for host in HostSet(hosts):
            sleep = self.sleeping(host, view) if waking else self.sleeps[self.kind[host]]
            if sleep is not None:
                key = self.kind[host], sleep.pstate
                groups[key] = groups.get(key, 0) | 1 << host
        return groups
