"""The writer of `PREFIX_decisions.csv`: what a scheduler decided beside starts, a line for each row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from batsched_py.model.decision_row import DecisionRow

#: Ending of the file behind the prefix of option -e.
DECISIONS: Final = "_decisions.csv"
#: Names of the columns.
COLUMNS: Final = ("time", "what", "job_id", "start", "reason", "jobs", "hosts", "words")
#: Characters of an algorithm's words that are kept.
_LONGEST: Final = 200


def decision_lines(rows: Iterable[DecisionRow]) -> str:
    """Return rows as CSV, times with six digits after the point as in the jobs file."""
    return "".join(map(_line, rows))


def _line(row: DecisionRow) -> str:
    time, kind, job, start, reason, jobs, hosts, words = row
    if kind == "promised":  # most are
        named = f'"{",".join(jobs)}"' if len(jobs) > 1 else jobs[0] if jobs else ""
        return f"{time:.6f},promised,{job},{start:.6f},{reason},{named},,\n"
    named = f'"{",".join(jobs)}"' if jobs else ""
    return f"{time:.6f},{kind},{job},,{reason},{named},{hosts},{_quoted(words)}\n"


def _quoted(words: str) -> str:
    """Return words on one line, cut to a readable length."""
    plain = " ".join(words.split())[:_LONGEST]
    return '"' + plain.replace('"', '""') + '"' if plain else ""
