"""Runs of an algorithm on the embedded simulator, whose messages are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import orjson
from msgspec.structs import replace

from batsched_py.api import NoOptions, Plan, Scheduler, View
from batsched_py.metadata.store import JobStore
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.platform import Platform
from batsched_py.model.settings import DEFAULTS, Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.results.records import JobRecord, Result
from batsched_py.session.clock import ZERO, DecisionClock
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.testing.play import Watch
from batsched_py.transcripts.transcript import Transcript
from tests.unit.simulator.scenario import platform

NO_JOBS = Workload("no jobs", 0, (), {})

#: The action of an algorithm at each message.
Decide = Callable[[View, Plan], object]
Algorithm = TypeVar("Algorithm", bound=Scheduler[Any])


class RecordedRun:
    """A run of an algorithm, whose state is checked after each message.

    Args:
        scheduler: the algorithm, or its name.
        options: its options.
        clock: how long decisions take.
        store: where jobs are described, if they are not in the messages.
        watch: sees the session after each exchange.

    Attributes:
        session: made by `run`.
        result: of the whole run.
        exchanges: requests and replies.
        warnings: what the user was told.
    """

    session: Session
    result: Result

    def __init__(
        self,
        scheduler: type[Scheduler[Any]] | str,
        options: Mapping[str, Any] | None = None,
        *,
        clock: DecisionClock = ZERO,
        store: JobStore | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._scheduler = load(scheduler) if isinstance(scheduler, str) else scheduler
        self._options, self._clock, self._store, self._watch = options, clock, store, watch
        self.exchanges = list[tuple[bytes, bytes]]()
        self.warnings = list[str]()

    def run(
        self,
        workloads: Sequence[Workload],
        settings: Settings = DEFAULTS,
        on: Platform | None = None,
        *,
        trace: bool = False,
    ) -> Result:
        """Return the result of the whole run; on four hosts, unless others are given."""
        store = self._store
        self.session = Session(
            self._scheduler,
            self._options,
            clock=self._clock,
            open_store=None if store is None else lambda _: store,
            warn=self.warnings.append,
            features=settings.features,
            compute_sharing=settings.compute_sharing,
        )
        simulation = Simulation(on or platform(), workloads, settings, store=store, trace=trace)
        self.result = simulation.run(self._exchange, clock=lambda: 0.0)
        return self.result

    def _exchange(self, request: bytes) -> bytes:
        reply = self.session.answer(request)
        self.session.check()
        self.exchanges.append((request, reply))
        if self._watch is not None:
            self._watch(self.session, request, reply)
        return reply

    @property
    def requests(self) -> list[dict[str, Any]]:
        """Messages to the algorithm, parsed."""
        return [orjson.loads(request) for request, _ in self.exchanges]

    @property
    def replies(self) -> list[dict[str, Any]]:
        """Messages of the algorithm, parsed."""
        return [orjson.loads(reply) for _, reply in self.exchanges]

    def told(self, *kinds: str) -> list[tuple[float, str, Any]]:
        """(timestamp, type, data) of the events of these types, in order."""
        return _events(self.requests, kinds)

    def said(self, *kinds: str) -> list[tuple[float, str, Any]]:
        """Return our commands likewise; all of them if no type is given."""
        return _events(self.replies, kinds)

    def details(self, kind: str) -> list[Any]:
        """The data of our commands of this type."""
        return [data for _, _, data in self.said(kind)]

    @property
    def jobs(self) -> Sequence[JobRecord]:
        """Those that Batsim has run or rejected."""
        return self.result.jobs

    def by_submission(self) -> list[JobRecord]:
        """Those jobs in the order of their submission."""
        return sorted(self.jobs, key=lambda record: (record.job.submit_time, record.job.id))

    @cached_property
    def tables(self) -> Mapping[str, list[dict[str, Any]]]:
        """Name -> rows of each table of the algorithm, by column."""
        return {
            table.name: [dict(zip(table.header, row, strict=True)) for row in table.rows]
            for table in self.session.tables()
        }

    def algorithm(self, kind: type[Algorithm]) -> Algorithm:
        """Return the algorithm as it is at the end, which is of this class."""
        found = self.session.scheduler
        assert isinstance(found, kind)
        return found


def _events(messages: Sequence[dict[str, Any]], kinds: Sequence[str]) -> list[tuple[float, str, Any]]:
    events = (event for message in messages for event in message["events"] if not kinds or event["type"] in kinds)
    return [(event["timestamp"], event["type"], event["data"]) for event in events]


def recording(path: Path) -> list[tuple[bytes, bytes]]:
    """The exchanges of a golden file."""
    return [(one.request, one.reply) for one in Transcript(path)]


def with_events(settings: Settings, events: Sequence[ExternalEvent]) -> Settings:
    """Settings in which these happen, of kinds that Batsim need not know."""
    return replace(settings, external_events=tuple(events), forward_unknown_events=True) if events else settings


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
