"""The judgement of an algorithm: its trials, in processes with limits, and their verdicts by rule.

Trials of contract workloads share a process, because starting one takes longer than most of them. If that process ends
or takes too long, each of its trials is repeated in a process of its own, up to the first that does it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from os import getcwd
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.campaigns.processes import PieceResult, run_apart
from batsched_py.campaigns.run_limits import RunLimits
from batsched_py.errors import BatschedError, PluginError
from batsched_py.judge.judged_algorithm import JudgedAlgorithm
from batsched_py.judge.rules import ALLOWANCES, JUDGED_RULES
from batsched_py.judge.scores import BUILT_IN, ScoredRun, ScoreTrial, algorithm_scores
from batsched_py.judge.trials import CROWDED, QUEUE, STREAMED, TWIN, AlgorithmTrials, Tried, growth_of
from batsched_py.judge.verdicts import DecisionCost, Judgement, Verdict
from batsched_py.judge.workloads import CONTRACT_WORKLOADS, SCORE_WORKLOADS, VERSION
from batsched_py.session.option_values import Origin
from batsched_py.session.scheduler_factory import make_scheduler, read_options

#: Names of all workloads, in their order, and of those of checks that need several runs -> the rules that they judge.
WHOLE: Final[Mapping[str, tuple[str, ...]]] = {
    CROWDED: ("class-state", "chance", "hash-order", "clock"),
    TWIN: ("true-run-time",),
    QUEUE: ("cost",),
    STREAMED: ("leak",),
}
WORKLOADS: Final = (*CONTRACT_WORKLOADS, *WHOLE, *SCORE_WORKLOADS)
#: Rules that are judged for each workload.
_EVERYWHERE: Final = frozenset(JUDGED_RULES) - {rule for rules in WHOLE.values() for rule in rules}
#: Rule -> the only contract workloads that can show it.
_SHOWN_BY: Final = {
    "starvation": ("large-among-small", "small-among-large"),
    "broken-promise": ("exact",),
    "conditions": ("chain",),
}
_Value = TypeVar("_Value")


class JudgeRequest(Struct, frozen=True, kw_only=True):
    """A request to judge an algorithm.

    Attributes:
        algorithm: a name as after `-s`.
        options: its options, as texts.
        rules: ids of the rules to judge.
        workloads: names of the workloads to play.
        allowed: exceptions that the algorithm claims: keys of ALLOWANCES.
        scores: compare it with built-in algorithms.
        limits: limits of each process: a trial that exceeds one breaks a rule.
        base: the command without --only and --workload, to which a verdict adds these.
    """

    algorithm: str
    options: Mapping[str, str]
    rules: tuple[str, ...] = tuple(JUDGED_RULES)
    workloads: tuple[str, ...] = WORKLOADS
    allowed: tuple[str, ...] = ()
    scores: bool = True
    limits: RunLimits = RunLimits(timeout=20.0, memory=2 * 10**9)
    base: str = "batsched-py judge"

    @property
    def judged(self) -> tuple[str, ...]:
        """The rules without those of which the algorithm is excepted, in their order."""
        excepted = {rule for name in self.allowed for rule in ALLOWANCES[name]}
        return tuple(rule for rule in JUDGED_RULES if rule in self.rules and rule not in excepted)

    @property
    def played(self) -> tuple[str, ...]:
        """The workloads that can show one of the rules, in their order."""
        return tuple(name for name in WORKLOADS if name in self.workloads and self._can_show(name))

    def _can_show(self, name: str) -> bool:
        if name in WHOLE:
            return bool(set(WHOLE[name]) & set(self.judged))
        if name in SCORE_WORKLOADS:
            return self.scores
        own = {rule for rule in self.judged if rule in _EVERYWHERE}
        return any(rule not in _SHOWN_BY or name in _SHOWN_BY[rule] for rule in own)


class _Loading(Struct, frozen=True):
    """A function that loads and creates the algorithm, and returns its name, or the reason why that cannot be done."""

    algorithm: JudgedAlgorithm

    def __call__(self) -> tuple[str, str]:
        try:
            scheduler = self.algorithm.load()
            make_scheduler(scheduler, read_options(scheduler, self.algorithm.options, Origin.USER))
            return scheduler.name, ""
        except BatschedError as error:
            return "", str(error)


class _Batch(Struct, frozen=True):
    """A function that tries several workloads."""

    algorithm: AlgorithmTrials
    names: tuple[str, ...]

    def __call__(self) -> list[Tried]:
        pieces = self.algorithm.pieces()
        return [pieces[name]() for name in self.names]


def judge(request: JudgeRequest) -> Judgement:
    """Judge an algorithm. PluginError or OptionError if it cannot be loaded or created."""
    algorithm = AlgorithmTrials(request.algorithm, dict(request.options), getcwd())
    [loaded] = _apart([_Loading(algorithm)], request.limits)
    name, why = loaded.value or ("", f"algorithm {request.algorithm}: {loaded.failure}")
    if why:
        raise PluginError(why)
    tried = dict(_trials(algorithm, request))
    runs = _scored(algorithm, request) if request.scores else {}
    verdicts = [verdict for one in tried.values() for verdict in one.verdicts]
    verdicts += [run.verdict for run in runs.get("", ()) if run.verdict is not None]
    return Judgement(
        algorithm=request.algorithm,
        name=name,
        options=request.options,
        version=VERSION,
        rules=request.judged,
        workloads=tuple(tried),
        verdicts=tuple(_by_rule(verdicts, request)),
        skipped={rule: why for one in tried.values() for rule, why in one.skipped.items() if rule in request.judged},
        others=_others(verdicts, request),
        cost=_cost(tried, runs.get("", ())),
        scored=tuple(SCORE_WORKLOADS) if runs else (),
        scores=algorithm_scores({key or name: value for key, value in runs.items()}) if runs else (),
    )


def _trials(algorithm: AlgorithmTrials, request: JudgeRequest) -> Iterator[tuple[str, Tried]]:
    """Yield the results of the trials, by workload."""
    contract = tuple(name for name in request.played if name in CONTRACT_WORKLOADS)
    if contract:
        yield from _contract_trials(algorithm, contract, request.limits)
    for name in request.played:
        if name in WHOLE:
            yield name, _single(algorithm, name, request.limits)


def _contract_trials(
    algorithm: AlgorithmTrials, names: Sequence[str], limits: RunLimits
) -> Iterator[tuple[str, Tried]]:
    if len(names) > 1:
        [together] = _apart([_Batch(algorithm, tuple(names))], limits)
        if together.value is not None:
            yield from zip(names, together.value, strict=True)
            return
    for name in names:
        tried = _single(algorithm, name, limits)
        yield name, tried
        if any(verdict.rule in ("hangs", "exits") for verdict in tried.verdicts):
            return  # each further trial would take as long


def _single(algorithm: AlgorithmTrials, name: str, limits: RunLimits) -> Tried:
    """Try one workload in a process of its own; its death or its delay is a broken rule."""
    [result] = _apart([_Batch(algorithm, (name,))], limits)
    if result.value is not None:
        return result.value[0]
    return Tried((Verdict(rule=_rule_of_death(result), workload=name, why=result.failure),))


def _rule_of_death(result: PieceResult[_Value]) -> str:
    return "hangs" if result.failure.startswith("timeout") else "exits"


def _scored(algorithm: JudgedAlgorithm, request: JudgeRequest) -> Mapping[str, Sequence[ScoredRun]]:
    """Return the runs of the scores: of the algorithm as "", and of the built-in algorithms by name."""
    others = [JudgedAlgorithm(name, {}, algorithm.folder) for name in BUILT_IN]
    results = _apart([ScoreTrial(one) for one in (algorithm, *others)], request.limits)
    runs: dict[str, Sequence[ScoredRun]] = {}
    for name, result in zip(("", *BUILT_IN), results, strict=True):
        failed = Verdict(rule=_rule_of_death(result), workload=next(iter(SCORE_WORKLOADS)), why=result.failure)
        runs[name] = result.value or [ScoredRun(None, None, failed)] * len(SCORE_WORKLOADS)
    return runs


def _apart(pieces: Iterable[Callable[[], _Value]], limits: RunLimits) -> list[PieceResult[_Value]]:
    """Run pieces in processes of their own, one after another, and return their results in order."""
    preload = ["batsched_py.judge.scores"]
    with closing(run_apart(pieces, 1, limits, preload)) as ending:
        return sorted(ending, key=lambda result: result.position)


def _by_rule(verdicts: Sequence[Verdict], request: JudgeRequest) -> Iterator[Verdict]:
    """Yield a verdict for each rule, with the further workloads that broke it and its command."""
    for rule in request.judged:
        same = [verdict for verdict in verdicts if verdict.rule == rule]
        if same:
            also = tuple(dict.fromkeys(one.workload for one in same if one.workload != same[0].workload))
            command = f"{request.base} --only {rule} --workload {same[0].workload}"
            yield replace(same[0], also=also, command=command)


def _others(verdicts: Sequence[Verdict], request: JudgeRequest) -> tuple[str, ...]:
    """Return the rules that are broken, and neither judged nor excepted."""
    excepted = {rule for name in request.allowed for rule in ALLOWANCES[name]}
    broken = {verdict.rule for verdict in verdicts} - set(request.judged) - excepted
    return tuple(rule for rule in JUDGED_RULES if rule in broken)


def _cost(tried: Mapping[str, Tried], runs: Sequence[ScoredRun]) -> DecisionCost | None:
    lines = tried[QUEUE].lines if QUEUE in tried else {}
    medians = [run.median for run in runs if run.median is not None]
    longest = [run.longest for run in runs if run.longest is not None]
    if not lines and not medians:
        return None
    growth = growth_of(lines) if len(lines) > 1 else None
    return DecisionCost(max(medians, default=None), max(longest, default=None), lines, growth)
