"""Data files: what is written is read again, and becomes tables; what is none is refused with one line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from batsched_py.errors import InputError
from batsched_py.haizea.data import RunData, counter_table, lease_table, read_data, run_table, write_data
from batsched_py.leases.accounting.ledger import Ledger
from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.model.table import csv_text
from batsched_py.reading.limits import Limits
from tests.unit.leases.accounting.books import booked, quickstart


def kept(ledger: Ledger, path: Path, attributes: Mapping[str, str] | None = None) -> RunData:
    """The data of a run, written and read again."""
    write_data(path, ledger.accounting, attributes or {})
    return read_data(path)


def test_a_file_has_the_figures_the_counters_and_the_attributes_of_its_run(tmp_path: Path) -> None:
    """HA-2, in a folder that is made for it."""
    data = kept(booked(quickstart()), tmp_path / "deep" / "er" / "run.dat", {"profile": "a+b"})
    assert data.attributes == {"profile": "a+b"}
    assert data.run["Total accepted AR"] == 1
    assert data.leases["Slowdown"] == {1: pytest.approx(1.517778, abs=1e-6)}
    assert data.counters["Accepted AR"].entries == [(0, None, 0), (900, 2, 1), (5464, None, 1)]


def test_per_run_there_is_a_header_and_a_row_for_each_file(tmp_path: Path) -> None:
    """HA-46: HA-2, HA-3 and HA-4."""
    disk = {"image": ("foobar.img", 1024)}
    ledgers = [
        booked(quickstart(), "ar best-effort"),
        booked(quickstart(), "ar best-effort", suspension="none"),
        booked(quickstart(**disk), "ar best-effort", transfers=TransferSettings(mechanism="multicast")),
    ]
    runs = [
        kept(ledger, tmp_path / f"{number}.dat", {"profile": f"p{number}"}) for number, ledger in enumerate(ledgers)
    ]
    header = "profile,Total accepted AR,Total rejected AR,Total best-effort completed,all-best-effort,run-end"
    assert csv_text(run_table(runs)).splitlines() == [
        header, "p0,1,0,1,5464,5464", "p1,1,0,1,7200,7200", "p2,1,0,1,5546,5546",
    ]  # fmt: skip


def test_runs_with_other_attributes_and_figures_share_a_table(tmp_path: Path) -> None:
    """Missing ones are blank."""
    runs = [
        kept(booked(quickstart(), "ar"), tmp_path / "a", {"profile": "p"}),
        kept(booked(quickstart(), "immediate"), tmp_path / "b", {"tracefile": "t"}),
    ]
    assert csv_text(run_table(runs)).splitlines() == [
        "profile,tracefile,Total accepted AR,Total rejected AR,Total accepted Immediate,Total rejected Immediate",
        "p,,1,0,,",
        ",t,,,0,0",
    ]


def test_per_lease_there_is_a_row_for_each_that_has_a_figure(tmp_path: Path) -> None:
    """HA-45: the manual's own probe beside the built-in one."""
    ledger = booked(quickstart(), "best-effort")
    for number, text in ((1, "odd"), (2, "even")):
        ledger.accounting.lease_stats.setdefault("Odd or even?", {})[number] = text
    assert csv_text(lease_table([kept(ledger, tmp_path / "x")])).splitlines() == [
        "lease_id,Waiting time,Slowdown,Odd or even?", "1,0,1.517778,odd", "2,,,even",
    ]  # fmt: skip


def test_a_counter_has_its_average_if_there_is_one(tmp_path: Path) -> None:
    """HA-37: the utilisation of HA-2, and a counter without averages."""
    data = kept(booked(quickstart()), tmp_path / "x", {"profile": "p"})
    assert csv_text(counter_table([data], "CPU utilization")).splitlines() == [
        "profile,time,value,average", "p,0,0.25,0.25", "p,1800,1,0.25", "p,3600,0.25,0.625", "p,5464,0,0.497072",
    ]  # fmt: skip
    assert csv_text(counter_table([data], "Accepted AR")).splitlines() == [
        "profile,time,value", "p,0,0", "p,900,1", "p,5464,1",
    ]  # fmt: skip
    with pytest.raises(KeyError):
        counter_table([data], "accepted ar")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "is not a data file: "),
        (b"\x80\x02}q\x00.", "is not a data file: "),
        (b"[" * 100_000, "is not a data file: "),
        (b'{"attributes": {}, "run": {}, "leases": {}}', "missing required field `counters`"),
        (b'{"attributes": {}, "run": {"x": []}, "leases": {}, "counters": {}}', "at `$.run[...]`"),
        (b'{"attributes": {}, "run": {}, "leases": {"x": {"y": 1}}, "counters": {}}', "at `key` in `$.leases[...]`"),
        *(
            (
                b'{"attributes": {}, "run": {}, "leases": {}, "counters": {"N": {"average": "normal", "entries": %s}}}'
                % entries,
                "counters.N: must have entries from 0 on, in order of time, one for each instant",
            )
            for entries in (
                b"[]",
                b"[[1, null, 0]]",
                b"[[0, null, 0], [0, 1, 1]]",
                b"[[0, 1, 0], [9, 1, 1], [5, 1, 2]]",
            )
        ),
    ],
)
def test_what_is_no_data_file_is_refused_with_one_line(tmp_path: Path, content: bytes, line: str) -> None:
    """Haizea's own, which are pickled, are not loaded."""
    path = tmp_path / "run.dat"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_data(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_absent_or_too_large_is_refused(tmp_path: Path) -> None:
    """Named, too."""
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_data(tmp_path / "none")
    (tmp_path / "large").write_bytes(b" " * 101)
    with pytest.raises(InputError, match="must be at most 100 bytes"):
        read_data(tmp_path / "large", Limits(file_size=100))
