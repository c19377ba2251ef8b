"""The live view of `serve` and `simulate`: a few lines on stderr, drawn anew while a run goes on."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from batsched_py.cli.shared.console import Output
from batsched_py.cli.shared.terminal import warn
from batsched_py.display import displayed
from batsched_py.reporting.pictures.terminal.live import (
    PATIENCE,
    Frame,
    History,
    Picture,
    Stand,
    next_lines,
    stand_of_session,
)
from batsched_py.session.session import Session
from batsched_py.simulator.wire.scheduler_link import Exchange
from batsched_py.transport.connection import Connection

#: How often the view is drawn, in a second.
DRAWN: Final = 4
#: Seconds from one look at the run to the next, in `simulate`: what is drawn is at most so old.
LOOK_EVERY: Final = 0.05
#: Messages after each of which there is a look, however fast they come: a short run is seen as it is.
_FIRST: Final = 100
#: Seconds over which the rate of messages is a mean.
_LATELY: Final = 3.0


class Watch:
    """Looks at a run between two messages, and keeps what is drawn.

    What it looks at is read by whoever answers messages. The terminal is drawn by a thread of rich's, which sees one
    immutable frame and the clock, and nothing of the run.

    Args:
        title: what the view is called.
        idle: what the other side does while nobody decides.
        look_every: seconds between two looks; 0 looks after each message.
    """

    def __init__(self, title: str, idle: str, *, look_every: float = 0.0) -> None:
        self._title, self._idle, self._look_every = title, idle, look_every
        self._clock = time.perf_counter
        self._begun = self._since = self._clock()
        self._due = self._begun
        self._deciding = False
        self._spent = 0.0
        self._messages = 0
        #: When all was over; None before.
        self._ended: float | None = None
        self._queue, self._busy = History(), History()
        #: (time of a look, messages until then), over some seconds.
        self._rates = deque([(self._begun, 0)])
        self._take: Callable[[], Stand] | None = None
        self._frame: Frame | None = None

    def follow(self, take: Callable[[], Stand]) -> None:
        """Take from `take`, from now on, where the run stands."""
        self._take = take

    def exchange(self, answer: Exchange) -> Exchange:
        """The same exchange, watched."""

        def watched(request: bytes) -> bytes:
            self.asked()
            reply = answer(request)
            self.answered()
            return reply

        return watched

    def asked(self) -> None:
        """A decision begins."""
        self._since = self._clock()
        self._deciding = True

    def answered(self) -> None:
        """A decision was made; time to look, perhaps."""
        now = self._clock()
        self._spent += now - self._since
        self._since, self._deciding = now, False
        self._messages += 1
        if now >= self._due or self._messages <= _FIRST:
            self.look()

    def look(self) -> None:
        """Keep where the run stands now."""
        if self._take is None:
            return
        now, stand = self._clock(), self._take()
        self._due = now + self._look_every
        self._queue.add(stand.now, stand.waiting)
        self._busy.add(stand.now, stand.busy / stand.hosts if stand.hosts else 0.0)
        if now - self._rates[-1][0] >= _LATELY / 10:
            self._rates.append((now, self._messages))
            while now - self._rates[0][0] > _LATELY:
                self._rates.popleft()
        since, messages = self._rates[0]
        rate = (self._messages - messages) / (now - since) if now > since else 0.0
        deciding = self._spent / (now - self._begun) if now > self._begun else 0.0
        self._frame = Frame(stand, self._queue.values, self._busy.values, self._messages, rate, deciding)

    def end(self) -> None:
        """The run is over; nothing is waited for any more."""
        self._ended = self._clock()
        self.look()

    def draw(self) -> RenderableType:
        """Return what the terminal shows."""
        now, frame = self._ended or self._clock(), self._frame
        waited = now - self._since
        state = "" if self._ended else "deciding" if self._deciding else self._idle
        doing = f"{state}, for {waited:.0f} s" if state and waited >= PATIENCE else state
        if frame is None:
            return Text(f"{displayed(self._title)}  {doing}")
        return Group(Picture(self._title, frame, now - self._begun, doing), next_lines(frame.stand))


class WatchedConnection:
    """Batsim's end, with a look before each wait for it."""

    def __init__(self, connection: Connection, watch: Watch) -> None:
        self._connection, self._watch = connection, watch

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for the next request."""
        request = self._connection.receive(timeout)
        self._watch.asked()
        return request

    def send(self, reply: bytes) -> None:
        """Answer it."""
        self._connection.send(reply)
        self._watch.answered()


@contextmanager
def live_view(watch: Watch) -> Iterator[bool]:
    """Draws what the watch sees, as long as it lasts; yields False, after a line that says so, if nobody can see it.

    What it drew last stays, whatever ends the run, and the terminal is as it was. Lines that are written to stderr
    meanwhile, and to stdout if that is a terminal too, stand above it.
    """
    console = Output(stderr=True)
    if not console.is_interactive:
        warn("--live: stderr is not a terminal; nothing is shown")
        yield False
        return
    live = Live(
        console=console,
        get_renderable=watch.draw,
        refresh_per_second=DRAWN,
        redirect_stdout=sys.stdout.isatty(),
    )
    with live:
        try:
            yield True
        finally:
            watch.end()


@contextmanager
def watched_session(session: Session, name: str, connection: Connection) -> Iterator[Connection]:
    """The connection, with a live view of the session that answers what comes through it."""
    watch = Watch(name, "waiting for Batsim")
    watch.follow(lambda: stand_of_session(session))
    with live_view(watch) as shown:
        yield WatchedConnection(connection, watch) if shown else connection
