"""Verdicts of the judge: broken rules, costs and scores of an algorithm."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Verdict(Struct, frozen=True, kw_only=True):
    """A broken rule.

    Attributes:
        rule: id of the rule.
        workload: name of the first workload in which it was broken.
        why: the violation, in one line.
        time: the instant in simulated seconds; None if it has none.
        job: id of the job; "" if none is concerned.
        messages: the last messages before the violation, as text.
        also: further workloads in which the rule was broken.
        command: a command that repeats the violation and shows its messages.
    """

    rule: str
    workload: str
    why: str
    time: float | None = None
    job: str = ""
    messages: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    command: str = ""


class DecisionCost(Struct, frozen=True):
    """The cost of decisions.

    Attributes:
        median: median seconds of a decision in the workloads of the scores, on this machine.
        longest: seconds of the longest one.
        lines: number of waiting jobs -> lines of the algorithm's file that a decision executes.
        growth: exponent of this number's growth with the queue: 1 is linear, 2 quadratic; None if it is unknown.
    """

    median: float | None
    longest: float | None
    lines: Mapping[int, int]
    growth: float | None


class AlgorithmScore(Struct, frozen=True):
    """The results of an algorithm on the workloads of the scores, in their order.

    Attributes:
        algorithm: its name.
        slowdowns: mean bounded slowdown on each workload; None where the run failed.
        waits: mean wait in seconds on each workload.
        score: geometric mean of the slowdown of `easy` divided by that of this algorithm: more is better, 1 is as good
            as `easy`; None if a run failed.
    """

    algorithm: str
    slowdowns: tuple[float | None, ...]
    waits: tuple[float | None, ...]
    score: float | None


class Judgement(Struct, frozen=True):
    """All that the judge has found.

    Attributes:
        algorithm: the algorithm as it was named.
        name: name of its class.
        options: its options.
        version: version of the set of workloads and rules.
        rules: ids of the judged rules.
        workloads: names of the played workloads.
        verdicts: the broken rules, in the order of the rules.
        skipped: rule -> why it was not judged.
        others: broken rules that were not to be judged, but may hide those that were.
        cost: cost of decisions.
        scored: names of the workloads of the scores.
        scores: scores of the algorithm and of built-in ones.
    """

    algorithm: str
    name: str
    options: Mapping[str, str]
    version: int
    rules: tuple[str, ...]
    workloads: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
    skipped: Mapping[str, str]
    others: tuple[str, ...]
    cost: DecisionCost | None
    scored: tuple[str, ...]
    scores: tuple[AlgorithmScore, ...]
