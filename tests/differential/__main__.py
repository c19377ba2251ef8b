"""`python -m tests.differential FOLDER [NAME...]`: report on each recording below FOLDER, or on those named.

Those of Batsim 5 are files; `--inputs FOLDER` names their inputs if these are not beside them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from batsched_py.errors import BatschedError
from batsched_py.protocol.dialect import V14
from tests.differential.explained import EXPLAINED, FACTS, MESSAGES, OUR_SIDE, REFUSAL
from tests.differential.our_side import follow, is_refused_mistake
from tests.differential.recorded import Recorded, UnusableError, folders_of_runs
from tests.differential.recorded5 import Recorded5, files_of_runs
from tests.differential.their_side import Outcome, fact_by_fact, message_by_message, refused

#: Differences that are shown of each comparison.
SHOWN = 6


def main(arguments: Sequence[str]) -> int:
    """Compare, show a table and the differences, and tell whether nine in ten agree and nothing failed."""
    inputs, words = _inputs(arguments)
    if not words or not Path(words[0]).is_dir():
        Console(stderr=True).print("usage: python -m tests.differential FOLDER [NAME...] [--inputs FOLDER]")
        return 2
    found = [*folders_of_runs(Path(words[0])), *files_of_runs(Path(words[0]))]
    folders = [run for run in found if not words[1:] or run.stem in words[1:]]
    table = Table(
        "recording", "Batsim", "exchanges", "messages", "facts", "our side", title="recordings of real Batsim"
    )
    notes: list[str] = []
    compared = agreeing = failed = bad = refusals = 0
    for folder in folders:
        try:
            run = Recorded(folder) if folder.is_dir() else Recorded5(folder, inputs)
            outcomes = _compare(run)
        except (UnusableError, BatschedError, OSError, ValueError) as error:
            table.add_row(folder.stem, "", "", "unusable", "", "")
            notes.append(f"{folder.stem} cannot be used: {error}")
            continue
        table.add_row(
            run.name,
            run.batsim,
            str(len(run.exchanges)),
            *(_word(outcomes.get(what)) for what in (REFUSAL if run.code else MESSAGES, FACTS, OUR_SIDE)),
        )
        if run.code:
            bad += 1
            refusals += outcomes[REFUSAL].agrees
            notes += _notes(run, outcomes)
            continue
        compared += 1
        agreeing += any(outcomes[what].agrees for what in (MESSAGES, FACTS) if what in outcomes)
        ours = outcomes[OUR_SIDE]
        failed += not (ours.agrees or (run.name, OUR_SIDE) in EXPLAINED or is_refused_mistake(run, ours))
        notes += _notes(run, outcomes)
    console = Console(width=150, soft_wrap=True)
    console.print(table)
    for note in notes:
        console.print(note, markup=False, highlight=False)
    if compared + bad < len(folders):
        console.print(f"{len(folders) - compared - bad} of {len(folders)} recordings cannot be used")
    if bad:
        console.print(f"Batsim did not end well: {refusals} of {bad} are refused here, too")
    console.print(f"their side: {agreeing} of {compared} agree; our side: {compared - failed} of {compared} agree")
    agree = agreeing >= 0.9 * compared and refusals >= 0.9 * bad
    return 0 if compared + bad and agree and not failed else 1


def _inputs(arguments: Sequence[str]) -> tuple[Path | None, Sequence[str]]:
    """Return the folder that --inputs names, and the other arguments."""
    if "--inputs" not in arguments:
        return None, arguments
    place = list(arguments).index("--inputs")
    named = arguments[place + 1 : place + 2]
    return (Path(named[0]) if named else None), [*arguments[:place], *arguments[place + 2 :]]


def _compare(run: Recorded) -> dict[str, Outcome]:
    if run.code:
        return {REFUSAL: refused(run)}
    outcomes = {FACTS: fact_by_fact(run), OUR_SIDE: follow(run)}
    if run.dialect.name != V14.name:  # where messages took no time
        outcomes[MESSAGES] = message_by_message(run)
    return outcomes


def _notes(run: Recorded, outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """A line for each difference, or one that explains them."""
    for what, outcome in outcomes.items():
        if outcome.refused:
            yield f"{run.name}, {what}: Batsim ended with {run.code}, here it is {outcome.refused}"
        if (run.name, what) in EXPLAINED and not outcome.agrees:
            yield f"{run.name}, {what}: {EXPLAINED[run.name, what]}"
            continue
        yield from (f"{run.name}, {what}: {line}" for line in outcome.why[:SHOWN])
        if len(outcome.why) > SHOWN:
            yield f"{run.name}, {what}: and {len(outcome.why) - SHOWN} more"


def _word(outcome: Outcome | None) -> str:
    if outcome is None:
        return "-"
    if outcome.refused and outcome.agrees:
        return "refused"
    return "agree" if outcome.agrees else f"differ ({len(outcome.why)})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
