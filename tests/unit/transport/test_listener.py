"""Where one can listen."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from batsched_py.errors import TransportError
from batsched_py.transport.listener import Listener


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current one: names of sockets are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("tcp://127.0.0.1:*", "tcp://127.0.0.1:"),
        ("tcp://127.0.0.1:0", "tcp://127.0.0.1:"),
        ("tcp://localhost:*", "tcp://127."),
        ("tcp://lo:*", "tcp://127.0.0.1:"),
        ("tcp://*:*", "tcp://0.0.0.0:"),
    ],
)
def test_the_address_is_a_number_and_a_port(address: str, found: str) -> None:
    """Whatever name of this machine or of its interfaces was given."""
    listener = Listener(address)
    assert listener.address.startswith(found)
    assert int(listener.address.rpartition(":")[2]) > 0
    listener.close()


def test_a_file_is_made_and_removed(folder: Path) -> None:
    """Others connect to it meanwhile."""
    listener = Listener("ipc://here")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("here")
    listener.close()
    assert not Path("here").exists()


def test_the_file_of_a_socket_that_was_left_behind_is_replaced(folder: Path) -> None:
    """By a process that was killed, say."""
    with socket.socket(socket.AF_UNIX) as left:
        left.bind("here")
    Listener("ipc://here").close()


def test_a_file_that_is_no_socket_is_left_alone(folder: Path) -> None:
    """It may be somebody's work."""
    Path("here").write_text("precious")
    with pytest.raises(TransportError, match="in use"):
        Listener("ipc://here")
    assert Path("here").read_text() == "precious"


@pytest.mark.parametrize(
    ("address", "rule"),
    [
        ("ipc://", "must be an address like"),
        ("ipc://*", "must be an address like"),
        ("tcp://:28000", "must be an address like"),
        ("tcp://127.0.0.1:http", "must be an address like"),
        ("ipc://not/there", "No such file or directory"),
        ("ipc://" + "x" * 200, "too long"),
        ("tcp://192.0.2.1:28000", "this machine has no such address"),
    ],
)
def test_where_one_cannot_listen_is_one_line(folder: Path, address: str, rule: str) -> None:
    """The address as it was given, and the rule."""
    with pytest.raises(TransportError) as caught:
        Listener(address)
    assert str(caught.value).startswith(f"cannot listen on {address}: ")
    assert rule in str(caught.value)
