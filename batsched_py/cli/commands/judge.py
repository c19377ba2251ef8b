"""`batsched-py judge`: the rules that an algorithm breaks, its cost, and its scores."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec
import orjson
from msgspec import Struct
from rich import box
from rich.table import Table
from rich.text import Text

from batsched_py.campaigns.run_limits import RunLimits
from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.completion import complete_algorithm
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.output_paths import check_writable
from batsched_py.cli.shared.parameters import PATH, flag, option, read_assignments, read_names
from batsched_py.cli.shared.run_limit_options import over, run_limit_options
from batsched_py.cli.shared.runs import write_file
from batsched_py.cli.shared.terminal import say, say_all
from batsched_py.judge.judgement import WORKLOADS, JudgeRequest, judge
from batsched_py.judge.rules import ALLOWANCES, JUDGED_RULES
from batsched_py.judge.verdicts import Judgement, Verdict
from batsched_py.judge.workloads import CONTRACT_WORKLOADS, SCORE_WORKLOADS
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted, seconds, unknown

#: Exit code if a rule is broken.
BROKEN: Final = 1
#: Version of the format of the JSON document.
DOCUMENT: Final = 1
#: Limits of each process, unless others are given.
_LIMITS: Final = RunLimits(timeout=20.0, memory=2 * 10**9)


def _known(names: Collection[str]) -> Callable[..., tuple[str, ...]]:
    """Return a callback that reads names from a list. BadParameter for others."""

    def read(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
        found = read_names(context, parameter, values)
        for name in found:
            if name not in names:
                raise click.BadParameter(f"{displayed(name)}: {unknown(name, list(names))}", context, parameter)
        return found

    return read


class JudgeChoice(Struct, frozen=True):
    """The options of `judge`."""

    algorithm: str
    assignments: Mapping[str, str]
    only: tuple[str, ...]
    workloads: tuple[str, ...]
    allowed: tuple[str, ...]
    document: Path | None
    rules: bool
    limits: RunLimits

    @property
    def request(self) -> JudgeRequest:
        """The request: everything, or the given rules and workloads; then without scores."""
        whole = not self.only and not any(name not in SCORE_WORKLOADS for name in self.workloads)
        return JudgeRequest(
            algorithm=self.algorithm,
            options=dict(self.assignments),
            rules=self.only or tuple(JUDGED_RULES),
            workloads=self.workloads or WORKLOADS,
            allowed=self.allowed,
            scores=whole or any(name in SCORE_WORKLOADS for name in self.workloads),
            limits=over(self.limits, _LIMITS),
            base=self._base(),
        )

    def _base(self) -> str:
        """Return the command with the options that verdicts depend on."""
        words = ["batsched-py", "judge", self.algorithm]
        for name, value in self.assignments.items():
            words += ["-o", f"{name}={value}"]
        words += [word for name in self.allowed for word in ("--allow", name)]
        if self.limits.timeout is not None:
            words += ["--timeout", f"{self.limits.timeout:g}s"]
        if self.limits.memory is not None:
            words += ["--memory", str(self.limits.memory)]
        return shlex.join(words)


@typed_command(limits=False)
@click.argument("algorithm", default="", shell_complete=complete_algorithm)
@option(
    "-o --option assignments",
    "KEY=VALUE",
    "An option of the algorithm (see describe); may be given several times.",
    multiple=True,
    callback=read_assignments,
)
@option("--only", "RULE,...", "Judge only these rules, without scores.", multiple=True, callback=_known(JUDGED_RULES))
@option(
    "--workload workloads",
    "NAME,...",
    "Play only these workloads, and show the messages before a violation.",
    multiple=True,
    callback=_known(WORKLOADS),
)
@option(
    "--allow allowed",
    "NAME,...",
    f"Except the algorithm from rules: {', '.join(ALLOWANCES)}.",
    multiple=True,
    callback=_known(ALLOWANCES),
)
@option("--json document", "FILE", "Write the judgement to FILE as JSON, too.", type=PATH)
@flag("--rules", "List the rules and the workloads, and judge nothing.")
@run_limit_options
def command(choice: JudgeChoice) -> int:
    """Judge an ALGORITHM: the rules that it breaks, the cost of its decisions, and its scores.

    ALGORITHM is a name (see list), file.py:Class or package.module:Class. It runs in processes with limits, by default
    20s and 2GB. The exit code is 0 if no rule is broken, 1 if one is, 2 if the algorithm cannot be loaded.
    """
    if choice.rules:
        _show_rules()
        return 0
    if not choice.algorithm:
        raise click.UsageError("Missing argument 'ALGORITHM'.")
    check_writable([choice.document])
    request = choice.request
    if not request.played:
        raise click.UsageError("no workload of --workload can show a rule of --only (see judge --rules)")
    judgement = judge(request)
    if choice.document is not None:
        write_file(choice.document, judgement_document(judgement))
    _show(judgement, messages=bool(choice.workloads))
    return BROKEN if judgement.verdicts else 0


def judgement_document(judgement: Judgement) -> bytes:
    """Return the JSON document of a judgement; docs/judge.md describes it."""
    content = {"format": DOCUMENT, "passed": not judgement.verdicts, **msgspec.to_builtins(judgement, str_keys=True)}
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _show_rules() -> None:
    rules = _plain_table("rule", "")
    for rule, text in JUDGED_RULES.items():
        rules.add_row(rule, text)
    show_table(rules, folded=1)
    workloads = _plain_table("workload", "")
    for name, workload in CONTRACT_WORKLOADS.items():
        workloads.add_row(name, workload.about)
    show_table(workloads, folded=1)


def _show(judgement: Judgement, *, messages: bool) -> None:
    checked = f"{counted(len(judgement.rules), 'rule')}, {counted(len(judgement.workloads), 'workload')}"
    name = displayed(judgement.name)
    if judgement.verdicts:
        say(f"{name} breaks {counted(len(judgement.verdicts), 'rule')} of {len(judgement.rules)}")
        table = _plain_table("rule", "workload", "time", "job", "violation")
        for verdict in judgement.verdicts:
            table.add_row(*map(Text, _cells(verdict)))
        show_table(table, folded=4)
        for verdict in judgement.verdicts:
            say(f"{verdict.rule}: {displayed(verdict.command)}")
            if messages:
                say_all(f"  {displayed(line)}" for line in verdict.messages)
    else:
        say(f"{name} breaks no rule ({checked})")
    say_all(f"not judged: {rule}: {why}" for rule, why in judgement.skipped.items())
    if judgement.others:
        say(f"rules that were not judged are broken, too: {', '.join(judgement.others)}")
    say_all(_cost_lines(judgement))
    if judgement.scores:
        _show_scores(judgement)


def _cells(verdict: Verdict) -> Sequence[str]:
    also = f" (and in {', '.join(verdict.also)})" if verdict.also else ""
    time = "" if verdict.time is None else seconds(verdict.time)
    return verdict.rule, verdict.workload, time, displayed(verdict.job), displayed(f"{verdict.why}{also}")


def _cost_lines(judgement: Judgement) -> Iterator[str]:
    cost = judgement.cost
    if cost is not None and cost.median is not None and cost.longest is not None:
        yield f"decisions: median {cost.median * 1000:.3f} ms, longest {cost.longest * 1000:.1f} ms"
    if cost is not None and cost.lines:
        counts = ", ".join(f"{lines} with {queue}" for queue, lines in cost.lines.items())
        yield f"lines of a decision by waiting jobs: {counts}"


def _show_scores(judgement: Judgement) -> None:
    table = _plain_table("algorithm", "score", *(f"slowdown {name}" for name in judgement.scored))
    for column in table.columns[1:]:
        column.justify = "right"
    for score in judgement.scores:
        table.add_row(Text(displayed(score.algorithm)), _number(score.score), *map(_number, score.slowdowns))
    show_table(table)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _plain_table(*headings: str) -> Table:
    return Table(*headings, box=box.SIMPLE, pad_edge=False)
