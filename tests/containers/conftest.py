"""The engine and the images, once for all tests of this folder, which need them; an idle engine costs time."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tests.containers import images
from tests.containers.engine import Engine, running


@pytest.fixture(scope="package")
def engine() -> Iterator[Engine]:
    with running() as engine:
        yield engine


@pytest.fixture(scope="package")
def ours(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """An engine that has our image."""
    images.make_base(engine, tmp_path_factory.mktemp("base"))
    images.make_ours(engine)
    return engine


@pytest.fixture(scope="package")
def with_redis(ours: Engine, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    images.make_redis(ours, tmp_path_factory.mktemp("redis"))
    return ours


@pytest.fixture(scope="package")
def with_batsim(ours: Engine) -> Engine:
    """An engine that has the stand-in for Batsim."""
    images.make_stand_in(ours)
    return ours


@pytest.fixture(autouse=True)
def signals_are_heeded() -> Iterator[None]:
    """Tests that run in the background of a shell, or under nohup, would ignore them, and each process they start."""
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)
    hang_up = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGHUP, hang_up)
