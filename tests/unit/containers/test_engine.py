"""Finding an engine, and what it and the way to it may fail with; real ones are tried in tests/containers."""

from __future__ import annotations

import socket
from pathlib import Path

import docker.errors
import pytest
import requests

from batsched_py.containers.container import engine_errors
from batsched_py.containers.engine import connected
from batsched_py.errors import EngineError


@pytest.mark.parametrize("address", ["ssh://me@there", "tcp://192.0.2.1:2375", "https://engine.example.org:2376"])
def test_an_engine_on_another_machine_is_refused(address: str) -> None:
    """It would show its own files to Batsim, or none."""
    with (
        pytest.raises(EngineError, match=r"is on another machine, which does not see files of this one$"),
        connected(address),
    ):
        pytest.fail("nobody was asked")


@pytest.mark.parametrize("address", ["tcp://localhost:abc", "tcp://localhost:99999", "tcp://[::1"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    """By what the user wrote, and what is wrong with it."""
    with pytest.raises(EngineError) as caught, connected(address):
        pytest.fail("nobody was asked")
    assert str(caught.value).startswith(f"{address} is not the address of a container engine: ")


@pytest.mark.parametrize("how", ["option", "DOCKER_HOST", "context"])
def test_an_engine_that_is_not_there_is_told_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Wherever that was said."""
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    address = f"unix://{tmp_path}/none.sock"
    if how == "DOCKER_HOST":
        monkeypatch.setenv("DOCKER_HOST", address)
    if how == "context":
        monkeypatch.setattr("batsched_py.containers.engine._of_context", lambda: address)
    with pytest.raises(EngineError) as caught, connected(address if how == "option" else None):
        pytest.fail("nobody is there")
    place = f"no container engine answers at {address} (--docker-host and DOCKER_HOST say where it is)"
    assert str(caught.value) == f"{place}: No such file or directory"


def test_a_port_where_nobody_listens_is_no_engine() -> None:
    """The innermost reason is told, not how it was wrapped."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        with pytest.raises(EngineError, match=r": Connection refused$"), connected(address):
            pytest.fail("nobody is there")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (docker.errors.APIError("500 Server Error", explanation="disk full"), "disk full"),
        (docker.errors.DockerException("Invalid bind address"), "Invalid bind address"),
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (requests.ReadTimeout("read timed out"), "read timed out"),
    ],
)
def test_what_an_engine_fails_with_is_one_line(error: Exception, reason: str) -> None:
    """It begins with the attempt, and ends with the engine's own words."""
    with pytest.raises(EngineError) as caught, engine_errors("image x"):
        raise error
    assert str(caught.value) == f"image x: {reason}"
    assert caught.value.exit_code == 4
