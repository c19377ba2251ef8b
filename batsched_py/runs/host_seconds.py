"""The time that hosts spend in each state, as a decision process sees it."""

from __future__ import annotations

from collections.abc import Mapping

from batsched_py.bits import bits_of
from batsched_py.scheduling.view import View
from batsched_py.simulator.machines.machines import (
    COMPUTING,
    IDLE,
    SLEEPING,
    SWITCHING_OFF,
    SWITCHING_ON,
    Machines,
    members,
)


class HostSeconds:
    """The states of hosts between messages, counted as the simulator counts them.

    Hosts that are switched together are done together, as in messages: the simulator knows which ones are done before.

    Args:
        view: the view of a session; its hosts are idle before the first message.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        #: None before the first message, which has the hosts.
        self._machines: Machines | None = None

    def look(self) -> None:
        """Count up to now, and see the states that hosts are in from now on."""
        view = self._view
        if self._machines is None:
            self._machines = Machines(max(view.hosts, default=-1) + 1)
        machines, now = self._machines, view.now
        down = view.unavailable.bits
        if lost := down & ~machines.unavailable:
            machines.withdraw(lost, now)
        if back := machines.unavailable & ~down:
            machines.restore(back, now)
        for state, hosts in self._states(machines).items():
            moved = hosts & ~machines.hosts_in[state]
            for source, there in list(machines.hosts_in.items()):
                if moved & there:
                    machines.move(moved & there, source, state, now)

    @property
    def by_state(self) -> Mapping[str, float]:
        """State -> seconds, summed over hosts, each up to its last change, as in Batsim's results."""
        return (self._machines or Machines(0)).seconds()

    def _states(self, machines: Machines) -> dict[str, int]:
        """Return the hosts in each state; unavailable hosts keep their state."""
        view = self._view
        available = machines.all & ~view.unavailable.bits
        free, asleep = view.free.bits & available, view.asleep.bits & available
        switching = view.switching.bits & available
        on = bits_of(host for host in members(switching) if view.pstate(host) in view.hosts[host].sleep_pstates)
        busy = available & ~(free | asleep | switching)
        return {
            IDLE: free,
            SLEEPING: asleep & ~switching,
            SWITCHING_ON: on,
            SWITCHING_OFF: switching & ~on,
            COMPUTING: busy,
        }
