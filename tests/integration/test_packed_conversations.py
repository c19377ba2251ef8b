"""Recorded conversations of packed jobs, in the dialects of Batsim 4 and 5: what is said then, is said now.

To record them anew after an intended change: python -m tests.integration.test_packed_conversations
"""

from __future__ import annotations

import pytest

import batsched_py
from batsched_py.model.demand import TaskDemand
from batsched_py.model.settings import Settings
from batsched_py.plugins import load
from batsched_py.protocol.dialect import V4, Dialect
from batsched_py.protocol.dialects import V5
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from tests.clone import ROOT
from tests.integration.packed_runs import Specs, machine, packed_workload

FOLDER = ROOT / "tests" / "data" / "packed"
DIALECTS = pytest.mark.parametrize("dialect", [V4, V5], ids=lambda dialect: dialect.name)
#: Jobs that share hosts and GPUs, are spread, are alone, have licences, whole hosts, or can never run.
SPECS: Specs = [
    (0, 3, 5, 9, TaskDemand(gpus=1, share=300), False, 0),
    (0, 2, 7, 9, TaskDemand(cores=2000, gpus=2), False, 1),
    (1, 2, 4, 9, TaskDemand(cores=500), True, 0),
    (1, 1, 3, 9, None, False, 0),
    (2, 4, 6, 9, TaskDemand(cores=4000, memory=500), False, 0),
    (2, 2, 2, 9, TaskDemand(memory=100, others=(("fpga", 1),)), False, 1),
    (3, 1, 9, 4, TaskDemand(cores=1000, exclusive=True), False, 0),
    (4, 1, 5, 9, TaskDemand(gpus=3, share=500, models=("V100", "A100")), False, 0),
    (5, 2, 5, 9, TaskDemand(gpus=5), False, 0),
]
Lines = list[tuple[bytes, bytes]]


def converse(dialect: Dialect) -> Lines:
    """Return the requests and replies of a run."""
    session, lines = Session(load("filler"), {"packing": "gpu_packing"}), Lines()

    def answer(request: bytes) -> bytes:
        reply = session.answer(request)
        lines.append((request, reply))
        return reply

    Simulation(machine(), [packed_workload(SPECS)], Settings(protocol=dialect.name)).run(answer)
    return lines


def recorded(dialect: Dialect) -> Lines:
    """Return the golden conversation."""
    content = (FOLDER / f"{dialect.name}.txt").read_bytes().replace(b"VERSION", batsched_py.__version__.encode())
    said = content.splitlines()
    return list(zip(said[::2], said[1::2], strict=True))


@DIALECTS
def test_a_run_says_what_it_said(dialect: Dialect) -> None:
    """Byte for byte."""
    assert converse(dialect) == recorded(dialect)


@DIALECTS
def test_a_session_that_serves_answers_the_same(dialect: Dialect) -> None:
    """The requests alone determine the replies, whoever sends them."""
    session = Session(load("filler"), {"packing": "gpu_packing"})
    for request, reply in recorded(dialect):
        assert session.answer(request) == reply
        session.check()


@DIALECTS
def test_the_conversation_has_what_it_is_about(dialect: Dialect) -> None:
    """Numbers of GPUs, mappings, and a rejection."""
    replies = b"".join(reply for _, reply in recorded(dialect))
    assert b'"task_gpus":[[0],[0],[0]]' in replies
    assert b'"mapping":' in replies
    assert replies.count(b"REJECT_JOB" if dialect is V4 else b"RejectJobEvent") == 1


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for one in (V4, V5):
        said = b"\n".join(line for pair in converse(one) for line in pair)
        (FOLDER / f"{one.name}.txt").write_bytes(said.replace(batsched_py.__version__.encode(), b"VERSION") + b"\n")
