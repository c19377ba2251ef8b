"""What every integration test runs under."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.programs import Served, serving
from tests.redis_server import running


@pytest.fixture(autouse=True)
def ctrl_c_is_heeded() -> Iterator[None]:
    """Tests that run in the background of a shell ignore Ctrl-C, and so would every process they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
