"""The watts and joules of shared hosts, computed by hand."""

from __future__ import annotations

from typing import Any, cast

from batsched_py.hostset import HostSet
from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from batsched_py.planning.task_packing import Packer
from batsched_py.schedulers.energy.shared_power import SharedPower, ThriftyPacker

BOTH = HostSet.parse("0-1")


class Estimate:
    """Work adds 10 W on host 0 and on each further host 10 W more."""

    def added(self, hosts: HostSet) -> float:
        """Watts."""
        return sum(10.0 * (host + 1) for host in hosts)


def estimate() -> Any:
    """Hosts 0, 1, 2 with 10, 20, 30 W."""
    return cast("Any", Estimate())


def test_a_host_is_paid_once_until_the_latest_end() -> None:
    """A second job pays for the time after the first; the first gets nothing back while the second needs the host."""
    power = SharedPower(estimate())
    assert power.begin("a", BOTH, 0.0, 100.0) == 3000.0
    assert power.begin("b", HostSet.of(1), 50.0, 120.0) == 20 * 20.0
    assert power.begin("c", HostSet.of(1), 60.0, 110.0) == 0.0
    assert power.end("a", 70.0) == 10 * 30.0, "host 0 is free, host 1 is needed until 120"
    assert power.end("b", 80.0) == 20 * 10.0, "c needs it until 110"
    assert power.end("c", 115.0) == -20 * 5.0, "it ended late"
    assert not power.jobs


def test_watts_at_an_instant_are_those_of_the_jobs_that_must_not_have_ended() -> None:
    """Watts of each host count once."""
    power = SharedPower(estimate())
    power.begin("a", BOTH, 0.0, 100.0)
    power.begin("b", HostSet.of(1), 0.0, 200.0)
    assert power.added(HostSet.parse("0-2"), 0.0, 0.0) == 30.0
    assert power.added(HostSet.parse("0-2"), 150.0, 0.0) == 10.0 + 30.0
    assert power.ended(99.0) == 0.0
    assert power.ended(100.0) == 10.0
    assert sorted(power.ends_after(100.0)) == [200.0]


def test_tasks_have_few_hosts_in_the_order_of_their_watts() -> None:
    """First the host with tasks, then the one on which work adds least."""
    capacity = HostCapacity(cores=4000, memory=0)
    task = TaskDemand(cores=1000)
    rating = PACKED_SELECTIONS["worst_fit"].prepare((capacity,), [task])
    pack = ThriftyPacker(Packer(lambda: rating), estimate())
    rooms = {host: HostRoom(capacity) for host in range(3)}
    rooms[2].take(task, ())
    hosts = {}
    for tasks in (1, 3, 4, 7, 8, 11, 12):
        places = pack(JobDemand(tasks=tasks, task=task), rooms)
        hosts[tasks] = None if places is None else [place.host for place in places]
    assert hosts == {1: [2], 3: [2], 4: [0, 2], 7: [0, 2], 8: [0, 1, 2], 11: [0, 1, 2], 12: None}
