"""A run while it goes on, as a few lines for a terminal: what waits, what is busy, how fast it goes, who is next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from rich.console import Console, ConsoleOptions, RenderResult
from rich.progress_bar import ProgressBar
from rich.style import Style
from rich.table import Table
from rich.text import Text

from batsched_py.display import displayed
from batsched_py.model.job import Job
from batsched_py.planning.future.promises import Claim, Shadow, Slot
from batsched_py.reporting.formatting import clock
from batsched_py.reporting.pictures.terminal.bars import vertical_bars
from batsched_py.reporting.pictures.terminal.looks import BUSY, WAITING
from batsched_py.session.session import Session
from batsched_py.simulator.progress import RunStatus
from batsched_py.wording import counted, grouped

#: Columns of a sparkline, which is also how many values a history keeps, and of the bar.
COLUMNS: Final = 32
#: Columns of a terminal from which on there is room for bars.
_WIDE: Final = 76
#: Seconds from which on it is told how long a decision, or Batsim's next message, is being waited for.
PATIENCE: Final = 2.0
_DONE: Final = Style(color="#7aa6da")


class Waiting(Struct, frozen=True):
    """A job that waits, and what its algorithm says of it.

    Attributes:
        job: the first of the queue, or, if nothing is said of it, the first of whom something is said.
        reason: why it is held; "" if that was not said.
        promise: when and where it is to start; None if nothing was promised.
    """

    job: Job
    reason: str
    promise: Slot | Claim | Shadow | None


class Stand(Struct, frozen=True):
    """Where a run stands.

    Attributes:
        now: simulated time, in seconds.
        total: jobs that are known to come or have come; None if nobody knows how many will.
        submitted: jobs submitted; each waits, runs, has ended or was rejected.
        waiting: of them.
        running: of them.
        ended: of them; with the rejected ones if `rejected` is None.
        rejected: of them; None if that is not known.
        hosts: compute hosts.
        busy: those with a job.
        down: those that can take none for another reason.
        first: who is next; None if nobody waits, or it is not known.
    """

    now: float
    total: int | None
    submitted: int
    waiting: int
    running: int
    ended: int
    rejected: int | None
    hosts: int
    busy: int
    down: int
    first: Waiting | None


def stand_of_session(session: Session, total: int | None = None) -> Stand:
    """As our own books say after a decision; of how many jobs they do not know."""
    view, rejected = session.view, len(session.rejections)
    everyone, free = view.all_hosts.bits, view.free.bits
    down = (view.unavailable.bits | view.asleep.bits | view.switching.bits) & everyone
    return Stand(
        now=session.now,
        total=total,
        submitted=session.submitted,
        waiting=len(view.queue),
        running=len(view.running),
        ended=session.ended,
        rejected=rejected,
        hosts=everyone.bit_count(),
        busy=(everyone & ~free & ~down).bit_count(),
        down=down.bit_count(),
        first=_first(session),
    )


def stand_of_simulation(standing: RunStatus) -> Stand:
    """As the simulator's books say, whoever decides."""
    return Stand(
        now=standing.now,
        total=standing.total,
        submitted=standing.submitted,
        waiting=standing.waiting,
        running=standing.running,
        ended=standing.ended,
        rejected=None,
        hosts=standing.hosts,
        busy=standing.computing,
        down=standing.hosts - standing.computing - standing.idle,
        first=None,
    )


def _first(session: Session) -> Waiting | None:
    plan = session.plan
    job = session.view.queue.first()
    if job is None:
        return None
    if job.id not in plan.holds and job.id not in plan.promises and plan.holds:
        job = next(iter(plan.holds.values())).job
    hold = plan.holds.get(job.id)
    return Waiting(job, hold.reason if hold else "", plan.promises.get(job.id))


class History:
    """A quantity over the simulated time from 0 to now, in at most `columns` values, whatever the time.

    Each value stands for a slice of time and is the first that was seen in it, or, once slices were joined in pairs
    because there were too many, the mean of two; where none was seen it is that of the slice before.
    """

    def __init__(self, columns: int = COLUMNS) -> None:
        self._columns = columns
        #: Seconds of a slice; it doubles.
        self._width = 1.0
        self._values: list[float] = []

    def add(self, now: float, value: float) -> None:
        """The quantity is `value` at `now`, which is not before the latest time."""
        while now >= self._columns * self._width:
            self._halve()
        missing = int(now / self._width) + 1 - len(self._values)
        if missing > 0:
            before = self._values[-1] if self._values else value
            self._values += [*[before] * (missing - 1), value]

    @property
    def values(self) -> tuple[float, ...]:
        """From the first slice to the latest."""
        return tuple(self._values)

    def _halve(self) -> None:
        pairs = [self._values[number : number + 2] for number in range(0, len(self._values), 2)]
        self._values = [sum(pair) / len(pair) for pair in pairs]
        self._width *= 2


class Frame(Struct, frozen=True):
    """What is shown at a time.

    Attributes:
        stand: where the run stands.
        queue: how many waited, from the beginning to now.
        busy: the part of the hosts that was busy, likewise.
        messages: requests answered.
        rate: of them in a second, lately.
        deciding: the part of the elapsed time that decisions took.
    """

    stand: Stand
    queue: tuple[float, ...]
    busy: tuple[float, ...]
    messages: int
    rate: float
    deciding: float


class Picture:
    """The frame in a few lines, as wide as the terminal; `elapsed` seconds have passed, and `state` is being done."""

    def __init__(self, title: str, frame: Frame, elapsed: float, state: str) -> None:
        self._title, self._frame, self._elapsed, self._state = title, frame, elapsed, state

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Bars only where there is room for them beside the words."""
        head = Text(f"{displayed(self._title)}  ", "bold", no_wrap=True, overflow="ellipsis")
        head.append(f"{clock(self._elapsed)} elapsed  {self._state}", "not bold")
        head.rstrip()
        yield head
        wide = options.max_width >= _WIDE
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(style="dim", no_wrap=True, min_width=5)
        if wide:
            table.add_column(no_wrap=True, width=COLUMNS)
        table.add_column(no_wrap=True, overflow="ellipsis")
        for label, shown, said in self._rows():
            if wide:
                table.add_row(label, shown, said)
            else:
                table.add_row(label, f"{shown}; {said}" if isinstance(shown, str) else said)
        yield table

    def _rows(self) -> Iterator[tuple[str, str | Text | ProgressBar, str]]:
        """A label, a bar or a figure, and words."""
        frame, stand = self._frame, self._frame.stand
        yield "time", clock(stand.now), _speed(stand.now, self._elapsed)
        yield "jobs", _bar(stand), _jobs(stand)
        yield "busy", _spark(frame.busy, 1.0, BUSY), _hosts(stand)
        yield "queue", _spark(frame.queue, max([1.0, *frame.queue]), WAITING), _queue(stand)
        said = f"{grouped(frame.messages)} decisions; deciding {frame.deciding:.0%}"
        yield "speed", f"{grouped(frame.rate)} decisions/s", said


def next_lines(stand: Stand) -> Text:
    """Who is next and why it waits: two lines, so that what stands below does not jump."""
    lines = _next(stand.first, stand.now) if stand.first is not None else []
    return Text("\n".join([*lines, "", ""][:2]), no_wrap=True, overflow="ellipsis")


def _next(first: Waiting, now: float) -> list[str]:
    job, promise = first.job, first.promise
    why = first.reason or ("waits" if promise is not None else "waits; the algorithm gave no reason")
    lines = [f"next {displayed(job.id)} ({counted(job.size, 'host')}): {displayed(why)}"]
    if promise is not None:
        where = f" on hosts {promise.hosts}" if isinstance(promise, Slot) else ""
        lines.append(f"     promised for {clock(promise.start)}, in {clock(max(promise.start - now, 0.0))}{where}")
    return lines


def _speed(now: float, elapsed: float) -> str:
    return f"{grouped(now / elapsed)} times real time" if elapsed > 0 else ""


def _bar(stand: Stand) -> ProgressBar:
    """What has ended, of all if that is known, or else of what was submitted."""
    done = stand.ended + (stand.rejected or 0)
    total = stand.total if stand.total is not None else stand.submitted
    return ProgressBar(total=max(total, 1), completed=done, width=COLUMNS, complete_style=_DONE, finished_style=_DONE)


def _jobs(stand: Stand) -> str:
    of = f" of {grouped(stand.total)}" if stand.total is not None else ""
    inside = stand.submitted - stand.ended - (stand.rejected or 0)
    rejected = f", {grouped(stand.rejected)} rejected" if stand.rejected else ""
    return f"{grouped(stand.ended)}{of} ended, {grouped(inside)} in{rejected}"


def _hosts(stand: Stand) -> str:
    share = stand.busy / stand.hosts if stand.hosts else 0.0
    down = f", {grouped(stand.down)} down" if stand.down else ""
    return f"{share:.0%}: {grouped(stand.busy)} of {grouped(stand.hosts)} hosts{down}"


def _queue(stand: Stand) -> str:
    return f"{grouped(stand.waiting)} waiting, {grouped(stand.running)} running"


def _spark(values: Sequence[float], top: float, style: Style) -> Text:
    return Text(vertical_bars([min(value, top) for value in values], top, 1)[0], style)
