"""A container that runs: its lines, and its ending, whatever the engine does."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from batsched_py.containers.container import Container, EndedError, lines
from batsched_py.errors import EngineError


class FakeEngine:
    """The part of Docker's interface that a container uses; `said` may raise at its end."""

    def __init__(self, *said: bytes | Exception, code: int = 0, out_of_memory: bool = False) -> None:
        self._said, self._code, self._out_of_memory = said, code, out_of_memory
        self.api = self

    def attach(self, name: str, **options: bool) -> Iterator[bytes]:
        for piece in self._said:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    def start(self, name: str) -> None:
        """It runs."""

    def wait(self, name: str, timeout: float | None) -> dict[str, int]:
        return {"StatusCode": self._code}

    def inspect_container(self, name: str) -> dict[str, Any]:
        return {"State": {"OOMKilled": self._out_of_memory}}


def ended(engine: Any) -> tuple[Container, list[str]]:
    """A container that has come to its end, and what was heard of it."""
    heard: list[str] = []
    container = Container(engine, "name", "image")
    assert container.ending is None
    container.check()
    container.start(heard.append)
    assert container.wait(60)
    container.join(60)
    return container, heard


def test_lines_are_whole_however_they_come() -> None:
    """In pieces, with the ends of lines of a terminal, without one at the end, in no encoding."""
    assert list(lines([b"a", b"b\nc\r\n\nd\xff", b"e"])) == ["ab", "c", "", "d\ufffde"]
    assert list(lines([])) == []


def test_success_is_an_ending_too() -> None:
    """A program that waits for a message must know that none will come."""
    container, heard = ended(FakeEngine(b"one\ntwo\n"))
    assert heard == ["one", "two"]
    assert not container.failed
    with pytest.raises(EndedError, match=r"^exit code 0; its last words: one \| two$"):
        container.check()


@pytest.mark.parametrize(
    ("engine", "story"),
    [
        (FakeEngine(code=1), "exit code 1; it said nothing"),
        (FakeEngine(b"1\n2\n\n3\n4\n", code=134), "exit code 134 (SIGABRT); its last words: 3 | 4"),
        (FakeEngine(code=137, out_of_memory=True), "exit code 137 (SIGKILL), out of memory; it said nothing"),
        (FakeEngine(b"a\n", requests.ConnectionError("broken pipe")), "the container engine lost it: broken pipe"),
    ],
)
def test_an_ending_is_told_with_its_last_words(engine: FakeEngine, story: str) -> None:
    """The reason is told as far as the engine knows it; an unknown one is an ending, too."""
    container, _ = ended(engine)
    assert str(container.ending) == story
    assert container.failed


def test_a_container_that_cannot_start_is_told() -> None:
    """With the engine's reason."""

    def refuse(name: str) -> None:
        raise requests.ConnectionError("no space left")

    api = SimpleNamespace(attach=lambda name, **options: iter(()), start=refuse)
    container = Container(SimpleNamespace(api=api), "name", "batsim:4")  # type: ignore[arg-type]
    with pytest.raises(EngineError, match=r"^a container of batsim:4 cannot be started: no space left$"):
        container.start(print)
