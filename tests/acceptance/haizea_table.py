"""Reference table of Haizea (HA-40): 24 runs of its sample for several configurations, whose traces are not ours.

`python -m tests.acceptance.haizea_table FOLDER`, where FOLDER has `withprematureend.lwf`, `withoutprematureend.lwf`,
`inj1.lwf` and `inj2.lwf` of Haizea's own distribution. Each cell is `all-best-effort` in seconds, the mean wait in
seconds, the mean bounded slowdown, and the utilisation of the CPUs, ours beside the original's.

There are two tables. By our rules the youngest leases give way, and only those that are needed (H34, HA-27), so what is
injected has another outcome; without injections nobody gives way, and the two are within 0.5 %. By the original's rules
all cells are the original's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.table import Table

from batsched_py.errors import InputError
from batsched_py.haizea.config import AccountingSettings, HaizeaConfig
from batsched_py.haizea.multi import read_multi
from batsched_py.haizea.run import run
from batsched_py.haizea.sample import multi_sample
from batsched_py.leases.accounting.built_in import BestEffortProbe
from batsched_py.leases.accounting.ledger import Ledger

FILES: Final = ("withprematureend.lwf", "withoutprematureend.lwf", "inj1.lwf", "inj2.lwf")
#: Share by which a cell without injections may be off, by our rules.
NEAR: Final = 0.005
#: Rules of the original in place of ours.
ORIGINAL: Final[Mapping[str, Any]] = {
    "victim_order": "oldest",
    "honour_preemptible": False,
    "drop_unneeded_victims": False,
    "hold_cpu": False,
    "estimates": "original",
    "replan_after_each": True,
    "never_later": False,
}


class Cell(NamedTuple):
    """Figures of one run: seconds, seconds, ratio, share."""

    all_best_effort: float
    wait: float
    slowdown: float
    utilization: float

    def __str__(self) -> str:
        return f"{self.all_best_effort:.0f} / {self.wait:.1f} / {self.slowdown:.3f} / {self.utilization:.3f}"

    def is_near(self, other: Cell) -> bool:
        """Return whether all figures are within NEAR of another's."""
        return all(abs(one - two) <= NEAR * abs(two) for one, two in zip(self, other, strict=True))

    def is_same(self, published: str) -> bool:
        """Return whether all figures are those of a published cell, to its digits."""
        return all(
            abs(one - float(text)) <= 0.5000001 * 10 ** -len(text.partition(".")[2])
            for one, text in zip(self, published.split(), strict=True)
        )


#: Rows of the published table; in each the columns COLUMNS.
_PUBLISHED: Final = {
    "nobackfilling": """39900 4849.6 4.288 .880, 63150 20212 16.70 .685, 63150 20212 16.70 .744,
        153900 62916 52.24 .838, 198450 105209 86.68 .797, 198450 105209 86.68 .815""",
    "backfilling": """36000 2725.9 2.350 .975, 48150 7840 6.335 .843, 54450 12091 9.575 .829,
        132300 47189 38.10 .975, 161550 68976 54.08 .965, 163350 70527 54.63 .984""",
    "backfilling+SR": """36042 2668.8 2.503 .975, 48150 3484 3.300 .782, 48150 4590 4.332 .860,
        132678 48606 41.40 .975, 136134 48794 42.52 .972, 137358 52666 45.35 .989""",
    "backfilling+SR+M": """36166 2668.8 2.507 .973, 48150 2566 3.586 .796, 48150 3280 5.376 .875,
        132616 38451 42.53 .982, 135399 30279 43.90 .982, 139766 27511 46.88 .979""",
}
#: Trace and injection of each column.
COLUMNS: Final = tuple((trace, injected) for trace in FILES[:2] for injected in ("", *FILES[2:]))


def published() -> dict[str, str]:
    """Return the original's cells by the names of configurations."""
    return {
        name_of(profile, *column): cell
        for profile, cells in _PUBLISHED.items()
        for column, cell in zip(COLUMNS, cells.split(","), strict=True)
    }


def read_cell(text: str) -> Cell:
    """Return the figures of a published cell."""
    return Cell(*map(float, text.split()))


def name_of(profile: str, trace: str, injection: str) -> str:
    """Return the name that a configuration has."""
    return f"{profile}_{Path(trace).stem}" + (f"+{Path(injection).stem}" if injection else "")


def cell(ledger: Ledger) -> Cell:
    """Return the figures of a run."""
    accounting = ledger.accounting
    averages = accounting.counters["CPU utilization"].averages()
    assert averages is not None
    last = accounting.run_stats["all-best-effort"]
    figures = (accounting.lease_stats[name] for name in (BestEffortProbe.WAIT, BestEffortProbe.SLOWDOWN))
    wait, slowdown = (fmean(float(value) for value in values.values() if value is not None) for values in figures)
    return Cell(float(last or 0), wait, slowdown, averages[-1])


def cells(folder: Path, rules: Mapping[str, Any]) -> Iterator[tuple[str, Cell]]:
    """Yield the figures of all 24 runs, by the names of their configurations; InputError for files that are wrong."""
    text = multi_sample().replace("rate: 32", "rate: 50").replace("dir: traces", f"dir: {folder.resolve()}")
    with TemporaryDirectory() as place:
        path = Path(place) / "sample_multi.conf"
        path.write_text(text)
        for single, config in read_multi(path).configs():
            yield single.name, cell(run(_with_rules(config, rules), lambda _: None).ledger)


def _with_rules(config: HaizeaConfig, rules: Mapping[str, Any]) -> HaizeaConfig:
    """Return the configuration with these rules, and with figures as the original computes them."""
    accounting: AccountingSettings = replace(config.accounting, stats="original")
    return replace(config, settings=replace(config.settings, **rules), accounting=accounting)


def tables(folder: Path) -> Iterator[tuple[Table, list[str]]]:
    """Yield a table by our rules and one by the original's, each with the cells that are not as they should be."""
    theirs = published()
    for title, rules in (("our rules", {}), ("the original's rules", ORIGINAL)):
        table, wrong = Table("configuration", "the original", "ours", "", title=f"HA-40 by {title}"), list[str]()
        for name, ours in cells(folder, rules):
            told, holds = _judged(name, ours, theirs[name], bool(rules))
            table.add_row(name, str(read_cell(theirs[name])), str(ours), told)
            wrong += [] if holds else [name]
        yield table, wrong


def _judged(name: str, ours: Cell, theirs: str, by_their_rules: bool) -> tuple[str, bool]:
    """Return what is told of a cell, and whether it is as it should be."""
    if ours.is_same(theirs):
        return "equal", True
    if by_their_rules:
        return "DIFFERENT", False
    if "+inj" in name:
        return "other victims (H34)", True
    return ("within 0.5 %", True) if ours.is_near(read_cell(theirs)) else ("FAR", False)


def main(arguments: list[str]) -> int:
    """Print both tables; 1 if a cell is not as it should be, 2 if a file is missing or wrong."""
    folder = Path(arguments[0]) if len(arguments) == 1 else None
    if folder is None or not all((folder / name).is_file() for name in FILES):
        Console(stderr=True).print(f"usage: python -m tests.acceptance.haizea_table FOLDER (with {', '.join(FILES)})")
        return 2
    console, failed = Console(width=150), 0
    try:
        for table, wrong in tables(folder):
            console.print(table)
            console.print(f"{len(_PUBLISHED) * len(COLUMNS) - len(wrong)} as they should be, {len(wrong)} not")
            failed += len(wrong)
    except InputError as error:
        Console(stderr=True).print(f"error: {error}", markup=False, highlight=False, soft_wrap=True)
        return 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
