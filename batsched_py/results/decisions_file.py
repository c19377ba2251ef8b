"""The writer of `PREFIX_decisions.csv`: decisions of a scheduler other than starts, one line each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from batsched_py.model.decision_row import DecisionRow
from batsched_py.text.display import spreadsheet_cell

#: Ending of the file's name, after the prefix of option -e.
DECISIONS: Final = "_decisions.csv"
#: Names of the columns that are empty except in rows of unfinished and of rejected jobs.
TERMS: Final = ("submitted", "size", "walltime")
#: Names of the columns.
COLUMNS: Final = ("time", "what", "job_id", "start", "reason", "jobs", "hosts", "words", *TERMS)
#: Maximum number of characters of an algorithm's text.
_LONGEST: Final = 200
#: Ids that need no quotes; ids from a peer may contain quotes and line ends.
_PLAIN: Final = re.compile(r"[\w!.#~-]+")


def decision_lines(rows: Iterable[DecisionRow]) -> str:
    """Return rows as CSV; times have six decimals as in the jobs file."""
    lines = []
    # Cache of the previous promise's text: the end of one job moves many promises.
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
    words = _quoted(spreadsheet_cell(" ".join(row.words.split())[:_LONGEST]))
    terms = f"{_seconds(row.submitted)},{'' if row.size is None else row.size},{_seconds(row.walltime)}"
    place = f"{_seconds(row.start)},{row.reason},{_quoted(','.join(jobs))},{row.hosts}"
    return f"{row.time:.6f},{row.kind},{_cell(row.job)},{place},{words},{terms}\n"


def _seconds(time: float | None) -> str:
    """Return a time, or nothing for none."""
    return "" if time is None else f"{time:.6f}"


def _cell(job: str) -> str:
    """Return an id, quoted if necessary."""
    return job if _PLAIN.fullmatch(job) else _quoted(job)


def _quoted(text: str) -> str:
    """Return text in quotes, on one line; nothing for none."""
    return '"' + " ".join(text.split()).replace('"', '""') + '"' if text else ""
