"""Runs of the algorithm `timelines` on the embedded simulator, with the messages that were exchanged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from batsched_py.hostset import HostSet
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.schedulers.timelines import TimelinesScheduler
from batsched_py.timelines.api import TimelineRun, play
from tests.integration.test_ha_cases import platform
from tests.recorded_run import NO_JOBS, RecordedRun, with_events
from tests.unit.timelines.fa_cases import FaCase, read, requested

SETTINGS: Mapping[str, Settings] = {
    "v4": Settings(dynamic_jobs=True, compute_sharing=True),
    "acknowledged": Settings(dynamic_jobs=True, compute_sharing=True, acknowledge_dynamic_jobs=True),
    "booked": Settings(dynamic_jobs=True),
    "static": Settings(),
    "v1.4": Settings(protocol="v1.4", dynamic_jobs=True, compute_sharing=True, forward_profiles=True),
    "v5": Settings(protocol="v5", dynamic_jobs=True, compute_sharing=True),
    "v5 acknowledged": Settings(protocol="v5", dynamic_jobs=True, compute_sharing=True, acknowledge_dynamic_jobs=True),
    "v5 booked": Settings(protocol="v5", dynamic_jobs=True),
    "v5 static": Settings(protocol="v5"),
    "latency": Settings(dynamic_jobs=True, compute_sharing=True, message_latency=True),
    "v5 latency": Settings(protocol="v5", dynamic_jobs=True, compute_sharing=True, message_latency=True),
}
#: All of these in which messages take no time.
PROMPT: Sequence[str] = [name for name in SETTINGS if "latency" not in name]


class TimelineSimulation(RecordedRun):
    """A run of a document of timelines."""

    def __init__(
        self,
        folder: Path,
        document: Mapping[str, Any],
        settings: Settings = SETTINGS["v4"],
        *,
        events: Sequence[ExternalEvent] = (),
        workload: Workload = NO_JOBS,
        hosts: int | None = None,
        **options: Any,
    ) -> None:
        path = folder / "timelines.json"
        path.write_text(json.dumps(document))
        super().__init__(TimelinesScheduler, {"file": str(path), **options})
        count = len([name for name in document["vms"] if name != "*"]) if hosts is None else hosts
        self.run([workload], with_events(settings, events), platform(count))

    @property
    def timelines(self) -> TimelineRun:
        """The timelines as they are at the end."""
        return self.algorithm(TimelinesScheduler).run


def happens(timestamp: float, kind: str, hosts: Sequence[int] = (), **members: Any) -> ExternalEvent:
    """Return an external event."""
    whole = {"timestamp": timestamp, "type": kind, **members}
    if hosts:
        whole["resources"] = str(HostSet.from_ids(hosts))
    return ExternalEvent(timestamp, kind, HostSet.from_ids(hosts), whole)


def resume_events(case: FaCase) -> list[ExternalEvent]:
    """Return the resumes of a case at their wall times, as events."""
    requests = [requested(one) for one in case.resumes]
    ended = play(read(case.document), requests)[0]
    zero = {True: ended.launched or 0.0, False: ended.start or 0.0}
    events = [
        happens(zero[one.after_launch] + one.time, "resume", vms=list(one.vms) if one.vms else "all")
        for one in requests
    ]
    return sorted(events, key=lambda one: one.timestamp)
