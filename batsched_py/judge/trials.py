"""Trials of an algorithm: what the process of a trial does, from loading the algorithm to verdicts.

Each trial loads the algorithm anew, so that no state of one trial is seen by the next.
"""

from __future__ import annotations

import math
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from inspect import getfile
from itertools import pairwise
from typing import Any, Final

from msgspec import Struct

from batsched_py.errors import BatschedError, ContractError
from batsched_py.judge.judged_algorithm import JudgedAlgorithm
from batsched_py.judge.played_workload import PlayedWorkload, decisions_until_the_first_end
from batsched_py.judge.refusals import job_in, rule_of_error
from batsched_py.judge.verdicts import Verdict
from batsched_py.judge.witnesses import MemoryCount, Witness
from batsched_py.judge.workloads import CONTRACT_WORKLOADS, HOSTS, QUEUES, STREAM, TWINS, queue_case, stream_case
from batsched_py.runs.class_state import changed_state, class_state
from batsched_py.scheduling.base import Scheduler
from batsched_py.testing.case import Case
from batsched_py.testing.edges import crowded
from batsched_py.testing.fingerprints import Fingerprint, fingerprints, run_in_other_process
from batsched_py.testing.play import Player
from batsched_py.text.wording import counted

#: Number of messages in a verdict.
_SHOWN: Final = 6
#: Bytes for each job that has ended above which memory grows.
_LEAK: Final = 300
#: Growth of the cost of a decision with the queue that is too much, and lines below which it does not matter.
_GROWTH: Final = 1.6
_FEW_LINES: Final = 2000
#: Name of the "workload" of checks that need several ones.
CROWDED: Final = "crowded"
TWIN: Final = "twins"
QUEUE: Final = "queues"
STREAMED: Final = "stream"


class Tried(Struct, frozen=True):
    """The result of a trial: broken rules, rules that it could not judge, and lines of a decision by queue length."""

    verdicts: tuple[Verdict, ...]
    skipped: Mapping[str, str] = {}
    lines: Mapping[int, int] = {}


class AlgorithmTrials(JudgedAlgorithm, frozen=True):
    """The trials of an algorithm."""

    def try_workload(self, name: str, case: Case | None = None) -> Tried:
        """Play a contract workload, and return the broken rules."""
        case = CONTRACT_WORKLOADS[name].case if case is None else case
        scheduler, witness = self.load(), Witness()
        case = _fitted(case, scheduler)
        player = Player(witness.watched(scheduler), self.options, case)
        try:
            played = player.run()
        except BatschedError as error:
            return Tried((self._stopped(name, error, player),))
        found = list(PlayedWorkload(name, case, played, scheduler, witness).broken_rules())
        return Tried(tuple(_with_messages(verdict, player) for verdict in found))

    def _stopped(self, name: str, error: BatschedError, player: Player) -> Verdict:
        why = str(error)
        return Verdict(
            rule=rule_of_error(error),
            workload=name,
            why=why,
            time=player.session.now,
            job=job_in(str(error.__cause__ or "")) or job_in(why),
            messages=tuple(player.last_lines(_SHOWN)),
        )

    def try_repetition(self) -> Tried:
        """Play crowded workloads twice, with other hashes, and with an eye on clocks and random numbers."""
        witness = Witness()
        scheduler = self.load()
        cases = [_fitted(case, scheduler) for case in crowded(HOSTS)]
        with witness.watching(_folder_of(scheduler)):
            scheduler = self.load()
            before = _state(scheduler)
            first = fingerprints(scheduler, self.options, cases)
            changed = changed_state(before, _state(scheduler))
            again = fingerprints(scheduler, self.options, cases)
        found = list(self._repetition(witness, changed, _difference(first, again)))
        if not found:
            found += self._other_hashes(scheduler, cases, first)
        return Tried(tuple(found))

    def _repetition(self, witness: Witness, changed: list[str], difference: str) -> Iterator[Verdict]:
        if witness.clocks:
            yield Verdict(rule="clock", workload=CROWDED, why=f"it calls {witness.clocks}(); view.now is the time")
        if changed:
            why = f"{', '.join(changed)} changed during a run, and is kept for the next one; state belongs in self"
            yield Verdict(rule="class-state", workload=CROWDED, why=f"{why}{difference and f' ({difference})'}")
        elif witness.draws:
            why = f"it calls {witness.draws}() without a seed; use random.Random(seed)"
            yield Verdict(rule="chance", workload=CROWDED, why=why)
        elif difference and not witness.clocks:
            yield Verdict(rule="chance", workload=CROWDED, why=f"a second run sends other decisions: {difference}")

    def _other_hashes(
        self, scheduler: type[Scheduler[Any]], cases: list[Case], first: list[Fingerprint]
    ) -> Iterator[Verdict]:
        with suppress(ContractError):  # it does not run there: a chance that the other trials name
            other = run_in_other_process(scheduler, self.options, cases)
            difference = "" if other is None else _difference(first, other)
            if difference:
                why = f"a run with another PYTHONHASHSEED sends other decisions: {difference}"
                yield Verdict(rule="hash-order", workload=CROWDED, why=f"{why}; sort what comes from a set")

    def try_twins(self) -> Tried:
        """Play workloads that differ in run times only, and compare decisions up to the first end of a job."""
        scheduler = self.load()
        if scheduler.needs_profiles:
            return Tried((), {"true-run-time": "the algorithm declares that it reads profiles (needs_profiles)"})
        runs = []
        for case in TWINS:
            player = Player(scheduler, self.options, _fitted(case, scheduler))
            with suppress(BatschedError):
                runs.append((player, decisions_until_the_first_end(player.run())))
        if len(runs) < len(TWINS):
            return Tried((), {"true-run-time": "the algorithm does not finish the workloads that show it"})
        for (_, one), (player, other) in pairwise(runs):
            for (now, first), (_, second) in zip(one, other, strict=False):
                if first != second:
                    why = "jobs that differ in nothing but their run times lead to other decisions"
                    messages = tuple(player.last_lines(_SHOWN))
                    return Tried((Verdict(rule="true-run-time", workload=TWIN, why=why, time=now, messages=messages),))
        return Tried(())

    def try_queues(self) -> Tried:
        """Count the lines of the algorithm's file that a decision executes with queues of several lengths."""
        lines: dict[int, int] = {}
        for waiting in QUEUES:
            scheduler, witness = self.load(), Witness(count_from=waiting - 1)
            player = Player(witness.watched(scheduler), self.options, _fitted(queue_case(waiting), scheduler))
            with suppress(BatschedError):
                player.run()
            lines[waiting] = max(witness.lines.values(), default=0)
        growth, most = growth_of(lines), max(lines.values())
        if growth is None or growth <= _GROWTH or most < _FEW_LINES:
            return Tried((), lines=lines)
        measured = ", ".join(f"{count} lines for {queue}" for queue, count in lines.items())
        why = f"a decision takes time in proportion to the queue to the power of {growth:.1f}: {measured} waiting jobs"
        return Tried((Verdict(rule="cost", workload=QUEUE, why=why),), lines=lines)

    def try_stream(self) -> Tried:
        """Measure the memory that the algorithm's file allocates while jobs come and go."""
        scheduler = self.load()
        count = MemoryCount(getfile(scheduler), STREAM // 2)
        player = Player(scheduler, self.options, _fitted(stream_case(STREAM), scheduler), count.note)
        tracemalloc.start()
        try:
            with suppress(BatschedError):
                player.run()
        finally:
            tracemalloc.stop()
        grown = [after - before for before, after in pairwise(count.sizes)]
        least = min(grown, default=0) / (STREAM // 4)  # two messages for each job
        if len(grown) < 2 or least < _LEAK:
            return Tried(())
        why = f"{least:.0f} bytes stay allocated for each job that has ended, of {counted(STREAM, 'job')}"
        return Tried((Verdict(rule="leak", workload=STREAMED, why=why),))

    def pieces(self) -> Mapping[str, Callable[[], Tried]]:
        """Return the trials by the names of their workloads, in their order."""
        plain = {name: partial(self.try_workload, name) for name in CONTRACT_WORKLOADS}
        return {
            **plain,
            CROWDED: self.try_repetition,
            TWIN: self.try_twins,
            QUEUE: self.try_queues,
            STREAMED: self.try_stream,
        }


def growth_of(lines: Mapping[int, int]) -> float | None:
    """Return the exponent of growth between the two longest queues; None without lines."""
    (shorter, few), (longer, many) = sorted(lines.items())[-2:]
    return math.log(many / few) / math.log(longer / shorter) if few and many else None


def _fitted(case: Case, scheduler: type[Scheduler[Any]]) -> Case:
    """Return the case with power states and dynamic jobs if the algorithm needs them."""
    needs = {"energy": scheduler.needs_energy, "dynamic": scheduler.needs_dynamic_jobs}
    values = {name: getattr(case, name) for name in case.__struct_fields__}
    return type(case)(**{**values, **needs})


def _folder_of(scheduler: type[Scheduler[Any]]) -> str:
    return os.path.dirname(getfile(scheduler)) + os.sep


def _state(scheduler: type[Scheduler[Any]]) -> dict[str, Any]:
    """Return the state of the class, and of its module if that is a user's file."""
    module = sys.modules.get(scheduler.__module__)
    own = {} if module is None or module.__name__.startswith("batsched_py.") else _module_state(vars(module))
    return {**class_state(scheduler), **own}


def _module_state(names: Mapping[str, Any]) -> dict[str, Any]:
    plain = (bool, int, float, str, list, dict, set)
    return {
        name: repr(value) for name, value in names.items() if not name.startswith("__") and isinstance(value, plain)
    }


def _difference(first: list[Fingerprint], again: list[Fingerprint]) -> str:
    """Name the first message that differs; "" if none does."""
    for number, (one, other) in enumerate(zip(first, again, strict=True)):
        if one != other:
            pairs = enumerate(zip(one, other, strict=False), start=1)
            place = next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))
            return f"message {place} of workload {number + 1} of {len(first)}"
    return ""


def _with_messages(verdict: Verdict, player: Player) -> Verdict:
    values = {name: getattr(verdict, name) for name in verdict.__struct_fields__}
    return Verdict(**{**values, "messages": tuple(player.last_lines(_SHOWN))})
