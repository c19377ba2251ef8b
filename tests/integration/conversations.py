"""Whole conversations of a session with the embedded simulator, kept and taken apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from batsched_py.api import NoOptions, Plan, Scheduler, View
from batsched_py.metadata.store import JobStore
from batsched_py.model.platform import Platform
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.model.workload import Workload
from batsched_py.results.records import Result
from batsched_py.session.clock import ZERO, DecisionClock
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import platform

#: The action of an algorithm at each message.
Decide = Callable[[View, Plan], object]


class Conversation:
    """A session that plays a run against the simulator; each exchange is kept, and the books are checked after it."""

    def __init__(
        self,
        scheduler: type[Scheduler[Any]],
        clock: DecisionClock = ZERO,
        options: Mapping[str, Any] | None = None,
        store: JobStore | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        open_store = None if store is None else lambda _: store
        self.session = Session(scheduler, options, clock=clock, open_store=open_store, warn=warn)
        self._store = store
        #: Requests and replies, parsed.
        self.asked: list[dict[str, Any]] = []
        self.answered: list[dict[str, Any]] = []

    def __call__(self, request: bytes) -> bytes:
        self.asked.append(orjson.loads(request))
        reply = self.session.answer(request)
        self.session.check()
        self.answered.append(orjson.loads(reply))
        return reply

    def run(
        self,
        workloads: Sequence[Workload],
        settings: Settings = DEFAULTS,
        on: Platform | None = None,
        *,
        trace: bool = False,
    ) -> Result:
        """Play it to its end."""
        simulation = Simulation(on or platform(), workloads, settings, store=self._store, trace=trace)
        return simulation.run(self, clock=lambda: 0.0)

    def told(self, *kinds: str) -> list[tuple[float, str, Any]]:
        """(timestamp, type, data) of the events of these types, in order."""
        return _events(self.asked, kinds)

    def said(self, *kinds: str) -> list[tuple[float, str, Any]]:
        """Return our commands likewise; all of them if no type is given."""
        return _events(self.answered, kinds)

    def details(self, kind: str) -> list[Any]:
        """The data of our commands of this type."""
        return [data for _, _, data in self.said(kind)]


def _events(messages: Sequence[dict[str, Any]], kinds: Sequence[str]) -> list[tuple[float, str, Any]]:
    events = (event for message in messages for event in message["events"] if not kinds or event["type"] in kinds)
    return [(event["timestamp"], event["type"], event["data"]) for event in events]


def algorithm(decide: Decide, *, dynamic: bool = False) -> type[Scheduler[NoOptions]]:
    """An algorithm that is one function."""

    class Given(Scheduler[NoOptions]):
        name = "given"
        needs_dynamic_jobs = dynamic

        def decide(self, view: View, plan: Plan) -> None:
            decide(view, plan)

    return Given


def in_order(view: View, plan: Plan) -> None:
    """First come, first served, on the lowest hosts."""
    for job in view.queue:
        hosts = plan.free.first(job.size)
        if hosts is None:
            return
        plan.start(job, hosts)
