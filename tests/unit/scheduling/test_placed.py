"""Starts of tasks on parts of hosts, and those that the Plan refuses."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from batsched_py.errors import PlanError
from batsched_py.hostset import HostSet
from batsched_py.model.host_room import HostRoom, TaskPlace
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.availability import Availability
from batsched_py.protocol.commands import ExecuteJob
from batsched_py.protocol.events import COMPLETED_SUCCESSFULLY, JobCompleted
from batsched_py.scheduling.placed import Placed
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.state.state import State
from tests.builders import job
from tests.thoroughness import thorough
from tests.unit.scheduling.packed_states import packed_state, wanting


def at(*places: tuple[int, tuple[int, ...], int]) -> Placed:
    return Placed(tuple(TaskPlace(*place) for place in places))


def starts(plan: Plan) -> list[ExecuteJob]:
    return [command for command in plan.commands if isinstance(command, ExecuteJob)]


def test_tasks_share_a_host_that_is_then_neither_free_nor_busy() -> None:
    """The view shows the amounts that are left."""
    a, b = wanting("a", 2, cores=1000, gpus=1, share=500), wanting("b", cores=2000)
    state = packed_state(a, b)
    plan, view = Plan(state), View(state)
    plan.start(a, at((1, (0, 0), 2)))
    plan.start(b, at((1, (), 1)))
    state.check()
    assert (view.free, view.part) == (HostSet.of(0, 2), HostSet.of(1))
    room = view.room(1)
    assert (room.cores, room.gpus) == (4000, (0, 1000))
    assert [(command.hosts, command.mapping) for command in starts(plan)] == [
        (HostSet.of(1), {0: 0, 1: 0}),
        (HostSet.of(1), None),
    ]
    state.apply(JobCompleted(5.0, "w0!a", COMPLETED_SUCCESSFULLY, 0, HostSet.of(1)))
    state.check()
    assert view.part == HostSet.of(1)
    state.apply(JobCompleted(5.0, "w0!b", COMPLETED_SUCCESSFULLY, 0, HostSet.of(1)))
    state.check()
    assert (view.part, view.free) == (HostSet(), view.all_hosts)


@pytest.mark.parametrize(
    ("demand", "placed", "rule"),
    [
        ({"gpus": 2}, at((0, (0, 1), 1)), "start w0!a on 0: host 0: GPUs: less is free than the task requests"),
        ({"gpus": 1}, at((0, (0,), 1)), "host 0: gpus: (0,) are not all free enough, with (400, 1000) left"),
        ({"gpus": 1}, at((0, (), 1)), "start w0!a on 0: it needs 1 GPU on host 0, not 0"),
        ({"gpus": 1}, at((1, (7,), 1)), "host 1: gpus: (7,) are not all free enough"),
        ({"cores": 4001}, at((0, (), 1)), "start w0!a on 0: host 0: cores: less is free than the task requests"),
        ({"memory": 1, "licences": 1}, at((1, (), 1)), "start w0!a on 1: licences matlab: fewer are left"),
        ({"cores": 1, "exclusive": True}, at((0, (0, 1), 1)), "host 0: an empty host: less is free"),
        ({"cores": 1}, at((2, (), 1)), "start w0!a on 2: 2 running a job"),
        ({"cores": 1}, at((1, (), 2)), "start w0!a on 1: it has 1 task, not 2"),
        ({"tasks": 2, "spread": True, "cores": 1}, at((1, (), 2)), "each of its tasks needs a host of its own"),
        ({"cores": 1}, at((3, (), 1)), "its places must be on hosts of the platform"),
        ({"cores": 1}, at((-1, (), 1)), "its places must be on hosts of the platform"),
        ({"cores": 1}, at((1, (), 0)), "at least one task must be on host 1"),
        ({"tasks": 2, "cores": 1}, at((1, (), 1), (1, (), 1)), "in the order of the hosts, each host once"),
        ({"cores": 1}, Placed(()), "its places must be a tuple of TaskPlace"),
        ({"cores": 1}, Placed([(1, (), 1)]), "its places must be a tuple of TaskPlace"),  # type: ignore[arg-type]
        ({"cores": 1}, at((1, ("x",), 1)), "the GPUs on host 1 must be a tuple of numbers"),  # type: ignore[arg-type]
    ],
)
def test_a_start_without_room_is_refused(demand: dict[str, Any], placed: Placed, rule: str) -> None:
    """The job, the host and the resource are named, and nothing changes."""
    first = wanting("first", cores=4000, gpus=1, share=600, licences=1)
    a, whole = wanting("a", **demand), job("whole")
    state = packed_state(first, whole, a)
    plan = Plan(state)
    plan.start(first, at((0, (0,), 1)))
    plan.start(whole, HostSet.of(2))
    with pytest.raises(PlanError) as raised:
        plan.start(a, placed)
    assert rule in str(raised.value)
    assert str(raised.value).startswith("start w0!a")
    assert a.id in state.queue
    state.check()


def test_a_job_of_whole_hosts_gets_none_where_tasks_run() -> None:
    """And has no parts of hosts."""
    a, whole = wanting("a", cores=1000), job("whole")
    state = packed_state(a, whole)
    plan = Plan(state)
    plan.start(a, at((0, (), 1)))
    with pytest.raises(PlanError, match="start w0!whole on 0: 0 running tasks"):
        plan.start(whole, HostSet.of(0))
    with pytest.raises(PlanError, match="it requests whole hosts, a HostSet, and not parts of them"):
        plan.start(whole, at((0, (), 1)))
    with pytest.raises(PlanError, match="place w0!whole: it requests whole hosts"):
        plan.place(whole)


def test_a_job_that_runs_is_not_started_again() -> None:
    """As with whole hosts."""
    a = wanting("a", cores=1000)
    plan = Plan(packed_state(a))
    plan.start(a, at((0, (), 1)))
    with pytest.raises(PlanError, match="start w0!a on 1: it runs already, on 0"):
        plan.start(a, at((1, (), 1)))


def test_whole_hosts_for_a_demand_are_said_once() -> None:
    """An algorithm that knows hosts only wastes the rest of them."""
    a, b = wanting("a", cores=1000), wanting("b", gpus=9)
    said: list[str] = []
    state = packed_state(a, b)
    plan = Plan(state, said.append)
    plan.start(a, HostSet.of(0))
    plan.start(b, HostSet.of(1))
    assert said == ["t=0: w0!a requests parts of hosts and gets whole ones, as do others like it"]
    assert state.hosts.busy == 0b11
    state.check()


def test_without_shared_hosts_tasks_do_not_start() -> None:
    """Batsim would abort."""
    a = wanting("a", cores=1000)
    plan = Plan(packed_state(a, counts=False))
    with pytest.raises(PlanError, match="Batsim shares no hosts between jobs: --enable-compute-sharing"):
        plan.start(a, at((0, (), 1)))


def test_only_a_peer_that_counts_is_sent_the_gpus() -> None:
    """Batsim would abort on the member."""
    a = wanting("a", gpus=1)
    state = packed_state(a, counts=False)
    state.compute_sharing = True
    plan = Plan(state)
    plan.start(a, at((0, (0,), 1)))
    assert starts(plan)[0].places == ()
    assert state.running["w0!a"].places == (TaskPlace(0, (0,)),)
    state.check()


def test_the_selection_places_tasks_one_after_the_other() -> None:
    """On the host with the least left, and there on the GPU with the least left."""
    a, b, c = wanting("a", gpus=1, share=600), wanting("b", 3, gpus=1, share=400), wanting("c", 4, gpus=2)
    state = packed_state(a, b, c)
    plan = Plan(state)
    plan.start(a, at((1, (1,), 1)))
    assert plan.place(b) == at((1, (1, 0, 0), 3))
    assert plan.place(b, "worst_fit") == at((0, (0, 0), 2), (2, (0,), 1))
    assert plan.place(b, among=HostSet.of(0)) == at((0, (0, 0, 1), 3))
    assert plan.place(c) is None
    with pytest.raises(PlanError, match="packing 'best': unknown; did you mean best_fit"):
        plan.place(b, "best")


def test_spread_tasks_are_on_hosts_of_their_own() -> None:
    """As many as there are tasks."""
    a, b = wanting("a", 3, cores=1, spread=True), wanting("b", 4, cores=1, spread=True)
    plan = Plan(packed_state(a, b))
    assert plan.place(a) == at((0, (), 1), (1, (), 1), (2, (), 1))
    assert plan.place(b) is None


def test_the_availability_knows_the_tasks() -> None:
    """Those that run when it is made, and later ones."""
    a, b = wanting("a", cores=1000), wanting("b", cores=1000)
    state = packed_state(a, b)
    plan, view = Plan(state), View(state)
    plan.start(a, at((0, (), 1)))
    availability: Availability = view.availability()
    assert availability.free == 0b110
    plan.start(b, at((1, (), 1)))
    assert availability.free == 0b100
    state.apply(JobCompleted(5.0, "w0!a", COMPLETED_SUCCESSFULLY, 0, HostSet.of(0)))
    assert availability.free == 0b101


def test_a_job_with_a_demand_needs_hosts_whose_properties_are_amounts() -> None:
    """Its submission is refused with the host, the property and the rule."""
    with pytest.raises(ValueError, match=r"job\.demand: cannot be counted: host n0: mem: must be a number above 0"):
        packed_state(wanting("a", cores=1), mem="much")


def held(state: State, name: str) -> str:
    waiting = state.queue.get(name)
    assert waiting is not None
    return View(state).shortage(waiting)


def test_the_resource_that_is_short_is_named() -> None:
    """And how much of it is free."""
    first = wanting("first", 3, gpus=1, cores=7000, spread=True, licences=1)
    state = packed_state(
        first,
        *(wanting("gpus", gpus=2), wanting("cores", cores=2000), wanting("half", 7, gpus=1, share=500)),
        *(wanting("licence", cores=1, licences=1), wanting("alone", cores=1, exclusive=True)),
    )
    plan = Plan(state)
    placed = plan.place(first)
    assert placed is not None
    plan.start(first, placed)
    assert held(state, "w0!gpus") == "needs 2 GPUs on one host: 3 hosts have one free"
    assert held(state, "w0!cores") == "needs 2 cores on one host: 3 hosts have 1 free"
    assert held(state, "w0!half") == "needs room for 7 tasks: it is there for fewer"
    assert held(state, "w0!licence") == "needs 1 licence matlab: 0 are free"
    assert held(state, "w0!alone") == "needs an empty host: there is none with room"


def reason_of_all(view: View, state: State, demand: JobDemand) -> str:
    """The reason, from the rooms of all hosts."""
    task, there = demand.task, [view.room(host) for host in range(len(view.hosts)) if state.hosts.usable >> host & 1]
    lacking = [room.lacking(task) for room in there]
    if not there:
        return "no host is free"
    if "" in lacking:
        return "it is there for fewer"
    short = Counter(lacking).most_common(1)[0][0]
    if " " in short:
        return f"needs {short}: there is none with room"
    free: dict[str, Callable[[HostRoom], float]] = {
        "cores": lambda room: room.cores / 1000,
        "memory": lambda room: room.memory,
        "GPUs": lambda room: sum(left >= task.share for left in room.gpus),
    }
    left = Counter(free[short](room) for room in there)
    most = max(left)
    if not most:
        return "none has any free"
    number = "one" if short == "GPUs" and most == 1 else f"{most} MiB" if short == "memory" else f"{most:g}"
    return f"{left[most]} {'host has' if left[most] == 1 else 'hosts have'} {number} free"


def test_reasons_are_those_of_looking_at_all_hosts() -> None:
    """For tasks that come and go, on hosts that fail and return; of equally frequent resources the first."""
    draw = random.Random(1)
    tasks: list[dict[str, Any]] = [
        *({"cores": 1000}, {"cores": 4000}, {"cores": 8000, "memory": 300}, {"memory": 700}, {"gpus": 2}),
        *({"gpus": 1, "share": 400}, {"gpus": 2, "share": 700, "cores": 2000}, {"cores": 1, "exclusive": True}),
        {"gpus": 1, "models": ("V100",), "cores": 6000},
    ]
    jobs = [wanting(str(number), draw.randint(1, 3), **draw.choice(tasks)) for number in range(thorough(300))]
    state = packed_state(*jobs, hosts=5)
    plan, view = Plan(state), View(state)
    seen = set[str]()
    for each in jobs:
        assert each.demand is not None
        while state.running and draw.random() < 0.35:
            run = state.running[draw.choice(list(state.running))]
            state.apply(JobCompleted(0.0, run.job.id, COMPLETED_SUCCESSFULLY, 0, run.hosts))
        (state.hosts.fail if draw.random() < 0.4 else state.hosts.recover)(1 << draw.randrange(5))
        placed = plan.place(each)
        if placed is not None:
            plan.start(each, placed)
            continue
        expected = reason_of_all(view, state, each.demand)
        assert view.shortage(each).endswith(expected)
        seen.add(expected.split(":")[0].lstrip("0123456789 "))
    assert len(seen) > 8
