"""Runs of schedulers written for pybatsim, with pybatsim itself beside the simulator, or in our process.

`python -m tests.differential.pybatsim_cases ENVIRONMENT` records them with pybatsim; the tests play these recordings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clone import ROOT

DATA = ROOT / "tests" / "data" / "pybatsim"
TINY, CLUSTER, ENERGY = (
    ROOT / "platforms" / "tiny4.xml",
    ROOT / "platforms" / "cluster32.xml",
    DATA / "energy4.xml",
)
FIRST, LUBLIN = ROOT / "workloads" / "first.json", ROOT / "workloads" / "lublin200.json"
DYNAMIC = ("--enable-dynamic-jobs", "--enable-profile-reuse")
ACKNOWLEDGED = (*DYNAMIC, "--acknowledge-dynamic-jobs")
FAILURES = ("--events", str(DATA / "failures.txt"), "--forward-unknown-events")


@dataclass(frozen=True)
class Case:
    """A scheduler, its options, and what it is to schedule."""

    name: str
    scheduler: str
    platform: Path = TINY
    workload: Path = FIRST
    words: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def recording(self) -> Path:
        """The recording of pybatsim 3.2.1."""
        return DATA / f"{self.name}.jsonl.gz"

    @property
    def simulation(self) -> list[str]:
        """The words of `simulate` without those that say who decides."""
        return ["simulate", "-p", str(self.platform), "-w", str(self.workload), *self.words, "--quiet"]

    @property
    def assignments(self) -> list[str]:
        """The options as words of the command line."""
        return [word for key, value in self.options.items() for word in ("-o", f"{key}={json.dumps(value)}")]


#: Runs of the schedulers in tests/data/pybatsim, which are short enough to be kept.
CASES = (
    Case("fcfs", "strictFcfs"),
    Case("fcfs-32", "strictFcfs", CLUSTER, LUBLIN),
    Case("filler", "orderedFiller", options={"delay": 0.5}),
    Case("easy", "simpleEasy"),
    Case("easy-32", "simpleEasy", CLUSTER, LUBLIN),
    Case("sleeper", "idleSleeper", ENERGY, words=("-E",), options={"period": 20, "asleep": "3", "awake": "0"}),
    Case("failures", "failureFiller", words=FAILURES),
    Case("splitter", "jobSplitter", words=DYNAMIC),
    Case("splitter-acknowledged", "jobSplitter", words=ACKNOWLEDGED),
    Case("killer", "urgentKiller", words=ACKNOWLEDGED),
    Case("object-filler", "objectFiller", CLUSTER, LUBLIN),
    Case("object-easy", "objectEasy", CLUSTER, LUBLIN, options={"depth": 2}),
    Case("object-dynamic", "objectDynamic", CLUSTER, LUBLIN, words=ACKNOWLEDGED),
)
