"""`batsched-py diff`: the differences between two recorded runs."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Final

import click

from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.parameters import PATH, Number, Seconds, option
from batsched_py.cli.shared.terminal import say, say_all
from batsched_py.errors import TranscriptError
from batsched_py.text.wording import counted
from batsched_py.transcripts.compare import Tolerance, TranscriptComparison, compare_transcripts
from batsched_py.transcripts.facts import FactKind
from batsched_py.transcripts.report import LEFT, RIGHT, descriptions, summary
from batsched_py.transcripts.transcript import Transcript

_COLOURS: Final = {LEFT: "red", RIGHT: "green"}


@typed_command()
@click.argument("first", type=PATH, metavar="A.jsonl")
@click.argument("second", type=PATH, metavar="B.jsonl")
@option("--tolerance", "S", "Times that differ by at most S seconds are the same.", type=Seconds(min=0), default=1e-3)
@option(
    "--relative",
    "R",
    "Treat other numbers (joules, progress) as equal if they differ by at most this fraction.",
    type=Number(0, 1),
    default=1e-6,
)
@option(
    "--ignore",
    "KIND",
    "Ignore facts of this kind, such as calls; may be given several times.",
    type=click.Choice([str(kind) for kind in FactKind]),
    multiple=True,
)
@option("--count", "N", "Differences to show.", type=click.IntRange(min=0), default=10)
def command(
    first: Path, second: Path, tolerance: float, relative: float, ignore: tuple[str, ...], *, count: int
) -> int:
    """Compare two recorded runs, A.jsonl and B.jsonl: the events from Batsim and the decisions.

    Events are compared by job and host; their order within an instant and their notation do not matter. The exit code
    is 0 if the runs are the same, 1 if they differ.
    """
    warn = Warnings()
    limits = current_limits()
    transcripts = Transcript(first, warn, limits=limits), Transcript(second, warn, limits=limits)
    comparison = compare_transcripts(
        *transcripts, Tolerance(tolerance, relative), ignore={FactKind(kind) for kind in ignore}
    )
    for transcript, exchanges in zip(transcripts, comparison.exchanges, strict=True):
        if not exchanges:
            raise TranscriptError(str(transcript.path), "", "holds no exchange; there is nothing to compare")
    _show(comparison, (first, second), count)
    return 0 if comparison.same else 1


def _show(comparison: TranscriptComparison, files: tuple[Path, Path], count: int) -> None:
    exchanges = f"{comparison.exchanges[0]} and {counted(comparison.exchanges[1], 'exchange')}"
    if comparison.same:
        say(f"same: {exchanges}, {counted(comparison.shared, 'fact')}")
        return
    differ = len(comparison.differences)
    same = counted(comparison.shared, "fact is", "facts are")
    say(f"{exchanges}: {same} the same, {counted(differ, 'differs', 'differ')}")
    if count:
        say(f"{LEFT} {files[0]}, {RIGHT} {files[1]}")
    rest = descriptions(comparison.differences)
    for lines in islice(rest, count):
        for line in lines:
            say(line, colour=_COLOURS.get(line[2:3]))
    left = sum(1 for _ in rest)
    if left and count:
        say(f"and {left} more")
    say_all(summary(comparison))
