"""The surroundings of every integration test."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.programs import Served, serving
from tests.redis_server import running


@pytest.fixture(autouse=True)
def signals_are_heeded() -> Iterator[None]:
    """Tests that run in the background of a shell, or under nohup, would ignore them, and each process they start."""
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)
    hang_up = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGHUP, hang_up)


@pytest.fixture
def fcfs(tmp_path: Path) -> Iterator[Served]:
    """A process that decides, and records to run.jsonl."""
    with serving(tmp_path, "-s", "fcfs", "--record", "run.jsonl") as served:
        yield served


@pytest.fixture(scope="session")
def redis_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A Redis for all tests, one after the other; what they left there may be in it."""
    with running(tmp_path_factory.mktemp("redis")) as port:
        yield port
