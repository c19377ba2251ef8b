"""The watts and joules of hosts that tasks of several jobs share: a host is counted once for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter

from batsched_py.api import HostRoom, HostSet, JobDemand, TaskPlace
from batsched_py.planning.task_packing import Pack
from batsched_py.schedulers.energy.power_estimate import PowerEstimate

# A host that tasks share draws, by the estimate, all that it draws when fully used, from the start of the first of
# them until the last one has ended. So it is paid until the latest end of its jobs: a job that starts there later pays
# only for the time after that, and what is returned at the end of a job is the time until the latest end of the others.


class SharedPower:
    """The hosts that tasks share, with the time until which each is paid."""

    def __init__(self, estimate: PowerEstimate) -> None:
        self._estimate = estimate
        #: Host -> id of a job with tasks there -> the latest end of the job.
        self._ends: dict[int, dict[str, float]] = {}
        #: Id of a job -> its hosts.
        self.jobs: dict[str, HostSet] = {}

    def begin(self, job_id: str, hosts: HostSet, now: float, until: float) -> float:
        """Count a job that starts; return the joules to pay."""
        joules = self.cost(hosts, now, until)
        self.jobs[job_id] = hosts
        for host in hosts:
            self._ends.setdefault(host, {})[job_id] = until
        return joules

    def end(self, job_id: str, now: float) -> float:
        """Forget a job that has ended; return the joules that come back, a negative number if it ended late."""
        joules = 0.0
        for host in self.jobs.pop(job_id):
            ends = self._ends[host]
            before = max(ends.values())
            del ends[job_id]
            joules += self._watts(HostSet.of(host)) * (before - max(ends.values(), default=now))
            if not ends:
                del self._ends[host]
        return joules

    def cost(self, hosts: HostSet, start: float, until: float) -> float:
        """Return the joules that work on these hosts in [start, until) adds to what is paid."""
        joules = 0.0
        for host in hosts:
            paid_until = max(self._ends[host].values()) if host in self._ends else start
            joules += self._watts(HostSet.of(host)) * max(0.0, until - paid_until)
        return joules

    def added(self, hosts: HostSet, time: float, now: float) -> float:
        """Return the watts that work on these hosts adds at an instant, if jobs end at their latest ends."""
        return self._watts(hosts - self.used_at(time, now))

    def ended(self, time: float) -> float:
        """Return the watts of the hosts whose last job ends at or before an instant."""
        return self._watts(HostSet.from_ids(host for host, ends in self._ends.items() if max(ends.values()) <= time))

    def used_at(self, time: float, now: float) -> HostSet:
        """Return the hosts that are used at an instant."""
        return HostSet.from_ids(host for host, ends in self._ends.items() if time <= now or max(ends.values()) > time)

    def ends_after(self, time: float) -> Iterable[float]:
        """Return the ends of the use of hosts after an instant."""
        return [last for ends in self._ends.values() if (last := max(ends.values())) > time]

    def _watts(self, hosts: HostSet) -> float:
        return self._estimate.added(hosts)


class ThriftyPacker:
    """Places tasks on as few hosts as are needed, in the order of the watts that work there adds: none where tasks are.

    Among these hosts the selection decides.
    """

    def __init__(self, pack: Pack, estimate: PowerEstimate) -> None:
        self._pack, self._estimate = pack, estimate

    def __call__(self, wanted: JobDemand, rooms: Mapping[int, HostRoom]) -> tuple[TaskPlace, ...] | None:
        """Return the places of all tasks, sorted by host; None if some task has none."""
        costs = [(self._cost(host, room), host) for host, room in rooms.items() if not room.lacking(wanted.task)]
        order = [host for _, host in sorted(costs, key=itemgetter(0, 1))]
        low, high, found = 1, len(order), self._on(order, wanted, rooms)
        while found is not None and low < high:
            middle = (low + high) // 2
            fewer = self._on(order[:middle], wanted, rooms)
            if fewer is None:
                low = middle + 1
            else:
                high, found = middle, fewer
        return found

    def _on(self, hosts: list[int], wanted: JobDemand, rooms: Mapping[int, HostRoom]) -> tuple[TaskPlace, ...] | None:
        return self._pack(wanted, {host: rooms[host] for host in sorted(hosts)})

    def _cost(self, host: int, room: HostRoom) -> float:
        return self._estimate.added(HostSet.of(host)) if room.is_empty else 0.0
