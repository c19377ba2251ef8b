"""`python -m tests.differential FOLDER [NAME...]`: report on each recording below FOLDER, or on those named."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from batsched_py.protocol.dialects import V14
from tests.differential.explained import EXPLAINED, FACTS, MESSAGES
from tests.differential.our_side import follow
from tests.differential.recorded import recordings
from tests.differential.their_side import Outcome, fact_by_fact, message_by_message

OUR_SIDE = "our side"
#: Differences that are shown of each comparison.
SHOWN = 6


def main() -> int:
    """Compare, show a table and the differences, and tell whether nine in ten agree and nothing failed."""
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_dir():
        Console(stderr=True).print("usage: python -m tests.differential FOLDER [NAME...]")
        return 2
    runs = [run for run in recordings(Path(sys.argv[1])) if not sys.argv[2:] or run.name in sys.argv[2:]]
    table = Table(
        "recording", "Batsim", "exchanges", "messages", "facts", "our side", title="recordings of real Batsim"
    )
    notes: list[str] = []
    agreeing = failed = 0
    for run in runs:
        outcomes = {FACTS: fact_by_fact(run), OUR_SIDE: follow(run)}
        if run.dialect.name != V14.name:  # in which messages took no time
            outcomes[MESSAGES] = message_by_message(run)
        table.add_row(
            run.name,
            run.batsim,
            str(len(run.exchanges)),
            *(_word(outcomes.get(what)) for what in (MESSAGES, FACTS, OUR_SIDE)),
        )
        agreeing += any(outcomes[what].agrees for what in (MESSAGES, FACTS) if what in outcomes)
        failed += not outcomes[OUR_SIDE].agrees
        for what, outcome in outcomes.items():
            if (run.name, what) in EXPLAINED and not outcome.agrees:
                notes.append(f"{run.name}, {what}: {EXPLAINED[run.name, what]}")
                continue
            notes += [f"{run.name}, {what}: {line}" for line in outcome.why[:SHOWN]]
            if len(outcome.why) > SHOWN:
                notes.append(f"{run.name}, {what}: and {len(outcome.why) - SHOWN} more")
    console = Console(width=150, soft_wrap=True)
    console.print(table)
    for note in notes:
        console.print(note, markup=False, highlight=False)
    console.print(f"their side: {agreeing} of {len(runs)} agree; our side: {len(runs) - failed} of {len(runs)} agree")
    return 0 if agreeing >= 0.9 * len(runs) and not failed else 1


def _word(outcome: Outcome | None) -> str:
    if outcome is None:
        return "-"
    return "agree" if outcome.agrees else f"differ ({len(outcome.why)})"


if __name__ == "__main__":
    sys.exit(main())
