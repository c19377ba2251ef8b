"""The live view of `serve` and `simulate` on stderr, redrawn during a run."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from batsched_py.cli.shared.console import Output
from batsched_py.cli.shared.terminal import warn
from batsched_py.reporting.pictures.terminal.live_picture import (
    PATIENCE,
    History,
    LiveFrame,
    LivePicture,
    LiveStatus,
    NextJob,
    next_lines,
    simulation_status,
)
from batsched_py.session.session import Session
from batsched_py.simulator.wire.scheduler_link import AnyExchange, DirectExchange
from batsched_py.text.display import displayed
from batsched_py.transport.connection import Connection

if TYPE_CHECKING:
    from batsched_py.simulator.simulation import Simulation

Request = TypeVar("Request")
Reply = TypeVar("Reply")

#: Drawings of the view per second.
DRAWN: Final = 4
#: Seconds between two readings of the run in `simulate`: the maximum age of the display.
LOOK_EVERY: Final = 0.05
#: Number of first messages after each of which the run is read, so that short runs are also displayed.
_FIRST: Final = 100
#: Seconds over which the rate of messages is averaged.
_LATELY: Final = 3.0


def session_status(session: Session, total: int | None = None) -> LiveStatus:
    """Return the status after a decision, from the state of a session, which does not know `total`."""
    view = session.view
    hosts, free = view.all_hosts.bits, view.free.bits
    down = (view.unavailable.bits | view.asleep.bits | view.switching.bits) & hosts
    return LiveStatus(
        now=session.now,
        total=total,
        submitted=session.submitted,
        waiting=len(view.queue) + len(view.held),
        running=len(view.running),
        ended=session.ended,
        rejected=len(session.rejections),
        hosts=hosts.bit_count(),
        busy=(hosts & ~free & ~down).bit_count(),
        down=down.bit_count(),
        first=_first(session),
    )


def _first(session: Session) -> NextJob | None:
    plan = session.plan
    job = session.view.queue.first()
    if job is None:
        return None
    if job.id not in plan.holds and job.id not in plan.promises and plan.holds:
        job = next(iter(plan.holds.values())).job
    hold = plan.holds.get(job.id)
    return NextJob(job, hold.reason if hold else "", plan.promises.get(job.id))


class Watch:
    """The displayed state of a run, updated between two messages.

    The thread that answers messages reads the run. A thread of rich draws the terminal: it uses only an immutable frame
    and the clock, so that no lock is needed.

    Args:
        title: heading of the view.
        idle: the other side's work between two decisions.
        look_every: seconds between two readings; 0 for one after each message.
    """

    def __init__(self, title: str, idle: str, *, look_every: float = 0.0) -> None:
        self._title, self._idle, self._look_every = title, idle, look_every
        self._clock = time.perf_counter
        self._begun = self._since = self._clock()
        self._due = self._begun
        self._deciding = False
        self._spent = 0.0
        self._messages = 0
        #: Time of the end; None before.
        self._ended: float | None = None
        self._queue, self._busy = History(), History()
        #: (time of a reading, number of messages until then), over some seconds.
        self._rates = deque([(self._begun, 0)])
        self._take: Callable[[], LiveStatus] | None = None
        self._frame: LiveFrame | None = None

    def follow(self, take: Callable[[], LiveStatus]) -> None:
        """Read the state of the run with `take` from now on."""
        self._take = take

    def exchange(self, exchange: AnyExchange) -> AnyExchange:
        """Return the exchange with a reading after each answer."""
        if isinstance(exchange, DirectExchange):
            return DirectExchange(self._watched(exchange.answer), self._watched(exchange.answer_unwritten))
        return self._watched(exchange)

    def _watched(self, answer: Callable[[Request], Reply]) -> Callable[[Request], Reply]:
        def watched(request: Request) -> Reply:
            self.asked()
            reply = answer(request)
            self.answered()
            return reply

        return watched

    def asked(self) -> None:
        """Record the beginning of a decision."""
        self._since = self._clock()
        self._deciding = True

    def answered(self) -> None:
        """Record the end of a decision, and read the run if a reading is due."""
        now = self._clock()
        self._spent += now - self._since
        self._since, self._deciding = now, False
        self._messages += 1
        if now >= self._due or self._messages <= _FIRST:
            self.look()

    def look(self) -> None:
        """Read the state of the run."""
        if self._take is None:
            return
        now, status = self._clock(), self._take()
        self._due = now + self._look_every
        self._queue.add(status.now, status.waiting)
        self._busy.add(status.now, status.busy / status.hosts if status.hosts else 0.0)
        if now - self._rates[-1][0] >= _LATELY / 10:
            self._rates.append((now, self._messages))
            while now - self._rates[0][0] > _LATELY:
                self._rates.popleft()
        since, messages = self._rates[0]
        rate = (self._messages - messages) / (now - since) if now > since else 0.0
        deciding = self._spent / (now - self._begun) if now > self._begun else 0.0
        self._frame = LiveFrame(status, self._queue.values, self._busy.values, self._messages, rate, deciding)

    def end(self) -> None:
        """Record the end of the run."""
        self._ended = self._clock()
        self.look()

    def draw(self) -> RenderableType:
        """Draw the view."""
        now, frame = self._ended or self._clock(), self._frame
        waited = now - self._since
        state = "" if self._ended else "deciding" if self._deciding else self._idle
        doing = f"{state}, for {waited:.0f} s" if state and waited >= PATIENCE else state
        if frame is None:
            return Text(f"{displayed(self._title)}  {doing}")
        return Group(LivePicture(self._title, frame, now - self._begun, doing), next_lines(frame.status))


class WatchedConnection:
    """A connection to Batsim, with a reading before each wait for it."""

    def __init__(self, connection: Connection, watch: Watch) -> None:
        self._connection, self._watch = connection, watch

    def receive(self, timeout: float | None = None) -> bytes:
        """Wait for the next request."""
        request = self._connection.receive(timeout)
        self._watch.asked()
        return request

    def send(self, reply: bytes) -> None:
        """Send the reply."""
        self._connection.send(reply)
        self._watch.answered()


@contextmanager
def live_view(watch: Watch) -> Iterator[bool]:
    """Draw the view of a watch during the context; yield False, after a warning, if stderr is not a terminal.

    The last drawing remains after any end of the run. Lines written to stderr during the run, and to stdout if it is
    also a terminal, appear above it.
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
def watched_simulation(
    title: str, simulation: Simulation, session: Session | None, exchange: AnyExchange
) -> Iterator[AnyExchange]:
    """Yield the exchange, with a live view of the simulation.

    A local session, if any, provides the data: it knows the reasons of waiting jobs, unlike the simulation.
    """
    watch = Watch(title, "simulating", look_every=LOOK_EVERY)
    if session is None:
        watch.follow(lambda: simulation_status(simulation.status()))
    else:
        watch.follow(lambda: session_status(session, simulation.job_count))
    with live_view(watch) as shown:
        yield watch.exchange(exchange) if shown else exchange


@contextmanager
def watched_session(session: Session, name: str, connection: Connection) -> Iterator[Connection]:
    """Yield the connection, with a live view of the session that answers its messages."""
    watch = Watch(name, "waiting for Batsim")
    watch.follow(lambda: session_status(session))
    with live_view(watch) as shown:
        yield WatchedConnection(connection, watch) if shown else connection
