"""The tables that are printed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from tests.benchmarks.curie import Whole
from tests.benchmarks.growth import Growth
from tests.benchmarks.log import Replayed
from tests.benchmarks.recording import Cost
from tests.benchmarks.stored import Burst
from tests.benchmarks.timing import Timing
from tests.benchmarks.wire import Wire


def parts_table(rows: Sequence[tuple[str, Timing, int]]) -> Table:
    """Parts in process."""
    columns = ("us/message", "messages/s", "jobs/s", "x yardstick", "spread")
    table = _table("Parts, in process (CPU time)", "part", *columns)
    for name, timing, jobs in rows:
        jobs_rate = f"{jobs / timing.seconds:,.0f}" if jobs else ""
        table.add_row(name, _short(timing.microseconds), f"{timing.rate:,.0f}", jobs_rate, *_trust(timing))
    return table


def wire_table(wire: Wire) -> Table:
    """Decision processes over ZeroMQ; the ratio is that of CPU time."""
    where = "not pinned" if wire.core is None else f"both ends pinned to core {wire.core}"
    title = f"ZeroMQ over loopback TCP, {where}"
    table = _table(title, "decision process", "its CPU us/message", "wall messages/s", "x yardstick", "spread")
    for name, cpu, wall in wire.rows:
        table.add_row(name, _short(cpu.microseconds), f"{wall.rate:,.0f}", *_trust(cpu))
    return table


def stored_table(jobs: int, rows: Sequence[Burst]) -> Table:
    """A burst of submissions; the first row is what the others are compared with."""
    columns = ("CPU ms", "CPU us/job", f"x {rows[0].place}", "wall ms", f"x {rows[0].place}")
    table = _table(f"Redis: session easy, {jobs:,} submissions in one message", "jobs are", *columns)
    for row in rows:
        cpu, wall = min(row.cpu), min(row.wall)
        ratios = f"{cpu / min(rows[0].cpu):.2f}", f"{wall / min(rows[0].wall):.2f}"
        table.add_row(row.place, _short(cpu * 1e3), _short(cpu / jobs * 1e6), ratios[0], _short(wall * 1e3), ratios[1])
    return table


def whole_table(rows: Sequence[Whole]) -> Table:
    """Runs on a large machine."""
    columns = ("jobs", "hosts", "CPU s", "peak MB", "us/job", "bytes/job", "x yardstick")
    table = _table("Like Curie: simulate -e, a process of its own", "algorithm", *columns)
    for row in rows:
        table.add_row(
            row.algorithm,
            f"{row.jobs:,}",
            f"{row.hosts:,}",
            f"{row.seconds:.1f}",
            f"{row.peak / 1e6:,.0f}",
            _short(row.job_seconds * 1e6),
            f"{row.job_bytes:,.0f}",
            f"{row.ratio:.2f}",
        )
    return table


def recording_table(rows: Sequence[Cost]) -> Table:
    """Return the table of the costs of --record."""
    table = _table("Recording (CPU time)", "run", "us/message", "added", "costs", "bytes/message")
    for row in rows:
        table.add_row(row.name, _short(row.microseconds), _short(row.added), f"{row.share:.1%}", f"{row.size:.0f}")
    return table


def growth_table(algorithm: str, rows: Sequence[Growth]) -> Table:
    """One algorithm, session and simulator in process."""
    columns = ("hosts", "load", "jobs/s", "CPU s", "us/message", "decide", "x yardstick", "spread", "queue", "MB")
    table = _table(f"Growth: {algorithm} + simulator, in process (CPU time)", "jobs", *columns)
    table.columns[0].justify = "right"
    for row in rows:
        timing = row.timing
        table.add_row(
            f"{row.jobs:,}",
            f"{row.hosts:,}",
            f"{row.load}",
            f"{row.jobs / timing.seconds:,.0f}",
            f"{timing.seconds:.2f}",
            _short(timing.microseconds),
            _short(row.deciding / timing.messages * 1e6),
            *_trust(timing),
            f"{row.longest_queue:,}",
            f"{row.peak:.0f}",
        )
    return table


def log_table(name: str, hosts: int, replayed: Replayed) -> Table:
    """A log, phase by phase."""
    timing, jobs = replayed.timing, replayed.jobs
    table = _table(f"{name}, {hosts} hosts, easy, walltime = run", "phase", "seconds", "us/job")
    for phase, seconds in replayed.phases.items():
        table.add_row(phase, f"{seconds:.3f}", _short(seconds / jobs * 1e6))
    table.add_section()
    table.add_row(f"all {jobs:,} jobs", f"{timing.seconds:.3f}", _short(timing.seconds / jobs * 1e6))
    return table


def log_summary(replayed: Replayed) -> str:
    """Return a line with what belongs to no phase."""
    timing = replayed.timing
    ratio, spread = _trust(timing)
    return (
        f"{replayed.jobs / timing.seconds:,.0f} jobs/s, {timing.messages:,} messages, {ratio} x yardstick, "
        f"spread {spread} of {timing.repeats}, longest queue {replayed.longest_queue:,}, peak {replayed.peak:.0f} MB"
    )


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _trust(timing: Timing) -> tuple[str, str]:
    """The ratio to the yardstick, and how far the measurements lie apart; a single one says nothing about that."""
    return f"{timing.ratio:.2f}", f"{timing.spread:.0%}" if timing.repeats > 1 else "-"


def _short(number: float) -> str:
    return f"{number:,.1f}" if number < 100 else f"{number:,.0f}"
