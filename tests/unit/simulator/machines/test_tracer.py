"""Rows of the trace files: at which occasions, and what is in them."""

from batsched_py.hostset import HostSet
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.job import Job
from batsched_py.model.settings import Settings
from batsched_py.results.tracing import Trace
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import (
    SLEEPER,
    SLEEPER_SPEEDS,
    Command,
    Script,
    call,
    execute,
    job,
    kill,
    platform,
    reject,
    switch,
    workload,
)


def trace(script: dict[float, list[Command]], *jobs: Job, settings: Settings | None = None) -> Trace:
    """On three hosts that can sleep."""
    settings = settings or Settings(energy=True)
    hosts = platform(3, SLEEPER_SPEEDS, **SLEEPER)
    simulation = Simulation(hosts, [workload(*jobs)], settings, trace=True)
    result = simulation.run(Script(script), clock=lambda: 0.0)
    assert result.trace is not None
    return result.trace


def counts(of: Trace) -> list[tuple[float, list[int]]]:
    assert of.states is not None
    rows = of.states.counts.tolist()
    return [(time, rows[5 * row : 5 * row + 5]) for row, time in enumerate(of.states.times)]


def test_machine_states_have_a_row_when_a_job_starts_and_ends() -> None:
    """Not when it is submitted or rejected; an end and a start at one instant are two rows."""
    script = {1.0: [execute("a", "0-1"), reject("b")], 11.0: [execute("c", "0")], 13.0: [kill("c"), reject("d")]}
    rows = counts(trace(script, job("a", at=1, res=2), job("b", at=1), job("c", at=11), job("d", at=13)))
    assert rows == [(1, [0, 0, 0, 1, 2]), (11, [0, 0, 0, 3, 0]), (11, [0, 0, 0, 2, 1]), (13, [0, 0, 0, 3, 0])]


def test_machine_states_have_a_row_when_a_switch_is_asked_for_and_when_it_is_done() -> None:
    """One for the whole request."""
    rows = counts(trace({1.0: [switch("0-1", 2)], 3.0: [switch("0", 0)], 23.0: [reject("a")]}, job("a", at=1)))
    asleep, waking = [2, 0, 0, 1, 0], [1, 1, 0, 1, 0]
    assert rows == [(1, [0, 0, 2, 1, 0]), (3, asleep), (3, waking), (23, [1, 0, 0, 2, 0])]


def test_unavailable_hosts_are_counted_apart() -> None:
    """In none of Batsim's columns, and without a row of their own, as in Batsim."""
    settings = Settings(external_events=(ExternalEvent(2.0, "machine_unavailable", HostSet.parse("2")),))
    found = trace({1.0: [execute("a", "0")]}, job("a", at=1), settings=settings)
    assert counts(found) == [(1, [0, 0, 0, 2, 1]), (11, [0, 0, 0, 2, 0])]
    assert found.states is not None
    assert found.states.unavailable.tolist() == [0, 1]


def test_consumed_energy_has_a_row_for_each_occasion_with_what_the_hosts_draw_at_least() -> None:
    """A switch between computing pstates is asked for and done at once."""
    energy = trace({1.0: [switch("0", 1), execute("a", "1"), switch("2", 2)]}, job("a", at=1)).energy
    assert energy is not None
    assert list(zip(energy.times, energy.kinds, energy.least_watts, strict=True)) == [
        (1, "p", 450),
        (1, "p", 400),
        (1, "s", 400),
        (1, "p", 400),
        (3, "p", 260),
        (11, "e", 260),
    ]
    assert energy.joules.tolist() == [300, 300, 300, 300, 300 + 2 * (90 + 100 + 125), 930 + 8 * (90 + 100 + 10)]


def test_pstate_changes_begin_with_those_at_the_start() -> None:
    """Then -1 and -2 stand for the way to a computing and to a sleeping pstate."""
    script = {1.0: [switch("0", 1), switch("1-2", 2)], 3.0: [switch("0-1", 0)], 23.0: [reject("a")]}
    assert trace(script, job("a", at=1)).pstates == [
        (0, 0b111, 0),
        (1, 0b001, -1),
        (1, 0b001, 1),
        (1, 0b110, -2),
        (3, 0b110, 2),
        (3, 0b011, -1),
        (23, 0b011, 0),
    ]


def test_only_what_is_wanted_is_traced() -> None:
    """No energy without -E, no machine states where they are disabled, nothing at all unless asked for."""
    without = trace({1.0: [execute("a", "0")]}, job("a", at=1), settings=Settings(trace_machine_states=False))
    assert without == Trace(None, None, [])
    simulation = Simulation(platform(), [workload()])
    assert simulation.run(Script({}), clock=lambda: 0.0).trace is None


def test_queries_and_calls_leave_no_row() -> None:
    """Only jobs and switches do."""
    ask: Command = ("QUERY", {"requests": {"consumed_energy": {}}})
    energy = trace({1.0: [ask, call(5.0)], 5.0: [reject("a")]}, job("a", at=1)).energy
    assert energy is not None
    assert energy.kinds == []
