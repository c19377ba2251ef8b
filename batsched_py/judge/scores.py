"""Scores: the workloads of the scores, played by an algorithm and by built-in ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from msgspec import Struct

from batsched_py.errors import BatschedError
from batsched_py.judge.judged_algorithm import JudgedAlgorithm
from batsched_py.judge.refusals import job_in, rule_of_error
from batsched_py.judge.verdicts import AlgorithmScore, Verdict
from batsched_py.judge.witnesses import Witness
from batsched_py.judge.workloads import SCORE_HOSTS, SCORE_WORKLOADS
from batsched_py.runs.simulate import simulate
from batsched_py.testing.case import Case

#: The built-in algorithms with which others are compared; scores are relative to the second.
BUILT_IN: Final = ("fcfs", "easy", "conservative")
REFERENCE: Final = "easy"


class ScoredRun(Struct, frozen=True):
    """A run on a workload of the scores.

    Attributes:
        slowdown: mean bounded slowdown; None if the run failed.
        wait: mean wait in seconds.
        verdict: the rule that was broken; None if the run ended normally.
        median: median seconds of a decision.
        longest: seconds of the longest one.
    """

    slowdown: float | None
    wait: float | None
    verdict: Verdict | None = None
    median: float | None = None
    longest: float | None = None


class ScoreTrial(Struct, frozen=True):
    """A function that plays the workloads of the scores with an algorithm."""

    algorithm: JudgedAlgorithm
    names: tuple[str, ...] = tuple(SCORE_WORKLOADS)

    def __call__(self) -> list[ScoredRun]:
        """Play the workloads in their order."""
        return [self._run(name) for name in self.names]

    def _run(self, name: str) -> ScoredRun:
        scheduler, witness = self.algorithm.load(), Witness()
        watched = witness.watched(scheduler)
        case = Case(hosts=SCORE_HOSTS, energy=scheduler.needs_energy, dynamic=scheduler.needs_dynamic_jobs)
        try:
            run = simulate(
                case.platform(),
                SCORE_WORKLOADS[name].draw(),
                watched,
                self.algorithm.options,
                settings=case.settings(),
                warn=_ignore,
            )
        except BatschedError as error:
            why = str(error)
            return ScoredRun(None, None, Verdict(rule=rule_of_error(error), workload=name, why=why, job=job_in(why)))
        metrics = run.metrics
        times = witness.seconds
        return ScoredRun(
            metrics.mean_bounded_slowdown,
            metrics.mean_wait,
            median=median(times) if times else None,
            longest=max(times, default=None),
        )


def algorithm_scores(runs: Mapping[str, Sequence[ScoredRun]]) -> tuple[AlgorithmScore, ...]:
    """Return the scores of algorithms by their runs, which include those of the reference."""
    reference = [run.slowdown for run in runs[REFERENCE]]
    return tuple(
        AlgorithmScore(name, tuple(run.slowdown for run in own), tuple(run.wait for run in own), _score(own, reference))
        for name, own in runs.items()
    )


def _score(own: Sequence[ScoredRun], reference: Sequence[float | None]) -> float | None:
    ratios = [other / run.slowdown for run, other in zip(own, reference, strict=True) if run.slowdown and other]
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios and len(ratios) == len(own) else None


def _ignore(warning: str) -> None:
    """Do nothing with a warning, such as that of an algorithm about a job."""
