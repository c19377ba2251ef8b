"""`batsched-py diff`: what happened in one recorded run and not in another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import click

from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.parameters import PATH, Number, Seconds, debug_option, limit_option, told_limits
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import TranscriptError
from batsched_py.transcripts.compare import RunComparison, Tolerance, compare_runs
from batsched_py.transcripts.facts import FactKind
from batsched_py.transcripts.report import LEFT, RIGHT, stories, summary
from batsched_py.transcripts.transcript import Transcript
from batsched_py.wording import counted

_COLOURS: Final = {LEFT: "red", RIGHT: "green"}


@click.command("diff")
@click.argument("first", type=PATH, metavar="A.jsonl")
@click.argument("second", type=PATH, metavar="B.jsonl")
@click.option(
    "--tolerance",
    type=Seconds(min=0),
    default=1e-3,
    show_default=True,
    metavar="S",
    help="Times that differ by at most S seconds are the same.",
)
@click.option(
    "--relative",
    type=Number(0, 1),
    default=1e-6,
    show_default=True,
    metavar="R",
    help="Other numbers (joules, progress) are the same if they differ by at most this share.",
)
@click.option(
    "--ignore",
    type=click.Choice([str(kind) for kind in FactKind]),
    multiple=True,
    metavar="KIND",
    help="Leave out facts of this kind, calls say; may be given several times.",
)
@click.option(
    "--count", type=click.IntRange(min=0), default=10, show_default=True, metavar="N", help="Differences to show."
)
@limit_option
@debug_option
def command(*, first: Path, second: Path, tolerance: float, relative: float, ignore: Sequence[str], count: int) -> int:
    """Compare what happened in two recorded runs, A.jsonl and B.jsonl: what Batsim told, and what was decided.

    Events are compared by job and host, wherever in its instant each stands and however it is spelled. Exit code 0 if
    the runs are the same, 1 if they differ.
    """
    warn = Warnings()
    limits = told_limits()
    transcripts = Transcript(first, warn, limits=limits), Transcript(second, warn, limits=limits)
    comparison = compare_runs(*transcripts, Tolerance(tolerance, relative), ignore={FactKind(kind) for kind in ignore})
    for transcript, exchanges in zip(transcripts, comparison.exchanges, strict=True):
        if not exchanges:
            raise TranscriptError(str(transcript.path), "", "holds no exchange; there is nothing to compare")
    _tell(comparison, first, second, count)
    return 0 if comparison.same else 1


def _tell(comparison: RunComparison, first: Path, second: Path, count: int) -> None:
    exchanges = f"{comparison.exchanges[0]} and {counted(comparison.exchanges[1], 'exchange')}"
    if comparison.same:
        say(f"same: {exchanges}, {counted(comparison.shared, 'fact')}")
        return
    differ = len(comparison.differences)
    same = counted(comparison.shared, "fact is", "facts are")
    say(f"{exchanges}: {same} the same, {counted(differ, 'differs', 'differ')}")
    if count:
        say(f"{LEFT} {first}, {RIGHT} {second}")
    told = stories(comparison.differences)
    for story in islice(told, count):
        for line in story:
            say(line, colour=_COLOURS.get(line[2:3]))
    left = sum(1 for _ in told)
    if left and count:
        say(f"and {left} more")
    for line in summary(comparison):
        say(line)
