"""The way of one decision: a reader who follows a message from its bytes to the reply's opens few files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import batsched_py
from batsched_py.plugins import load
from batsched_py.session.session import Session
from tests.builders import begins_data, message, said, submitted_data

OURS = str(Path(batsched_py.__file__).parent) + "/"


def decision(algorithm: str, options: dict[str, str]) -> tuple[Callable[[bytes], bytes], bytes]:
    """A session in the middle of a run on 8 hosts, and the next message.

    In it a job ends whose hosts the head of the queue waits for; a job arrives that has to wait, and a short one that
    fits beside it.
    """
    session = Session(load(algorithm), options)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(8))))
    for data in (submitted_data("1", size=6, walltime=100), submitted_data("2", size=4, walltime=50)):
        session.answer(message(0, ("JOB_SUBMITTED", data)))
    late = [submitted_data("3", size=8, walltime=50, subtime=5), submitted_data("4", size=2, walltime=20, subtime=5)]
    ends = {"job_id": "w0!1", "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "alloc": "0-5"}
    return session.answer, message(5, ("JOB_COMPLETED", ends), *(("JOB_SUBMITTED", data) for data in late))


def traced(answer: Callable[[bytes], bytes], request: bytes) -> tuple[bytes, list[str]]:
    """The reply, and our files with executed functions."""
    files: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            files.setdefault(frame.f_code.co_filename.removeprefix(OURS))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        reply = answer(request)
    finally:
        sys.setprofile(before)
    return reply, list(files)


@pytest.mark.parametrize(
    ("algorithm", "options", "started", "most"),
    [
        ("fcfs", {}, ["w0!2"], 17),
        ("easy", {}, ["w0!2", "w0!4"], 21),
        ("conservative", {"order": "sjf"}, ["w0!4", "w0!2"], 27),
    ],
)
def test_a_decision_is_made_in_few_files(
    algorithm: str, options: dict[str, str], started: list[str], most: int
) -> None:
    """Files of ours whose functions run between a request's bytes and its reply's, in a message that starts jobs."""
    answer, request = decision(algorithm, options)
    reply, files = traced(answer, request)
    assert [data["job_id"] for kind, data in said(reply) if kind == "EXECUTE_JOB"] == started
    assert len(files) <= most, f"{len(files)} files: {', '.join(files)}"
