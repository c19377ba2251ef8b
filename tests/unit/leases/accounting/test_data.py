"""Data files, and their conversion to CSV."""

from __future__ import annotations

import pytest

from batsched_py.leases.accounting.accounting import Accounting
from batsched_py.leases.accounting.catalogue import PROBES, Probes
from batsched_py.leases.accounting.data import (
    RunData,
    counter_names,
    decode_data,
    encode_data,
    per_entry,
    per_lease,
    per_run,
    run_data,
)
from batsched_py.leases.accounting.ledger import Ledger
from batsched_py.leases.accounting.probe import AccountingProbe
from batsched_py.leases.accounting.tables import ledger_tables
from batsched_py.leases.lease import Lease
from batsched_py.leases.preparation.image_transfer import TransferSettings
from batsched_py.model.table import csv_text
from tests.lease_driver import play
from tests.unit.leases.accounting.books import booked, quickstart


class OddOrEven(AccountingProbe):
    """The probe of the manual."""

    STAT = "Odd or even?"

    def __init__(self, accounting: Accounting) -> None:
        super().__init__(accounting)
        accounting.create_lease_stat(self.STAT)

    def at_lease_done(self, lease: Lease) -> None:
        """Look at its number."""
        self.accounting.set_lease_stat(self.STAT, lease.id, "odd" if lease.id % 2 else "even")


def data(ledger: Ledger, **attributes: str) -> RunData:
    """The data of a ledger, as they come back from a file."""
    return decode_data(encode_data(run_data(ledger_tables(ledger), attributes.items())))


def test_a_probe_of_ones_own_adds_a_column_per_lease() -> None:
    """HA-45."""
    makers = (*PROBES["best-effort"].makers, OddOrEven)
    ledger = Ledger(Probes("both", makers))
    ledger.close(play(quickstart(), observer=ledger).now)
    assert csv_text(per_lease([data(ledger)])) == (
        "lease_id,Waiting time,Slowdown,Odd or even?\n1,0,1.517778,odd\n2,,,even\n"
    )


def test_several_files_give_one_header_and_a_row_for_each_run() -> None:
    """HA-46: HA-2, HA-3 and HA-4."""
    runs = [
        data(booked(quickstart(), "ar best-effort"), profile="HA-2"),
        data(booked(quickstart(), "ar best-effort", suspension="none"), profile="HA-3"),
        data(
            booked(
                quickstart(image=("foo.img", 1024.0)), "ar best-effort", transfers=TransferSettings(100.0, "multicast")
            ),
            profile="HA-4",
        ),
    ]
    assert csv_text(per_run(runs)).splitlines() == [
        "profile,Total accepted AR,Total rejected AR,Total best-effort completed,all-best-effort,run-end",
        "HA-2,1,0,1,5464,5464",
        "HA-3,1,0,1,7200,7200",
        "HA-4,1,0,1,5546,5546",
    ]


def test_what_a_run_lacks_is_empty() -> None:
    """Attributes and figures are those of all files."""
    runs = [
        data(booked(quickstart(), "ar"), profile="a", injectfile="i.lwf"),
        data(booked(quickstart(), "best-effort"), profile="b", tracefile="t.lwf"),
    ]
    assert csv_text(per_run(runs)).splitlines() == [
        "profile,injectfile,tracefile,Total accepted AR,Total rejected AR,"
        "Total best-effort completed,all-best-effort,run-end",
        "a,i.lwf,,1,0,,,",
        "b,,t.lwf,,,1,5464,5464",
    ]


def test_a_counter_has_averages_where_it_has_some() -> None:
    """HA-37 for the figures."""
    run = data(booked(quickstart(), "ar cpu-utilization"), profile="p")
    assert counter_names([run]) == ["Accepted AR", "Rejected AR", "CPU utilization"]
    assert csv_text(per_entry([run], "Accepted AR")) == "profile,time,value\np,0,0\np,900,1\np,5464,1\n"
    assert csv_text(per_entry([run], "CPU utilization")).splitlines() == [
        "profile,time,value,average",
        "p,0,0.25,0.25",
        "p,1800,1,0.25",
        "p,3600,0.25,0.625",
        "p,5464,0,0.497072",
    ]


def test_an_unknown_counter_is_told_in_the_originals_words() -> None:
    """H94."""
    with pytest.raises(ValueError, match=r"^The specified datafile does not have a counter called 'Queue size'$"):
        per_entry([data(booked(quickstart(), "ar"))], "Queue size")


def test_the_same_run_gives_the_same_bytes() -> None:
    """Nothing in a file depends on when it was written."""
    first, second = (encode_data(run_data(ledger_tables(booked(quickstart())))) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "holds no data of leases: "),
        (b"\x80\x04\x95", "holds no data of leases: "),
        (b"[" * 100_000, "holds no data of leases: "),
        (b'{"format": "x", "attributes": {}, "stats": {}, "lease_stats": {}}', "missing required field `counters`"),
        (b'{"format": "x", "attributes": {}, "stats": {}, "lease_stats": {}, "counters": {}}', "format: must be"),
        (
            b'{"format": "batsched-py lease data 1", "attributes": {}, "stats": {}, "counters": {},'
            b' "lease_stats": {"Slowdown": {"one": 1}}}',
            "lease_stats.Slowdown: must have numbers of leases, not ",
        ),
        (
            b'{"format": "batsched-py lease data 1", "attributes": {}, "stats": {}, "lease_stats": {},'
            b' "counters": {"Queue size": [[0, null, "many", null]]}}',
            r"Expected `int \| float`, got `str` - at `\$.counters\[...\]\[0\]\[2\]`",
        ),
    ],
)
def test_another_file_is_refused_in_one_line(content: bytes, rule: str) -> None:
    """With what is wrong."""
    with pytest.raises(ValueError, match=rule) as caught:
        decode_data(content)
    assert "\n" not in str(caught.value)
