"""Recorded conversations of WRENCH and C++ batsched, from a folder given by its path.

`python -m tests.differential.wrench PATH` plays each case in a session and prints a line for each: the number of its
exchanges, and the first answer that differs. The exit code is 1 if decisions differ in a case without cancelled jobs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from batsched_py.cli.shared.batsched_words import serve_words
from batsched_py.errors import BatschedError
from batsched_py.plugins import load
from batsched_py.session.session import Session
from tests.wrench_messages import answers_of


def recorded(folder: Path) -> Iterator[tuple[bytes, bytes]]:
    """Yield each request with its reply."""
    lines = [json.loads(line) for line in (folder / "messages.jsonl").read_text().splitlines()]
    requests = [line["text"].encode() for line in lines if line["dir"].startswith("wrench")]
    replies = [line["text"].encode() for line in lines if not line["dir"].startswith("wrench")]
    yield from zip(requests, replies, strict=False)


def session_of(folder: Path) -> Session:
    """Return a session that decides as the command line of the case says."""
    words = serve_words(json.loads((folder / "command.json").read_text())[1:])
    options = [word for option, word in pairwise(words) if option == "-o"]
    return Session(load(words[2]), dict(option.split("=", 1) for option in options))


def difference(folder: Path) -> str:
    """Describe the first exchange that differs; "" if none does."""
    session = session_of(folder)
    for number, (request, reply) in enumerate(recorded(folder), 1):
        try:
            ours = sorted(_rounded(one) for one in answers_of(session.answer(request)))
        except BatschedError as error:
            return f"{number}: {error}"
        theirs = sorted(_rounded(one) for one in answers_of(reply))
        if ours != theirs:
            return f"{number}: {ours}, recorded {theirs}"
    return ""


def _rounded(answer: str) -> str:
    """Round a date, whose last digits vary."""
    return f"date {float(answer[5:]):.5f}" if answer.startswith("date ") else answer


def main(folders: list[Path]) -> int:
    """Print a line for each case; return the exit code."""
    wrong = 0
    for folder in folders:
        found = difference(folder)
        cancelled = "COMPLETED_KILLED" in (folder / "messages.jsonl").read_text()
        wrong += bool(found) and not cancelled
        sys.stdout.write(f"{folder.name}: {sum(1 for _ in recorded(folder))} exchanges, {found or 'equal'}\n")
    sys.stdout.write(f"{len(folders)} cases, {wrong} differ without a cancelled job\n")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sorted((Path(sys.argv[1]) / "cases").iterdir())))
