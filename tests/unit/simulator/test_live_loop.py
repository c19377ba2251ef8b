"""The loop of live simulations: batches of events between the instants of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from batsched_py.errors import OptionError
from batsched_py.hostset import HostSet
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.results.records import Result
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.simulator.time.live_loop import LiveBatch
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT

PLATFORM = read_platform(ROOT / "platforms" / "tiny4.xml")
SETTINGS = Settings(dynamic_jobs=True, forward_unknown_events=True)


def submission(name: str, size: int, seconds: float) -> ExternalEvent:
    """Return the event that asks for a job."""
    job = {"res": size, "walltime": seconds + 1, "profile": name}
    members = {
        "type": "submit_job",
        "job_id": f"live!{name}",
        "job": job,
        "profile": {"type": "delay", "delay": seconds},
    }
    return ExternalEvent(0.0, "submit_job", members=members)


class Scripted:
    """Live events that happen at given times: batches in order, each (time, events).

    Attributes:
        asked: (now, due) of each call.
    """

    def __init__(self, *batches: tuple[float, Sequence[ExternalEvent]]) -> None:
        self._left = [LiveBatch(time, events) for time, events in batches]
        self.asked: list[tuple[float, float | None]] = []

    def begin(self) -> None:
        """Do nothing."""

    def wait(self, now: float, due: float | None) -> LiveBatch | None:
        """Return the next batch if it is before `due`."""
        self.asked.append((now, due))
        if self._left and (due is None or self._left[0].time < due):
            return self._left.pop(0)
        return LiveBatch(now, (), last=True) if due is None else None


def run(live: Any, settings: Settings = SETTINGS) -> tuple[Result, list[Any]]:
    """Run `fcfs` on four hosts; return the result and what the scheduler was asked."""
    session, asked = Session(load("fcfs"), requests=True), list[Any]()

    def exchange(request: bytes) -> bytes:
        asked.append(orjson.loads(request))
        return session.answer(request)

    simulation = Simulation(PLATFORM, [Workload("none", 4, (), {})], settings, live=live)
    return simulation.run(exchange), asked


def test_events_happen_between_instants() -> None:
    """A job that is asked for at 10 s starts then; one of 60 s, when what is due then has happened."""
    live = Scripted((10.0, [submission("a", 4, 50)]), (30.0, [submission("b", 2, 5)]), (60.0, [submission("c", 2, 5)]))
    result, asked = run(live)
    assert [(job.job.id, job.start, job.finish) for job in result.jobs] == [
        ("live!a", 10, 60),
        ("live!b", 60, 65),
        ("live!c", 60, 65),
    ]
    at_60 = [[event["type"] for event in message["events"]] for message in asked if message["now"] == 60]
    assert at_60 == [["JOB_COMPLETED"], ["NOTIFY"]]
    assert [events[-1]["data"]["type"] for events in [asked[-2]["events"]]] == ["no_more_external_event_to_occur"]


def test_time_passes_only_as_the_source_lets_it() -> None:
    """It is asked before each instant, with the instant that was reached and the next one."""
    live = Scripted((10.0, [submission("a", 1, 50)]))
    run(live)
    assert live.asked == [(0.0, 0.0), (0.0, None), (10.0, 60.0), (60.0, None)]


def test_events_of_one_batch_are_one_message() -> None:
    """Two batches of one instant are two."""
    events = [submission("a", 1, 5), submission("b", 1, 5)]
    together, apart = run(Scripted((10.0, events)))[1], run(Scripted((10.0, events[:1]), (10.0, events[1:])))[1]
    assert [len(message["events"]) for message in together if message["now"] == 10] == [2]
    assert [len(message["events"]) for message in apart if message["now"] == 10] == [1, 1]


def test_what_the_source_raises_ends_the_run() -> None:
    """As when a site is told to stop: nothing is finished."""

    class Stopped:
        def begin(self) -> None:
            """Do nothing."""

        def wait(self, now: float, due: float | None) -> LiveBatch | None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Stopped())


@pytest.mark.parametrize("settings", [{"message_latency": True}, {"protocol": "v1.4"}])
def test_other_loops_are_not_live(settings: Any) -> None:
    """One line says so."""
    with pytest.raises(OptionError, match="a live simulation speaks protocol v4, and its messages take no time"):
        run(Scripted(), Settings(dynamic_jobs=True, **settings))


def test_the_end_of_a_file_of_events_is_not_that_of_live_events() -> None:
    """A host fails by a file; a job is asked for later."""
    failure = ExternalEvent(5.0, "machine_unavailable", hosts=HostSet.parse("0"))
    settings = Settings(dynamic_jobs=True, forward_unknown_events=True, external_events=(failure,))
    result, _ = run(Scripted((10.0, [submission("a", 3, 5)])), settings)
    assert [(str(job.hosts), job.start) for job in result.jobs] == [("1-3", 10)]
