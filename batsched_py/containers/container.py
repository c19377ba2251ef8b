"""A container that runs: what it says, and how it ends."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable
from threading import Event, Thread
from typing import Final

import docker
import docker.errors
import requests

from batsched_py.errors import EngineError

#: Lines of its log that the error of a container quotes.
LAST_WORDS: Final = 3


class EndedError(EngineError):
    """The container has ended, by itself or otherwise; its text says how, with its last words.

    Attributes:
        code: its exit code.
    """

    def __init__(self, code: int, story: str) -> None:
        self.code = code
        super().__init__(story)


class Container:
    """A container; started once."""

    def __init__(self, client: docker.DockerClient, name: str, image: str) -> None:
        self._client, self._name, self._image = client, name, image
        self._over = Event()
        #: How it ended, or what kept us from knowing; set before `_over`.
        self._ending: EngineError | None = None
        self._last: deque[str] = deque(maxlen=LAST_WORDS)
        self._follower: Thread | None = None

    def start(self, hear: Callable[[str], None]) -> None:
        """Start it; `hear` is called with each line that it says, by another thread. EngineError."""
        try:
            said = self._client.api.attach(self._name, stdout=True, stderr=True, stream=True, logs=False)
            self._client.api.start(self._name)
        except (docker.errors.DockerException, requests.RequestException) as error:
            reason = getattr(error, "explanation", None) or error
            raise EngineError(f"a container of {self._image} cannot be started: {reason}") from error
        self._follower = Thread(target=self._follow, args=(said, hear), name="batsim's log", daemon=True)
        self._follower.start()

    @property
    def ending(self) -> EngineError | None:
        """How it ended, or what keeps us from knowing; None while it runs."""
        return self._ending if self._over.is_set() else None

    @property
    def failed(self) -> bool:
        """True if it has ended otherwise than by success."""
        return self.ending is not None and getattr(self._ending, "code", None) != 0

    def check(self) -> None:
        """Raise its ending, if it has ended."""
        if self.ending is not None:
            raise self.ending

    def wait(self, timeout: float | None) -> bool:
        """Wait for its end; False if it has not come within `timeout` seconds. True, too, if the engine lost it."""
        return self._over.wait(timeout)

    def join(self, timeout: float) -> None:
        """Wait until everything it said was heard, once it was removed."""
        if self._follower is not None:
            self._follower.join(timeout)

    def _follow(self, said: Iterable[bytes], hear: Callable[[str], None]) -> None:
        try:
            for line in lines(said):
                self._last.append(line)
                hear(line)
            code = self._client.api.wait(self._name, timeout=None)["StatusCode"]
            state = self._client.api.inspect_container(self._name)["State"]
            self._ending = EndedError(code, self._story(code, out_of_memory=bool(state.get("OOMKilled"))))
        except (docker.errors.DockerException, requests.RequestException, OSError) as error:
            self._ending = EngineError(f"the container engine lost it: {error}")
        finally:
            self._over.set()

    def _story(self, code: int, *, out_of_memory: bool) -> str:
        how = f"exit code {code}{_signal_name(code)}" + (", out of memory" if out_of_memory else "")
        words = " | ".join(line.strip() for line in self._last if line.strip())
        return f"{how}; its last words: {words}" if words else f"{how}; it said nothing"


def lines(said: Iterable[bytes]) -> Iterable[str]:
    """The lines in a stream of pieces, without their ends; the last one may have none."""
    rest = b""
    for piece in said:
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line.decode(errors="replace").rstrip("\r") for line in whole)
    if rest:
        yield rest.decode(errors="replace")


def _signal_name(code: int) -> str:
    """Of a program that a signal ended, as a shell counts."""
    try:
        return f" ({signal.Signals(code - 128).name})"
    except ValueError:
        return ""
