"""The writer of `PREFIX_decisions.csv`: what a scheduler decided beside starts, a line for each row."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from batsched_py.model.decision_row import DecisionRow
from batsched_py.text.display import spreadsheet_cell

#: Ending of the file behind the prefix of option -e.
DECISIONS: Final = "_decisions.csv"
#: Names of the columns that only rows of unfinished and of rejected jobs fill.
TERMS: Final = ("submitted", "size", "walltime")
#: Names of the columns.
COLUMNS: Final = ("time", "what", "job_id", "start", "reason", "jobs", "hosts", "words", *TERMS)
#: Characters of an algorithm's words that are kept.
_LONGEST: Final = 200
#: Ids as nearly all are; others are a peer's, who may have written quotes and line ends into them.
_PLAIN: Final = re.compile(r"[\w!.#~-]+")


def decision_lines(rows: Iterable[DecisionRow]) -> str:
    """Return rows as CSV, times with six digits after the point as in the jobs file."""
    lines = []
    # Of the promise before, as text: an end moves many of them.
    time, begin, named = -1.0, "", ""
    jobs: tuple[str, ...] = ()
    for row in rows:
        if row.kind != "promised":
            lines.append(_line(row))
            continue
        if row.time != time or row.jobs is not jobs:
            time, jobs = row.time, row.jobs
            begin = f"{time:.6f},promised,"
            named = _cell(jobs[0]) if len(jobs) == 1 else _quoted(",".join(jobs))
        lines.append(f"{begin}{_cell(row.job)},{row.start:.6f},{row.reason},{named},,,,,\n")
    return "".join(lines)


def _line(row: DecisionRow) -> str:
    """Return the line of a row of any kind."""
    jobs = row.jobs
    told = _quoted(spreadsheet_cell(" ".join(row.words.split())[:_LONGEST]))
    terms = f"{_seconds(row.submitted)},{'' if row.size is None else row.size},{_seconds(row.walltime)}"
    place = f"{_seconds(row.start)},{row.reason},{_quoted(','.join(jobs))},{row.hosts}"
    return f"{row.time:.6f},{row.kind},{_cell(row.job)},{place},{told},{terms}\n"


def _seconds(time: float | None) -> str:
    """Return a time, or nothing for none."""
    return "" if time is None else f"{time:.6f}"


def _cell(job: str) -> str:
    """Return an id as it is, or quoted."""
    return job if _PLAIN.fullmatch(job) else _quoted(job)


def _quoted(text: str) -> str:
    """Return text in quotes, on one line; nothing for none."""
    return '"' + " ".join(text.split()).replace('"', '""') + '"' if text else ""
