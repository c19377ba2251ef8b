"""Failures of hosts and links: which jobs they end, or lose as Batsim does."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from batsched_py.bits import lowest_one
from batsched_py.errors import PlatformError
from batsched_py.simulator.contention.demand import ActivityDemand
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.lifecycle import Jobs
from batsched_py.simulator.jobs.live_jobs import LiveJob
from batsched_py.simulator.machines.external_events import ExternalEvents
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted, seconds

# External events are announced to the scheduler, and leave jobs alone unless `on_failure` says otherwise. What a
# profile of the platform switches off is not announced, and Batsim 4.2.1 cannot go on: a job whose first host or one
# of whose links goes off is lost, neither completes nor ends at its walltime, and keeps its hosts; if another host of
# a parallel task goes off, or a job starts on a host that is off, Batsim aborts. With `on_failure` a host that goes
# off is a machine that becomes unavailable, and a link ends the jobs that cross it; jobs that start meanwhile wait for
# it: the scheduler knows no links, and would start failing jobs again and again.

_LOST: Final = "Batsim loses the job, which never ends; --on-failure kill or requeue ends it"


class Failures:
    """The effects of failures on jobs.

    Attributes:
        ends_jobs: True if failures end jobs; False to lose them as Batsim does.
    """

    def __init__(self, context: Context, jobs: Jobs, names: Sequence[str], machines: ExternalEvents) -> None:
        """Take the names of the hosts, and the events by which machines become unavailable and available."""
        self._context, self._jobs, self._names, self._machines = context, jobs, names, machines
        self.ends_jobs = context.settings.on_failure != "ignore"

    def waits_for_changes(self) -> bool:
        """Return whether a change of the platform alone may let jobs go on: Batsim does not wait for it."""
        return self.ends_jobs and self._jobs.unfinished > 0

    def switch_host(self, host: int, *, on: bool) -> None:
        """Switch a host on or off; PlatformError where Batsim aborts."""
        if self.ends_jobs:
            self._machines.switch(1 << host, on=on)
        elif on:
            self._context.off &= ~(1 << host)
        else:
            self._context.off |= 1 << host
            self._lose_host(host)

    def cut(self, links: Collection[str], name: str) -> None:
        """End or lose the jobs that cross links that go off; `name` is that in the platform."""
        cut = [live for live in self._jobs.running() if live.running and _crosses(live.running.demands, links)]
        self.lose(cut, f"link {displayed(name)} is off")

    def lose_one(self, job_id: str) -> None:
        """Lose a job whose task begins with a transfer over a link that is off."""
        self.lose([self._jobs.live[job_id]], "a link is off")

    def lose(self, lost: Sequence[LiveJob], why: str) -> None:
        """End jobs, or lose them as Batsim does."""
        if self.ends_jobs:
            self._jobs.end_failed(lost)
        elif lost:
            for live in lost:
                self._jobs.forget_running(live)
            first, others = displayed(lost[0].job.id), len(lost) - 1
            who = f"{first} and {counted(others, 'other')}" if others else first
            line = f"platform: {who} at t={seconds(self._context.queue.now)}: {why}, and {_LOST}"
            self._context.approximations.add(line)

    def _lose_host(self, host: int) -> None:
        lost, name, now = list[LiveJob](), self._names[host], seconds(self._context.queue.now)
        for live in self._jobs.running():
            if not live.hosts.bits >> host & 1 or live.running is None:
                continue
            # Ranks of a trace end with their hosts, and the job waits for their reports permanently (not recorded).
            if lowest_one(live.hosts.bits) == host or live.running.replays:
                lost.append(live)
            elif live.running.demands:
                rule = f"goes off at t={now} under {displayed(live.job.id)}, of which it is not the first host"
                raise PlatformError("", f"host {name}", f"{rule}: Batsim aborts; see --on-failure")
        self.lose(lost, f"host {displayed(name)} is off")


def _crosses(demands: Sequence[ActivityDemand], links: Collection[str]) -> bool:
    return any(link.name in links for demand in demands for link, _ in demand.links)
