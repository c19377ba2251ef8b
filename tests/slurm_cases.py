"""Recorded cases of a real Slurm, played by the kernel with simulated run times, and scored."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from batsched_py.errors import SlurmRefusalError
from batsched_py.slurm.conf_reader import read_configuration
from batsched_py.slurm.controller import SlurmController
from batsched_py.slurm.decisions import Decision, JobRequeue, JobStart, JobStop, JobSuspension
from batsched_py.slurm.phases import recorded_phases
from batsched_py.slurm.sacctmgr import read_accounts
from batsched_py.slurm.submission import read_request

#: Seconds that start and end of a job take together.
OVERHEAD = 0.03


@dataclass(frozen=True)
class Start:
    at: float
    nodes: str


@dataclass
class Played:
    """The last start of each job that started, and the passes."""

    starts: dict[str, Start] = field(default_factory=dict)
    passes: list[tuple[float, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Score:
    jobs: int
    within: int
    same_nodes: int
    mean_wait_error: float
    inversions: int


class Player:
    """An event loop that submits, ends jobs after their run times, and lets the controller act between."""

    def __init__(self, case: Mapping[str, Any], clock: int, started: float) -> None:
        phases = recorded_phases(clock, started, accounting=bool(case["accounting"]))
        configuration = read_configuration(case["files"])
        self.controller = SlurmController(configuration, read_accounts(case["sacctmgr"]), phases, keeps_passes=True)
        self.case, self.played = case, Played()
        self._order = count()
        self._events: list[tuple[float, int, str, Any]] = []
        self._ids: dict[str, int] = {}
        #: The event of each job's end, its instant, and what is left of a suspended one.
        self._ends: dict[str, int] = {}
        self._due: dict[str, float] = {}
        self._left: dict[str, float] = {}
        self._runs = {job["name"]: job for job in case["jobs"]}

    def _push(self, at: float, kind: str, what: Any) -> int:
        number = next(self._order)
        heapq.heappush(self._events, (at, number, kind, what))
        return number

    def run(self) -> Played:
        for job in self.case["jobs"]:
            self._push(job["submit_s"], "submit", job)
        for action in self.case.get("actions", []):
            self._push(action["t"], "action", action["command"])
        until = self.case["observed_until_s"]
        while True:
            wake = self.controller.next_wake()
            event = self._events[0][0] if self._events else float("inf")
            if min(wake, event) > until:
                break
            if wake <= event:
                self._obey(self.controller.advance(wake))
                continue
            at, number, kind, what = heapq.heappop(self._events)
            self._obey(self.controller.advance(at))
            getattr(self, f"_{kind}")(at, number, what)
        self.played.passes = self.controller.passes
        return self.played

    def _filled(self, text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda match: str(self._ids.get(match[1], 0)), text)

    def _submit(self, at: float, _number: int, job: Mapping[str, Any]) -> None:
        try:
            request = read_request([self._filled(word) for word in job["sbatch"]], job["user"])
            self._ids[job["name"]] = self.controller.submit(request, at + 0.01)
        except (SlurmRefusalError, ValueError):  # as Slurm refuses it, or an option that is not supported
            return

    def _action(self, at: float, _number: int, command: str) -> None:
        try:
            self._obey(self.controller.action(self._filled(command), at + 0.01))
        except SlurmRefusalError:  # as Slurm refuses it
            return

    def _end(self, at: float, number: int, key: str) -> None:
        if self._ends.get(key) == number:
            job = self._runs[key.split("_", maxsplit=1)[0]]
            self.controller.ended(key, at, is_ok=not job.get("exit_code"))
            self._obey(self.controller.advance(at))

    def _obey(self, decisions: Sequence[Decision]) -> None:
        for one in decisions:
            if isinstance(one, JobStart):
                self.played.starts[one.job] = Start(one.at, one.nodes)
                run = self._runs[one.job.split("_")[0]]["run_s"]
                self._set_end(one.job, one.at + run + OVERHEAD)
            elif isinstance(one, JobStop | JobRequeue):
                self._ends.pop(one.job, None)
                if isinstance(one, JobRequeue):
                    self.played.starts.pop(one.job, None)
            elif isinstance(one, JobSuspension):
                self._suspend(one)

    def _suspend(self, one: JobSuspension) -> None:
        if one.is_suspended:
            self._left[one.job] = self._due[one.job] - one.at
            self._ends.pop(one.job, None)
        else:
            self._set_end(one.job, one.at + self._left[one.job])

    def _set_end(self, job: str, at: float) -> None:
        self._due[job] = at
        self._ends[job] = self._push(at, "end", job)


def play(case: Mapping[str, Any], clock: int, started: float) -> Played:
    """Play a case on a controller with these phases."""
    return Player(case, clock, started).run()


def score(repetitions: Sequence[Mapping[str, Any]], starts: Mapping[str, Start]) -> Score:
    """Compare with each repetition, and return the best: the one with most starts within 2 s or 5 %."""
    return max((_score(one["jobs"], starts) for one in repetitions), key=lambda score: score.within)


def _score(jobs: Mapping[str, Any], starts: Mapping[str, Start]) -> Score:
    within = nodes = 0
    pairs = []
    for name, record in jobs.items():
        real, start = record.get("start_exact", record["start"]), starts.get(name)
        if real is None or start is None:
            within += real is None and start is None
            nodes += real is None and start is None
            continue
        pairs.append((real, start.at))
        within += abs(real - start.at) <= max(2, 0.05 * real)
        nodes += start.nodes == record["nodes"]
    inversions = sum(
        (r1 - r2 >= 2 and s2 - s1 >= 2) or (r2 - r1 >= 2 and s1 - s2 >= 2)
        for at, (r1, s1) in enumerate(pairs)
        for r2, s2 in pairs[at + 1 :]
    )
    return Score(len(jobs), within, nodes, sum(s - r for r, s in pairs) / max(1, len(pairs)), inversions)
