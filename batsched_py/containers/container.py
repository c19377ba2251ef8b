"""A running container: its log and its end."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

import docker
import docker.errors
import requests

from batsched_py.errors import EngineError

#: Lines of the log that the error of a container quotes.
LAST_LINES: Final = 3


class EndedError(EngineError):
    """The end of a container; its text says how it ended, with the last lines of its log.

    Attributes:
        code: exit code.
    """

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        super().__init__(text)


class Container:
    """A container, which is started once and followed by a thread."""

    def __init__(self, client: docker.DockerClient, name: str, image: str) -> None:
        self._client, self._name, self._image = client, name, image
        self._over = Event()
        #: The end of the container, or the error that hid it; set before `_over`.
        self._ending: EngineError | None = None
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._follower: Thread | None = None

    def start(self, on_line: Callable[[str], None]) -> None:
        """Start it; `on_line` is called with each line of its log, by another thread. EngineError."""
        with engine_errors(f"a container of {self._image} cannot be started"):
            log = self._client.api.attach(self._name, stdout=True, stderr=True, stream=True, logs=False)
            self._client.api.start(self._name)
        self._follower = Thread(target=self._follow, args=(log, on_line), name="batsim's log", daemon=True)
        self._follower.start()

    @property
    def ending(self) -> EngineError | None:
        """The end of the container, or the error that hides it; None while it runs."""
        return self._ending if self._over.is_set() else None

    @property
    def failed(self) -> bool:
        """True if it has ended, and not by success."""
        return self.ending is not None and getattr(self._ending, "code", None) != 0

    def check(self) -> None:
        """Raise its end, if it has ended."""
        if self.ending is not None:
            raise self.ending

    def wait(self, timeout: float | None) -> bool:
        """Wait for its end, or the engine's loss of it; False if neither comes within `timeout` seconds."""
        return self._over.wait(timeout)

    def join(self, timeout: float) -> None:
        """Wait for the rest of its log, after it was removed."""
        if self._follower is not None:
            self._follower.join(timeout)

    def _follow(self, log: Iterable[bytes], on_line: Callable[[str], None]) -> None:
        try:
            with engine_errors("the container engine lost it"):
                for line in lines(log):
                    self._last.append(line)
                    on_line(line)
                code = self._client.api.wait(self._name, timeout=None)["StatusCode"]
                state = self._client.api.inspect_container(self._name)["State"]
            self._ending = EndedError(code, self._exit_text(code, out_of_memory=bool(state.get("OOMKilled"))))
        except EngineError as error:
            self._ending = error
        finally:
            self._over.set()

    def _exit_text(self, code: int, *, out_of_memory: bool) -> str:
        how = f"exit code {code}{_signal_name(code)}" + (", out of memory" if out_of_memory else "")
        words = " | ".join(line.strip() for line in self._last if line.strip())
        return f"{how}; its last words: {words}" if words else f"{how}; it said nothing"


def lines(log: Iterable[bytes]) -> Iterable[str]:
    """Yield the lines of a stream of pieces, without their ends; the last one may have none."""
    rest = b""
    for piece in log:
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line.decode(errors="replace").rstrip("\r") for line in whole)
    if rest:
        yield rest.decode(errors="replace")


def _signal_name(code: int) -> str:
    """Return " (SIGKILL)" for the exit code of a program that a signal ended; "" for others."""
    try:
        return f" ({signal.Signals(code - 128).name})"
    except ValueError:
        return ""


@contextmanager
def engine_errors(what: str) -> Iterator[None]:
    """Turn errors of an engine, and of the way to it, into EngineErrors of one line that begins with `what`."""
    try:
        yield
    except (docker.errors.DockerException, requests.RequestException, OSError) as error:
        raise EngineError(f"{what}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, docker.errors.APIError) and error.explanation:
        return str(error.explanation)
    return getattr(error, "strerror", None) or str(error)
