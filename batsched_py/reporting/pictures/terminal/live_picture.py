"""The live view of a run in a terminal: progress, busy hosts, queue, speed, and the next job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict
from rich.console import Console, ConsoleOptions, RenderResult
from rich.progress_bar import ProgressBar
from rich.style import Style
from rich.table import Table
from rich.text import Text

from batsched_py.model.job import Job
from batsched_py.planning.future.promises import Claim, RoomSlot, Shadow, Slot
from batsched_py.reporting.formatting import clock
from batsched_py.reporting.pictures.terminal.canvas import vertical_bars
from batsched_py.reporting.pictures.terminal.looks import BUSY, WAITING
from batsched_py.results.progress import RunStatus
from batsched_py.text.display import displayed
from batsched_py.text.wording import extent, grouped

#: The width of a sparkline, of its history, and of the bar, in columns.
COLUMNS: Final = 32
#: The smallest width of a terminal with room for bars.
_WIDE: Final = 76
#: The shortest wait for a decision, or for Batsim, that the view shows, in seconds.
PATIENCE: Final = 2.0
_DONE: Final = Style(color="#7aa6da")


class NextJob(Struct, frozen=True):
    """The waiting job in the view, and its plan.

    Attributes:
        job: the first job of the queue, or the first with a reason from the algorithm.
        reason: why it is held; "" without a reason.
        promise: its promised start; None without a promise.
    """

    job: Job
    reason: str
    promise: Slot | Claim | Shadow | RoomSlot | None


class LiveStatus(Struct, frozen=True):
    """The counts of a run at an instant.

    Attributes:
        now: simulated time, in seconds.
        total: the number of jobs of the whole run; None if unknown.
        submitted: the number of submitted jobs, which wait, run, have ended or were rejected.
        waiting: the number of waiting jobs.
        running: the number of running jobs.
        ended: the number of ended jobs, including rejected ones if `rejected` is None.
        hosts: the number of compute hosts.
        busy: the number of hosts with a job.
        down: the number of hosts that cannot take a job for another reason.
        rejected: the number of rejected jobs; None if unknown.
        first: the next job; None if no job waits, or if unknown.
    """

    now: float
    total: int | None
    submitted: int
    waiting: int
    running: int
    ended: int
    hosts: int
    busy: int
    down: int
    rejected: int | None = None
    first: NextJob | None = None


def simulation_status(run: RunStatus) -> LiveStatus:
    """Return the status from the state of the simulator, for any decision process."""
    counts = asdict(run)
    busy, idle = counts.pop("computing"), counts.pop("idle")
    return LiveStatus(**counts, busy=busy, down=run.hosts - busy - idle)


class History:
    """A quantity over simulated time from 0 to now, in at most `columns` values.

    Each value is the first one added in its time slice, or that of the slice before if none was added. If there are too
    many slices, pairs are merged to their means.
    """

    def __init__(self, columns: int = COLUMNS) -> None:
        self._columns = columns
        #: The length of a slice in seconds, which doubles at each merge.
        self._width = 1.0
        self._values: list[float] = []

    def add(self, now: float, value: float) -> None:
        """Add the value at `now`, which must not be before the latest time."""
        while now >= self._columns * self._width:
            self._halve()
        missing = int(now / self._width) + 1 - len(self._values)
        if missing > 0:
            before = self._values[-1] if self._values else value
            self._values += [*[before] * (missing - 1), value]

    @property
    def values(self) -> tuple[float, ...]:
        """Return the values from the first slice to the latest."""
        return tuple(self._values)

    def _halve(self) -> None:
        pairs = [self._values[number : number + 2] for number in range(0, len(self._values), 2)]
        self._values = [sum(pair) / len(pair) for pair in pairs]
        self._width *= 2


class LiveFrame(Struct, frozen=True):
    """The content of the view at an instant.

    Attributes:
        status: the counts of the run.
        queue: the history of the number of waiting jobs.
        busy: the history of the share of busy hosts.
        messages: the number of answered requests.
        rate: recent requests per second.
        deciding: the share of the elapsed time that decisions took.
    """

    status: LiveStatus
    queue: tuple[float, ...]
    busy: tuple[float, ...]
    messages: int
    rate: float
    deciding: float


class LivePicture:
    """A frame in a few lines of the terminal's width, after `elapsed` seconds, with the current activity `state`."""

    def __init__(self, title: str, frame: LiveFrame, elapsed: float, state: str) -> None:
        self._title, self._frame, self._elapsed, self._state = title, frame, elapsed, state

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the lines, with bars next to the texts if there is room."""
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
        for label, shown, text in self._rows():
            if wide:
                table.add_row(label, shown, text)
            else:
                table.add_row(label, f"{shown}; {text}" if isinstance(shown, str) else text)
        yield table

    def _rows(self) -> Iterator[tuple[str, str | Text | ProgressBar, str]]:
        """Yield (label, bar or number, text) of each line."""
        frame, status = self._frame, self._frame.status
        yield "time", clock(status.now), _speed(status.now, self._elapsed)
        yield "jobs", _bar(status), _jobs(status)
        yield "busy", _spark(frame.busy, 1.0, BUSY), _hosts(status)
        yield (
            "queue",
            _spark(frame.queue, max([1.0, *frame.queue]), WAITING),
            f"{grouped(status.waiting)} waiting, {grouped(status.running)} running",
        )
        text = f"{grouped(frame.messages)} decisions; deciding {frame.deciding:.0%}"
        yield "speed", f"{grouped(frame.rate)} decisions/s", text


def next_lines(status: LiveStatus) -> Text:
    """Return the next job and the reason for its wait, always in two lines, so that lines below do not move."""
    lines = _next(status.first, status.now) if status.first is not None else []
    return Text("\n".join([*lines, "", ""][:2]), no_wrap=True, overflow="ellipsis")


def _next(first: NextJob, now: float) -> list[str]:
    job, promise = first.job, first.promise
    why = first.reason or ("waits" if promise is not None else "waits; the algorithm gave no reason")
    lines = [f"next {displayed(job.id)} ({extent(job.size, tasks=job.demand is not None)}): {displayed(why)}"]
    if promise is not None:
        where = f" on hosts {promise.hosts}" if isinstance(promise, Slot) else ""
        lines.append(f"     promised for {clock(promise.start)}, in {clock(max(promise.start - now, 0.0))}{where}")
    return lines


def _speed(now: float, elapsed: float) -> str:
    return f"{grouped(now / elapsed)} times real time" if elapsed > 0 else ""


def _bar(status: LiveStatus) -> ProgressBar:
    """Return a bar of the share of ended jobs among all jobs, or among the submitted ones if the total is unknown."""
    done = status.ended + (status.rejected or 0)
    total = status.total if status.total is not None else status.submitted
    return ProgressBar(total=max(total, 1), completed=done, width=COLUMNS, complete_style=_DONE, finished_style=_DONE)


def _jobs(status: LiveStatus) -> str:
    of = f" of {grouped(status.total)}" if status.total is not None else ""
    inside = status.submitted - status.ended - (status.rejected or 0)
    rejected = f", {grouped(status.rejected)} rejected" if status.rejected else ""
    return f"{grouped(status.ended)}{of} ended, {grouped(inside)} in{rejected}"


def _hosts(status: LiveStatus) -> str:
    share = status.busy / status.hosts if status.hosts else 0.0
    down = f", {grouped(status.down)} down" if status.down else ""
    return f"{share:.0%}: {grouped(status.busy)} of {grouped(status.hosts)} hosts{down}"


def _spark(values: Sequence[float], top: float, style: Style) -> Text:
    return Text(vertical_bars([min(value, top) for value in values], top, 1)[0], style)
