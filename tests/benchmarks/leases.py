"""The cost of a lease as leases become many: whole runs of a Haizea configuration on 64 whole nodes, in process."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from batsched_py.cli.__main__ import GARBAGE
from batsched_py.haizea.reader import read_config
from batsched_py.haizea.run import HaizeaRun, run
from batsched_py.model.lease_terms import NodeSet
from batsched_py.reading.limits import LIMITS
from batsched_py.traces.lease_request import WHOLE_HOST, LeaseRequest, LeaseTrace
from batsched_py.traces.lwf import write_lwf
from tests.benchmarks.growth import peak_megabytes
from tests.benchmarks.timing import Effort, Timing, measure
from tests.benchmarks.yardstick import Yardstick

HOSTS: Final = 64
LOAD: Final = 0.85
SIZES: Final = (1_000, 3_000, 10_000, 30_000, 100_000)
#: Column of the table -> backfilling, policy-preemption and suspension.
CONFIGURATIONS: Final[Mapping[str, tuple[str, str, str]]] = {
    "off, no suspension": ("off", "ar-preempts-everything", "none"),
    "aggressive": ("aggressive", "ar-preempts-everything", "all"),
    "conservative": ("conservative", "ar-preempts-everything", "all"),
}
#: How often leases are of 1, 2, 4, 8, 16 and 32 nodes.
_BEST_EFFORT: Final = (27, 18, 18, 19, 9, 9)
_RESERVED: Final = (28, 18, 18, 18, 18, 0)
#: Leases from which on `conservative`, whose cost grows with its queue, is left out.
_PATIENCE: Final = 30_000

_CONF: Final = """\
[general]
loglevel: STATUS
mode: simulated
lease-preparation: unmanaged

[simulation]
clock: simulated
starttime: 2006-11-25 13:00:00
resources: {hosts} CPU:100 Memory:1024
imagetransfer-bandwidth: 100

[accounting]
probes: ar best-effort immediate cpu-utilization

[scheduling]
backfilling: {backfilling}
policy-preemption: {preemption}
suspension: {suspension}
suspend-rate: 32
resume-rate: 32
migration: no
suspendresume-exclusion: local

[tracefile]
tracefile: leases.lwf
"""


@dataclass(frozen=True, slots=True)
class LeaseGrowth:
    """One run: files read, leases scheduled through messages, and what became of them noted.

    Attributes:
        configuration: its column.
        leases: how many.
        timing: of the run; its messages are the leases.
        longest_queue: most leases that waited at the end of an instant.
        peak: megabytes of memory, the interpreter included.
    """

    configuration: str
    leases: int
    timing: Timing
    longest_queue: int
    peak: float


def measured(most: int) -> Iterator[tuple[str, int]]:
    """Yield configurations with numbers of leases, up to `most`."""
    for name in CONFIGURATIONS:
        for leases in SIZES:
            if leases <= most and (name != "conservative" or leases <= _PATIENCE):
                yield name, leases


def lease_trace(leases: int, seed: int = 1) -> LeaseTrace:
    """Return leases like those of the benchmark of which Haizea's own times are known: the same seed, the same leases.

    A fifth are advance reservations, up to six hours ahead; six in ten end before their time. The load is counted with
    the times that they really take.
    """
    dice, clock = random.Random(seed), 0.0
    requests = list[LeaseRequest]()
    for _ in range(leases):
        reserved = dice.random() < 0.2
        size = (
            2
            ** dice.choices(range(5 if reserved else 6), (28, 18, 18, 18, 18) if reserved else (27, 18, 18, 19, 9, 9))[
                0
            ]
        )
        duration = round(min(max(dice.lognormvariate(7.57, 1.0), 60.0), 21_600.0))
        real = max(1, round(duration * dice.uniform(0.3, 1.0))) if dice.random() < 0.6 else duration
        clock += dice.expovariate(1.0) * size * real / HOSTS / LOAD
        start = round(clock) + dice.randint(600, 21_600) if reserved else None
        nodes = (NodeSet(size, WHOLE_HOST),)
        requests.append(LeaseRequest(round(clock), duration, nodes, start, real=real))
    return LeaseTrace("benchmark", tuple(requests))


def measure_leases(configuration: str, leases: int, effort: Effort) -> LeaseGrowth:
    """One row; to be run in a fresh process, or `peak` is that of another one."""
    backfilling, preemption, suspension = CONFIGURATIONS[configuration]
    gc.set_threshold(GARBAGE)
    noted: list[int] = []
    yardstick = Yardstick()
    with TemporaryDirectory() as folder:
        conf = Path(folder, "leases.conf")
        conf.write_text(
            _CONF.format(hosts=HOSTS, backfilling=backfilling, preemption=preemption, suspension=suspension)
        )
        write_lwf(conf.with_name("leases.lwf"), lease_trace(leases))

        def prepare() -> Callable[[], HaizeaRun]:
            return lambda: run(read_config(conf, LIMITS), lambda _: None)

        def note(ended: HaizeaRun) -> None:
            entries = ended.ledger.accounting.counters["Queue size"].entries
            noted.append(int(max(entry.value for entry in entries)))

        samples = measure(prepare, effort, yardstick, note)
    return LeaseGrowth(configuration, leases, Timing.of(samples, leases, yardstick), max(noted), peak_megabytes())


def markdown(rows: Sequence[LeaseGrowth]) -> Iterator[str]:
    """The lines of the page's table; "x 1 000" is a lease's cost divided by that of one of the smallest run."""
    yield "| configuration | leases | CPU s | ms/lease | x yardstick | x 1 000 | longest queue | MB |"
    yield "|---|---|---|---|---|---|---|---|"
    first: dict[str, float] = {}
    for row in rows:
        ratio = row.timing.ratio
        first.setdefault(row.configuration, ratio)
        cells = (
            row.configuration,
            _spaced(row.leases),
            f"{row.timing.seconds:.1f}",
            f"{row.timing.seconds / row.leases * 1e3:.2f}",
            f"{ratio:.0f}",
            f"{ratio / first[row.configuration]:.1f}",
            _spaced(row.longest_queue),
            f"{row.peak:.0f}",
        )
        yield "| " + " | ".join(cells) + " |"


def _spaced(number: int) -> str:
    return f"{number:,}".replace(",", " ")
