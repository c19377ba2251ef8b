"""One algorithm file, three protocols: the same starts; and what Batsim 5 has of its own, in the simulator."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.api import Answer, HostSet, NoOptions, Plan, RequestedCall, Scheduler, View
from batsched_py.cli.main import run as command
from batsched_py.errors import DeadlockError, OptionError, RefusedError
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.features import Features
from batsched_py.model.platform import Platform
from batsched_py.model.profile import Delay
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.protocol import commands
from batsched_py.protocol.batsim5.greeting import Hello, is_greeting, read_hello, write_greeting
from batsched_py.protocol.batsim5.greeting import write_hello as hello
from batsched_py.protocol.codec import Message, decode, encode
from batsched_py.protocol.commands import Command
from batsched_py.protocol.dialects import V5
from batsched_py.protocol.events import (
    MACHINE_UNAVAILABLE,
    Event,
    EventSource,
    JobCompleted,
    JobKilled,
    Notify,
    ProbeData,
    ResourceStateChanged,
    SimulationBegins,
)
from batsched_py.results.records import Result
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.session.session import Session
from batsched_py.simulator.jobs.execution import WRITES_READ
from batsched_py.simulator.referee.strictness import DIVIDED_BY_HOSTS
from batsched_py.simulator.simulation import Simulation
from batsched_py.testing import ContractTests
from batsched_py.testing.edges import crowded, edges
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.simgrid_xml import read_platform
from tests.builders import begins
from tests.clone import ROOT
from tests.drawing import given_once
from tests.fuzz.judging import limited
from tests.integration.variants import EACH, ON_PLATFORM, PLATFORM, SPECS, liberties, workload
from tests.recorded_run import RecordedRun, in_order
from tests.unit.simulator.scenario import SLEEPER, SLEEPER_SPEEDS, Profiles, job, platform
from tests.unit.simulator.scenario import workload as small_workload

THREE = ("v4", "v1.4", "v5")
SETTINGS = {name: Settings(protocol=name, workload_names=("w0",)) for name in THREE}


def played(
    name: str | type[Scheduler[Any]], settings: Settings, jobs: Workload, on: Platform, options: Mapping[str, Any]
) -> Result:
    """A run of an algorithm against the simulator, its books checked after each message."""
    recorded = RecordedRun(name, options)
    recorded.run([jobs], settings, on)
    assert recorded.session.over
    return recorded.result


def starts(result: Result) -> dict[str, tuple[float, HostSet, str]]:
    """Job -> when it started, where, and how it ended."""
    return {record.job.id: (record.start, record.hosts, record.state) for record in result.jobs}


@pytest.mark.parametrize(("name", "options"), ON_PLATFORM)
@given_once(SPECS, count=12)  # the dialects know nothing of algorithms: all variants together make many
def test_a_run_is_the_same_in_three_protocols(
    name: str, options: Mapping[str, Any], specs: list[tuple[int, int, int, int]]
) -> None:
    """The same starts on the same hosts, and the same ends."""
    runs = [starts(played(name, SETTINGS[protocol], workload(specs), PLATFORM, options)) for protocol in THREE]
    assert runs[0] == runs[1] == runs[2]


def test_an_algorithm_that_saves_energy_does_the_same_in_three_protocols() -> None:
    """With power states, which are two commands in Batsim 5."""
    energy = read_platform(ROOT / "platforms" / "energy16.xml")
    jobs = workload([(0, 4, 30, 40), (10, 16, 20, 30), (400, 2, 50, 60), (900, 8, 10, 20)])
    runs = [
        starts(played("easy_idle_sleeper", replace(SETTINGS[protocol], energy=True), jobs, energy, {}))
        for protocol in THREE
    ]
    assert len(runs[0]) == 4
    assert runs[0] == runs[1] == runs[2]


def test_hosts_of_batsim_5_switch_though_energy_is_not_counted(tmp_path: Path) -> None:
    """Batsim 4 refuses that; nothing is then written of energy and power states."""
    arguments = ["-p", str(ROOT / "platforms" / "energy16.xml"), "-w", str(ROOT / "workloads" / "first.json")]
    out = tmp_path / "out"
    assert command(["simulate", *arguments, "-s", "sleeper", "--protocol", "v5", "-e", str(out), "--quiet"]) == 0
    assert not [path.name for path in tmp_path.iterdir() if "energy" in path.name or "pstate" in path.name]


@pytest.mark.parametrize("name", ["fcfs", "easy", "conservative", "easy_idle_sleeper"])
def test_one_workload_converted_gives_the_same_starts_in_three_protocols(name: str, tmp_path: Path) -> None:
    """From files, on hosts that sleep and whose numbers differ: number 2 is h10 in Batsim 4, h2 in the others."""
    four, five = tmp_path / "four.json", tmp_path / "five.json"
    assert command(["generate", "--jobs", "60", "--hosts", "12", "-o", str(four)]) == 0
    assert command(["convert", str(four), "--protocol", "v5", "-o", str(five)]) == 0
    on, files = platform(12, SLEEPER_SPEEDS, **SLEEPER), {"v4": four, "v1.4": four, "v5": five}
    runs = [
        starts(played(name, replace(SETTINGS[protocol], energy=True), read_workload(file), on, {}))
        for protocol, file in files.items()
    ]
    assert len(runs[0]) == 60
    assert runs[0] == runs[1] == runs[2]


def named_hosts(*names: str) -> Platform:
    """A platform with hosts of these names."""
    plain = platform(len(names))
    renamed = {f"h{number}": name for number, name in enumerate(names)}
    hosts = tuple(replace(host, name=renamed.get(host.name, host.name)) for host in plain.hosts)
    by_name = tuple(sorted(hosts, key=lambda host: host.name))
    return replace(plain, hosts=by_name, zone_of={host.name: "zone" for host in by_name})


class Look(Scheduler[NoOptions]):
    """Notes the names of the hosts, and rejects all jobs."""

    name = "look"
    seen: tuple[str, ...] = ()

    def setup(self, view: View) -> None:
        """Note them."""
        type(self).seen = tuple(host.name for host in view.hosts.values())

    def decide(self, view: View, plan: Plan) -> None:
        """Reject them."""
        for waiting in view.queue:
            plan.reject(waiting, "only a look")


@pytest.mark.parametrize(("protocol", "order"), [("v4", ("n1", "n10", "n2")), ("v5", ("n1", "n2", "n10"))])
def test_hosts_are_numbered_as_batsim_5_does(protocol: str, order: tuple[str, ...]) -> None:
    """By the numbers in their names; in Batsim 4 as texts."""
    played(Look, SETTINGS[protocol], small_workload(job("1")), named_hosts("n1", "n2", "n10"), {})
    assert Look.seen == order


def told(decide: Callable[[View, Plan], None]) -> Any:
    """An algorithm that is one function, and keeps the events that it is told."""

    class Told(Scheduler[NoOptions]):
        name = "told"
        events: list[Event] = []  # noqa: RUF012  (of this one class)

        def observe(self, event: Event, view: View) -> None:
            self.events.append(event)

        def decide(self, view: View, plan: Plan) -> None:
            decide(view, plan)

    return Told


@pytest.mark.parametrize("protocol", THREE)
def test_periodic_calls_are_the_same_in_three_protocols(protocol: str) -> None:
    """At each multiple, with the name; as often as was asked, and not after the last job."""

    def decide(view: View, plan: Plan) -> None:
        if view.now == 0 and not view.arrived:
            plan.call_every(4, "four", 2)
            plan.call_every(8, "eight")
        in_order(view, plan)

    scheduler = told(decide)
    played(scheduler, SETTINGS[protocol], small_workload(job("1", "d20"), job("2", at=3)), platform(), {})
    sourced = [event for event in scheduler.events if type(event) is RequestedCall and event.call_id]
    calls = [(event.timestamp, event.call_id, event.last) for event in sourced]
    assert sorted(calls) == [(4, "four", False), (8, "eight", False), (8, "four", True), (16, "eight", False)]


@pytest.mark.parametrize(("protocol", "first"), [("v4", 5), ("v1.4", 5), ("v5", 10)])
def test_energy_is_watched_in_three_protocols(protocol: str, first: float) -> None:
    """As Answers; the first news of a probe of Batsim 5 comes with its second multiple."""

    def decide(view: View, plan: Plan) -> None:
        if view.now == 0 and not view.arrived:
            plan.watch_energy(5)
        in_order(view, plan)

    scheduler = told(decide)
    on = platform(2, SLEEPER_SPEEDS, **SLEEPER)
    played(scheduler, replace(SETTINGS[protocol], energy=True), small_workload(job("1", "d20")), on, {})
    said = {event.timestamp: event.consumed_energy for event in scheduler.events if type(event) is Answer}
    assert list(said) == [time for time in (5, 10, 15, 20) if first <= time < (20 if protocol == "v1.4" else 21)]
    assert said[10] == pytest.approx(10 * (100 + 100))


@pytest.mark.parametrize("protocol", ["v4", "v5"])
def test_a_simulation_is_stopped(protocol: str) -> None:
    """Batsim 5 forgets the jobs, others have to end them; no decision is asked for after that."""
    decided: list[float] = []

    def decide(view: View, plan: Plan) -> None:
        decided.append(view.now)
        in_order(view, plan)
        if view.now == 3:
            plan.stop()

    jobs = small_workload(job("1", "d100"), job("2", at=3, res=4), job("3", at=9))
    result = played(told(decide), SETTINGS[protocol], jobs, platform(), {})
    assert decided[-1] == 3
    assert result.end == (3 if protocol == "v5" else 9)
    assert len(result.jobs) == (0 if protocol == "v5" else 3)


def test_machines_become_unavailable_by_agreement() -> None:
    """The text of an external event is that notice; Batsim 5 itself blocks nothing."""
    events = (
        ExternalEvent(2.0, "machine_unavailable", HostSet.of(0), {"type": "machine_unavailable", "resources": "0"}),
        ExternalEvent(4.0, "generic", HostSet(), {"type": "generic", "data": "hello"}, id="ee0!1"),
    )
    scheduler = told(in_order)
    settings = replace(SETTINGS["v5"], external_events=events)
    result = played(scheduler, settings, small_workload(job("1", at=3)), platform(2), {})
    assert starts(result)["w0!1"][1] == HostSet.of(1)
    sourced = [event for event in scheduler.events if type(event) is Notify and event.source is not None]
    assert [(event.kind, event.hosts) for event in sourced] == [
        (MACHINE_UNAVAILABLE, HostSet.of(0)),
        ("generic", None),
    ]
    assert sourced[1].members["data"] == "hello"


def test_events_that_batsim_5_dates_as_the_one_before_happen_now() -> None:
    """An external event and a switch at 15.5, dated 12.5."""
    scheduler = told(lambda view, plan: None)
    session = Session(scheduler)
    session.answer(write_greeting(""))
    old = (
        Notify(12.5, "tea", None, {}, EventSource("ee0!0", '{"type": "tea"}')),
        ResourceStateChanged(12.5, HostSet.of(0), "0"),
    )
    for now, events in ((0.0, [begins()]), (15.5, old)):
        session.answer(encode(Message(now, tuple(events)), V5.events, V5.name, keep_unknown=False))
    assert [(type(event), event.timestamp) for event in scheduler.events[1:]] == [
        (Notify, 15.5),
        (ResourceStateChanged, 15.5),
    ]


class Edc:
    """A decision process that says at each instant what is written for it, without a check, in Batsim 5's words."""

    def __init__(self, script: Mapping[float, list[Command]], features: Features) -> None:
        self._left, self._features = dict(script), features
        self.heard: list[Event] = []

    def __call__(self, request: bytes) -> bytes:
        if is_greeting(request):
            return hello(Hello("edc", "1", self._features))
        message = decode(request, V5.events, keep_unknown=True)
        self.heard += message.events
        begins = type(message.events[0]) is SimulationBegins
        said = () if begins else tuple(self._left.pop(message.now, ()))
        return encode(Message(message.now, said), V5.commands, "v5", keep_unknown=False)


def simulated(
    script: Mapping[float, list[Command]],
    *jobs: Any,
    features: Features = Features(),  # noqa: B008  (frozen)
    on: Platform | None = None,
    **settings: Any,
) -> tuple[Edc, Result]:
    """A run of the simulator as Batsim 5 against a script."""
    edc = Edc(script, features)
    simulation = Simulation(on or platform(), [small_workload(*jobs)], Settings(protocol="v5", **settings))
    return edc, simulation.run(edc, clock=lambda: 0.0)


def start(name: str, hosts: str, at: float = 0.0, **how: Any) -> commands.ExecuteJob:
    """An execution as it is said."""
    return commands.ExecuteJob(at, f"w0!{name}", HostSet.parse(hosts), **how)


@pytest.mark.parametrize("hosts", ["0", "0-3"])
def test_hosts_are_not_counted_where_batsim_5_does_not(hosts: str) -> None:
    """A job of two executors on one host, or on four."""
    _, result = simulated({0.0: [start("1", hosts)]}, job("1", res=2))
    assert starts(result)["w0!1"][1] == HostSet.parse(hosts)


def test_hosts_may_be_shared_where_batsim_5_does_not_look() -> None:
    """Two jobs at a time."""
    _, result = simulated({0.0: [start("1", "0"), start("2", "0")]}, job("1"), job("2"))
    assert [record.finish for record in result.jobs] == [10, 10]


ABORTS: list[tuple[Command, str]] = [
    (start("1", "9"), "hosts that do not exist"),
    (start("nosuch", "0"), "is unknown"),
    (commands.RejectJob(0.0, "w0!nosuch"), "is unknown"),
    (commands.KillJob(0.0, ("w0!1",)), "does not run"),
    (commands.SetResourceState(0.0, HostSet.of(0), "7"), "has no pstate 7"),
    (commands.SetResourceState(0.0, HostSet.of(0), "0", turns=True), "cannot be turned on or off"),
    (commands.CreateProbe(0.0, "p", HostSet.of(0), 5), "needs energy to be counted"),
]


@pytest.mark.parametrize(("command", "why"), ABORTS, ids=[type(command).__name__ for command, _ in ABORTS])
def test_what_makes_batsim_5_abort_is_refused(command: Command, why: str) -> None:
    """When it is obeyed; what it cannot read is refused before."""
    with pytest.raises(RefusedError, match=why):
        simulated({0.0: [command]}, job("1"), on=platform(4, SLEEPER_SPEEDS, **SLEEPER))


def test_periods_must_be_multiples_and_names_new() -> None:
    """Periods are multiples of each other, and no name is that of a call that goes on."""
    first = commands.CallPeriodically(0.0, "a", 2.0)
    for second in (commands.CallPeriodically(0.0, "b", 3.0), commands.CallPeriodically(0.0, "a", 2.0)):
        with pytest.raises(RefusedError, match=r"one must be a multiple|goes on already"):
            simulated({0.0: [first, second]}, job("1"))


@pytest.mark.parametrize(
    ("most", "rule"), [(500, "nothing has happened but 500 calls"), (0, "calls or probes continue forever: a")]
)
def test_a_period_that_nobody_stops_is_a_deadlock(most: int, rule: str) -> None:
    """Real Batsim 5 would go on for ever."""
    told: Mapping[float, list[Command]] = {
        0.0: [commands.CallPeriodically(0.0, "a", 2.0), commands.RejectJob(0.0, "w0!1")]
    }
    with pytest.raises(DeadlockError, match=rule):
        simulated(told, job("1"), max_calls=most)


def test_a_reply_may_not_put_the_clock_over_more_calls_than_a_message_holds() -> None:
    """One that says it is a thousand million seconds later would take all memory."""

    def answer(request: bytes) -> bytes:
        if is_greeting(request):
            return hello(Hello("far ahead", "1"))
        return encode(
            Message(1e9, (commands.CallPeriodically(0.0, "\x1b", 2.0),)), V5.commands, "v5", keep_unknown=False
        )

    simulation = Simulation(PLATFORM, [small_workload(job("1"))], Settings(protocol="v5"))
    rule = r"t=199998\.0+: more than 100000 calls or probes are due before the next message, .*: \\x1b"
    with limited(), pytest.raises(DeadlockError, match=rule):
        simulation.run(answer)


def test_a_call_for_what_is_past_comes_at_once() -> None:
    """Batsim 4 aborts on it."""
    edc, _ = simulated({0.0: [commands.RejectJob(0.0, "w0!1"), commands.CallMeLater(0.0, 0.0, "past")]}, job("1"))
    (call,) = [event for event in edc.heard if type(event) is RequestedCall]
    assert (call.timestamp, call.call_id, call.last) == (0, "past", False)


def test_a_killed_sequence_tells_its_repetition() -> None:
    """It has its profile, too, if that was requested; a second kill of the same jobs makes Batsim 5 abort."""
    profiles = {"s": {"type": "composed", "repeat": 3, "seq": ["d5"]}, "d5": {"type": "delay", "delay": 5}}
    jobs = small_workload(job("1", "s"), job("2", "d5", at=7), profiles=profiles)
    edc = Edc(
        {0.0: [start("1", "0")], 7.0: [commands.KillJob(7.0, ("w0!1",)), commands.RejectJob(7.0, "w0!2")]},
        Features(forward_profiles_on_jobs_killed=True),
    )
    Simulation(platform(), [jobs], Settings(protocol="v5")).run(edc)
    (killed,) = [event for event in edc.heard if type(event) is JobKilled]
    node = killed.progress["w0!1"]
    assert (node.repetition, node.step, node.current and node.current.progress) == (1, 0, 0.4)
    assert [profile["id"] for profile in killed.extra["profiles"]] == ["w0!s"]
    twice = [commands.KillJob(0.0, ("w0!1",)), commands.KillJob(0.0, ("w0!1",))]
    with pytest.raises(RefusedError, match="names no job that is not being killed already"):
        simulated({0.0: [start("1", "0"), *twice]}, job("1"))


def test_probes_tell_the_joules_of_hosts() -> None:
    """Joules of each host, their sum or their mean, as often as was asked."""
    probes: list[Command] = [
        commands.CreateProbe(0.0, summary, HostSet.of(0, 1), 5.0, 1, summary) for summary in ("each", "sum", "mean")
    ]
    edc, _ = simulated(
        {0.0: [*probes, start("1", "0")]}, job("1", "d20"), on=platform(2, SLEEPER_SPEEDS, **SLEEPER), energy=True
    )
    said = {event.probe_id: (event.timestamp, event.values) for event in edc.heard if type(event) is ProbeData}
    assert said == {"each": (10, (1000, 1000)), "sum": (10, (2000,)), "mean": (10, (1000,))}


def test_profiles_of_a_sequence_run_on_hosts_of_their_own() -> None:
    """Hosts of another speed, say."""
    profiles: Profiles = {
        "s": {"type": "composed", "seq": ["here", "there"]},
        "here": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0},
        "there": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0},
    }
    on = platform(2)
    slow = tuple(replace(host, speeds=(5e8,)) if host.name == "h1" else host for host in on.hosts)
    edc = Edc({0.0: [start("1", "0", overrides=(commands.PlacedProfile("there", HostSet.of(1)),))]}, Features())
    result = Simulation(
        replace(on, hosts=slow), [small_workload(job("1", "s"), profiles=profiles)], Settings(protocol="v5")
    )
    assert result.run(edc).jobs[0].finish == 3


def test_a_mapping_places_each_executor_of_a_task() -> None:
    """As many as the task has, whatever the number of hosts."""
    profiles: Profiles = {"p": {"type": "parallel", "cpu": [1e9, 1e9], "com": [0, 0, 0, 0]}}
    jobs = small_workload(job("1", "p", res=2), profiles=profiles)
    for mapping, finish in (({0: 0, 1: 0}, 2), ({0: 0}, None)):
        simulation = Simulation(platform(1), [jobs], Settings(protocol="v5", allow_oversized=True))
        edc = Edc({0.0: [start("1", "0", mapping=mapping)]}, Features())
        if finish is not None:
            assert simulation.run(edc).jobs[0].finish == finish
            continue
        with pytest.raises(RefusedError, match="runs p, which is for 2 executors, not for 1"):
            simulation.run(edc)


def test_a_pstate_that_sleeps_is_taken_at_once_unless_hosts_are_turned_off() -> None:
    """On a host that computes, too; the transition takes time only with a command of its own."""
    change = commands.SetResourceState(0.0, HostSet.of(0), "2")
    on = platform(2, SLEEPER_SPEEDS, **SLEEPER)
    edc, result = simulated({0.0: [start("1", "0"), change]}, job("1"), on=on)
    (changed,) = [event for event in edc.heard if type(event) is ResourceStateChanged]
    assert (changed.timestamp, changed.state, changed.turned) == (0, "2", False)
    assert result.jobs[0].finish == 10
    edc, _ = simulated({0.0: [start("1", "1"), replace(change, turns=True)]}, job("1"), on=on)
    (turned,) = [event for event in edc.heard if type(event) is ResourceStateChanged]
    assert (turned.timestamp, turned.turned) == (2, True)
    with pytest.raises(RefusedError, match="ChangeHostsPStateEvent: on hosts 0 has no pstate 9"):
        simulated({0.0: [replace(change, state="9")]}, job("1"), on=on)


def test_a_pstate_of_no_speed_is_taken_where_nothing_computes() -> None:
    """A task there would never end."""
    change = commands.SetResourceState(0.0, HostSet.of(0), "2")
    on = platform(2, (1e9, 5e8, 0.0, 0.5, 0.05), **SLEEPER)
    edc, _ = simulated({0.0: [start("1", "1"), change]}, job("1"), on=on)
    assert [event.state for event in edc.heard if type(event) is ResourceStateChanged] == ["2"]
    with pytest.raises(RefusedError, match="on hosts 0 has 0 flop/s in pstate 2: what computes there never ends"):
        simulated({0.0: [start("1", "0"), change]}, job("1"), on=on)


STORED: Profiles = {
    "named": {"type": "parallel_homogeneous_pfs", "bytes_to_write": 250e6, "storage": "pfs"},
    "labelled": {"type": "parallel_homogeneous_pfs", "bytes_to_write": 250e6, "storage": "scratch"},
    "spread": {
        "type": "parallel_homogeneous_pfs",
        "bytes_to_write": 250e6,
        "storage": "pfs",
        "generation_strategy": "DefinedAmountsSpreadUniformly",
    },
    "moved": {"type": "data_staging", "nb_bytes": 1, "from": "pfs", "to": "bb0"},
}


@pytest.mark.parametrize(
    ("profile", "storages", "finish"),
    [
        ("named", None, 4),
        ("spread", None, 2),
        ("labelled", {"scratch": 4}, 4),
        ("labelled", None, "needs the storage 'scratch'"),
        ("moved", {"pfs": 4, "bb0": 3}, "moves data between storages: Batsim 5 aborts on it"),
    ],
)
def test_a_storage_is_known_by_its_label_or_its_name(profile: str, storages: Any, finish: float | str) -> None:
    """The amounts are those of each host, or spread over them; 125 MB pass in a second, whatever the way."""
    on = read_platform(ROOT / "tests" / "data" / "batsim5" / "inputs" / "pmix.xml")
    jobs = small_workload(job("1", profile, res=2), profiles=STORED)
    edc = Edc({0.0: [start("1", "0-1", storage_mapping=storages)]}, Features())
    simulation = Simulation(on, [jobs], Settings(protocol="v5"))
    if type(finish) is str:
        with pytest.raises(RefusedError, match=finish):
            simulation.run(edc)
    else:
        assert simulation.run(edc).jobs[0].finish == pytest.approx(finish)


def test_the_only_storage_is_that_of_any_label_in_both_protocols() -> None:
    """Batsim 4 takes it; for Batsim 5 the Plan says so. The steps of a sequence have labels of their own."""
    both = read_platform(ROOT / "tests" / "data" / "batsim5" / "inputs" / "pmix.xml")
    one = replace(both, hosts=tuple(host for host in both.hosts if host.name != "bb0"))
    profiles = {**STORED, "s": {"type": "composed", "seq": ["labelled", "named"]}}
    jobs = small_workload(job("1", "labelled"), job("2", "s", at=10), profiles=profiles)
    runs = [played("fcfs", SETTINGS[name], jobs, one, {}) for name in ("v4", "v5")]
    for result in runs:
        assert [record.finish for record in result.jobs] == pytest.approx([2, 14])


@pytest.mark.parametrize(("placement", "finish"), [("spread", 2), ("fill", 1)])
def test_executors_are_placed_in_turn_or_host_by_host(placement: Any, finish: float) -> None:
    """Four on two hosts: two on each, or all on the first, which has four cores; the other has one."""
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}}
    on = platform(2)
    cores = replace(on, hosts=tuple(replace(host, cores=4 if host.name == "h0" else 1) for host in on.hosts))
    edc = Edc({0.0: [start("1", "0-1", placement=placement)]}, Features())
    jobs = small_workload(job("1", "p", res=4), profiles=profiles)
    assert Simulation(cores, [jobs], Settings(protocol="v5", allow_oversized=True)).run(edc).jobs[0].finish == finish


def test_registered_jobs_need_no_feature_but_their_end_does() -> None:
    """Batsim 5 accepts them always, and waits for the end of registration if that was asked for."""
    register: list[Command] = [
        commands.RejectJob(0.0, "w0!1"),
        commands.RegisterProfile(0.0, "dyn", "p", {"type": "delay", "delay": 5}),
        commands.RegisterJob(0.0, "dyn!1", replace(job("1", "p"), id="dyn!1")),
        start("1", "0"),
    ]
    register[-1] = replace(start("1", "0"), job_id="dyn!1")
    edc, result = simulated({0.0: register}, job("1"))
    assert [record.job.id for record in result.jobs] == ["w0!1", "dyn!1"]
    assert [event.job_id for event in edc.heard if type(event) is JobCompleted] == ["dyn!1"]
    with pytest.raises(DeadlockError, match="registration was never finished"):
        simulated({0.0: register}, job("1"), features=Features(dynamic_registration=True))


def test_a_profile_goes_with_the_last_of_its_jobs() -> None:
    """Unless its reuse was asked for; in Batsim 4 it goes with the first."""
    again: list[Command] = [
        commands.RegisterJob(12.0, "w0!x", replace(job("x", "d10"), id="w0!x")),
        commands.ExecuteJob(12.0, "w0!x", HostSet.of(2)),
    ]
    jobs = (job("1", "d10"), job("2", "d10"))
    begin: list[Command] = [start("1", "0"), start("2", "1"), commands.CallMeLater(0.0, 12.0, "c")]
    script = {0.0: begin, 12.0: [*again, Notify(12.0, "registration_finished")]}
    kept = Features(dynamic_registration=True, profile_reuse=True)
    assert len(simulated(script, *jobs, features=kept)[1].jobs) == 3
    with pytest.raises(RefusedError, match="forgotten"):
        simulated(script, *jobs, features=Features(dynamic_registration=True))
    late = (*jobs, job("3", "d10", at=11))
    script[12.0].append(start("3", "3", at=12.0))
    assert len(simulated(script, *late, features=Features(dynamic_registration=True))[1].jobs) == 4


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"on_failure": "kill"}, "--on-failure does not go with protocol v5"),
        ({"storage_sharing": False}, "does not exist in protocol v5"),
    ],
)
def test_options_that_are_gone_are_refused(settings: dict[str, Any], why: str) -> None:
    """In words of the command line."""
    with pytest.raises(OptionError, match=why):
        simulated({}, job("1"), **settings)


def test_a_job_that_moves_data_between_storages_is_rejected() -> None:
    """5.0.0-rc2 aborts on it, in a sequence, too."""
    profiles: Profiles = {
        "s": {"type": "composed", "seq": ["d5", "m"]},
        "m": {"type": "data_staging", "nb_bytes": 1, "from": "a", "to": "b"},
        "d5": {"type": "delay", "delay": 5},
    }
    jobs = small_workload(job("1", "s"), job("2", "m"), job("3", "d5"), profiles=profiles)
    states = {
        name: state for name, (_, _, state) in starts(played("fcfs", SETTINGS["v5"], jobs, platform(), {})).items()
    }
    assert states == {"w0!1": "REJECTED", "w0!2": "REJECTED", "w0!3": "COMPLETED_SUCCESSFULLY"}
    assert type(jobs.profiles["d5"]) is Delay


def runs_on_5(name: str, options: Mapping[str, str]) -> bool:
    """True unless it asks for the energy, for which Batsim 5 has probes, or sets metadata, which it has not."""
    return name != "energy_watcher" and options.get("metadata") != "true"


ON_5 = [(name, options) for name, options in EACH if runs_on_5(name, options)]


class OnBatsim5(ContractTests):
    """The contract on cases that are played as Batsim 5."""

    hosts = 6
    __test__ = False


@pytest.mark.parametrize(("name", "options"), ON_5, ids=str)
def test_every_algorithm_that_can_keeps_the_contract_on_batsim_5(name: str, options: dict[str, str]) -> None:
    """Bursts, hosts that fail, jobs without a walltime, too large ones; promptly, and with messages that take time."""
    suite = type("Suite", (OnBatsim5,), {"algorithm": name, "options": options, **liberties(name, options)})()
    cases = [case for case in (*edges(6), *crowded(6)) if case.peer in ("simulator", "messages")]
    played = [suite.replay(replace(suite._fitted(case), protocol="v5")) for case in cases]
    assert any(one.endings for one in played if one is not None)


class Looking(Fcfs):
    """Notes what it knows of the profile of each job that arrives."""

    def setup(self, view: View) -> None:
        super().setup(view)
        self.seen: dict[str, str | None] = {}

    def decide(self, view: View, plan: Plan) -> None:
        for new in view.arrived:
            profile = view.profile(new)
            self.seen[new.id] = None if profile is None else profile.type
            self.seen.setdefault("step", "known" if view.has_profile("w0", "d5") else None)
        super().decide(view, plan)


class LookingAhead(Looking):
    """The same, in advance."""

    needs_profiles = True


@pytest.mark.parametrize(
    ("scheduler", "features", "step"),
    [
        (Looking, Features(forward_profiles_on_job_submission=True), None),
        (LookingAhead, Features(forward_profiles_on_simulation_begins=True), "known"),
    ],
)
def test_profiles_come_with_jobs_unless_all_are_needed(
    scheduler: type[Looking], features: Features, step: str | None
) -> None:
    """Batsim 5.0.0-rc2 crashes when it sends all and one is unused; with a job comes its own, without steps."""
    recorded = RecordedRun(scheduler)
    profiles: Profiles = {"s": {"type": "composed", "seq": ["d5"]}, "d5": {"type": "delay", "delay": 5}}
    recorded.run([small_workload(job("1", "s"), profiles=profiles)], SETTINGS["v5"])
    assert recorded.result.features == features
    assert recorded.algorithm(Looking).seen == {"w0!1": "composed", "step": step}


@pytest.mark.parametrize("name", ["submitter", "leases", "placer"])
def test_algorithms_that_submit_jobs_are_sent_all_profiles(name: str) -> None:
    """They may name one of a job that has not come, or must find a new name."""
    features = Features(dynamic_registration=True)
    hello = read_hello(Session(load(name), features=features).answer(write_greeting("")))
    assert hello.features.forward_profiles_on_simulation_begins
    assert not hello.features.forward_profiles_on_job_submission


def test_a_connection_that_is_lost_after_the_hello_names_the_bug() -> None:
    """Only if all profiles were asked for, and none has come yet."""
    session = Session(load("submitter"))
    assert session.deadlock() == ""
    session.answer(write_greeting(""))
    assert "a profile that no job uses: 'batsched-py convert' drops those" in session.deadlock()
    session.answer(encode(Message(0.0, (begins(4),)), V5.events, "v5", keep_unknown=True))
    assert "no job uses" not in session.deadlock()
    modest = Session(Fcfs)
    modest.answer(write_greeting(""))
    assert modest.deadlock() == ""


AMOUNTS: Profiles = {
    "total": {"type": "parallel_homogeneous_total", "cpu": 4e9, "com": 120e6},
    "sent": {"type": "parallel_homogeneous_total", "cpu": 0, "com": 120e6},
    "twice": {"type": "composed", "seq": ["sent"], "repeat": 2},
    "idle": {"type": "parallel_homogeneous", "cpu": 0, "com": 0},
    "idle_too": {"type": "parallel", "cpu": [0], "com": [0]},
    "rests": {"type": "composed", "seq": ["total", "idle"]},
}


@pytest.mark.parametrize(
    ("profile", "hosts", "four", "five"),
    [
        ("total", 2, 2.0, 2.0),
        ("total", 3, 2.4, 4 / 3),
        ("total", 4, 3.6, 1.2),
        ("sent", 2, 1.2, 1.2),
        ("sent", 4, 3.6, 1.2),
        ("twice", 4, 7.2, 2.4),
    ],
)
def test_a_total_of_bytes_is_divided_by_pairs_in_batsim_5(
    profile: str, hosts: int, four: float, five: float, tmp_path: Path
) -> None:
    """As a real run on one shared link of 100 MB/s showed; Batsim 4 divides it by hosts."""
    names = [*(f"h{number}" for number in range(4)), "master_host"]
    lines = [f'<host id="{name}" speed="1Gf"/>' for name in names] + ['<link id="l" bandwidth="100MBps" latency="0"/>']
    routes = [f'<route src="{a}" dst="{b}"><link_ctn id="l"/></route>' for a, b in combinations(names, 2)]
    content = f'<platform version="4.1"><zone id="z" routing="Full">{"".join(lines + routes)}</zone></platform>'
    (tmp_path / "p.xml").write_text(content)
    on = read_platform(tmp_path / "p.xml")
    jobs = small_workload(job("1", profile, res=hosts), profiles=AMOUNTS)
    for name, finish in (("v4", four), ("v5", five)):
        assert played("fcfs", SETTINGS[name], jobs, on, {}).jobs[0].finish == pytest.approx(finish)


@pytest.mark.parametrize("profile", ["idle", "idle_too", "rests"])
def test_a_task_on_one_host_without_flops_is_refused_as_batsim_5_aborts(profile: str) -> None:
    """ "Cannot start Exec: no flops_amount defined". Our session rejects such a job; on two hosts it may run."""
    one = small_workload(job("1", profile), profiles=AMOUNTS)
    with pytest.raises(RefusedError, match=r"on one host, with 0 flops: Batsim 5 aborts on it"):
        Simulation(platform(), [one], SETTINGS["v5"]).run(Edc({0.0: [start("1", "0")]}, Features()))
    for name, state in (("v4", "COMPLETED_SUCCESSFULLY"), ("v5", "REJECTED")):
        run = played(LookingAhead, SETTINGS[name], one, platform(), {})
        assert starts(run)["w0!1"][2] == state


def test_what_rc2_writes_otherwise_is_an_approximation() -> None:
    """It takes the bytes to read for those to write, unless they are spread over the hosts."""
    on = read_platform(ROOT / "tests" / "data" / "batsim5" / "inputs" / "pmix.xml")
    for profile, lines in (("named", [WRITES_READ]), ("spread", [])):
        jobs = small_workload(job("1", profile, res=2), profiles=STORED)
        edc = Edc({0.0: [start("1", "0-1")]}, Features())
        assert list(Simulation(on, [jobs], Settings(protocol="v5")).run(edc).approximations) == lines


@pytest.mark.parametrize(("protocol", "line"), [("v4", [DIVIDED_BY_HOSTS]), ("v5", [])])
def test_a_file_of_another_batsim_says_that_its_totals_are_divided_otherwise(protocol: str, line: list[str]) -> None:
    """Here a file of Batsim 5, on three hosts; on two it is the same."""
    for size, expected in ((3, line), (2, [])):
        written = replace(small_workload(job("1", "total", res=size), profiles=AMOUNTS), protocol="v5")
        found = played("fcfs", SETTINGS[protocol], written, platform(), {}).approximations
        assert [told for told in found if "total" in told] == expected


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests" / "data" / "batsim5").glob("*.schedule.json")), ids=lambda p: p.stem
)
def test_the_makespan_is_that_of_the_recordings(path: Path) -> None:
    """The last finish, counted from 0 as in the files of real 5.0.0-rc2, whose notes say: from the first submission."""
    with path.with_name(path.name.replace(".schedule.json", ".jobs.csv")).open(newline="") as file:
        finishes = [float(row["finish_time"]) for row in csv.DictReader(file) if row["finish_time"]]
    found = re.search(r'"makespan": ([-\d.]+)', path.read_text())
    assert found is not None
    assert float(found[1]) == max(finishes, default=0.0)
