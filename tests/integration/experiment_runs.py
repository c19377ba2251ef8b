"""Runs of the algorithm `experiments` on the embedded simulator, with the messages that were exchanged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from batsched_py.experiments.api import ManagedExperiment
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.platform import DEFAULT_MASTER, Link, Platform, PlatformHost
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.model.zone import Segment, TableZone
from batsched_py.schedulers.experiments import ExperimentsScheduler
from tests.integration.timeline_runs import SETTINGS
from tests.recorded_run import NO_JOBS, RecordedRun, with_events

#: Seconds of a message.
LATENCY = 1e-3


def located_platform(locations: Mapping[str, int]) -> Platform:
    """So many hosts at each location, with two CPUs and 2 GB each, and a master."""
    at = [location for location, hosts in locations.items() for _ in range(hosts)]
    names = [*(f"h{number}" for number in range(len(at))), DEFAULT_MASTER]
    table = {(name, DEFAULT_MASTER): Segment((Link(f"link {name}", 1e12, LATENCY),)) for name in names}
    properties = [{"location": one, "cpu": "200", "mem": "2048"} for one in at]
    machines = [PlatformHost(name, (1e9,), properties=one) for name, one in zip(names, properties, strict=False)]
    zones = {"zone": TableZone("zone", "", table)}
    return Platform("sites", (*machines, PlatformHost(DEFAULT_MASTER, (1e9,))), zones, dict.fromkeys(names, "zone"))


class ExperimentSimulation(RecordedRun):
    """A run of experiments."""

    def __init__(
        self,
        folder: Path,
        document: Mapping[str, Any] | None,
        platform: Platform,
        settings: Settings = SETTINGS["v4"],
        *,
        testbed: Mapping[str, Any] | None = None,
        events: Sequence[ExternalEvent] = (),
        workload: Workload = NO_JOBS,
        **options: Any,
    ) -> None:
        for name, content in (("file", document), ("testbed", testbed)):
            if content is not None:
                options[name] = str(folder / f"{name}.json")
                (folder / f"{name}.json").write_text(json.dumps(content))
        super().__init__(ExperimentsScheduler, options)
        self.run([workload], with_events(settings, events), platform)

    @property
    def experiments(self) -> Sequence[ManagedExperiment]:
        """All that were accepted, by acceptance."""
        return self.algorithm(ExperimentsScheduler).accepted
