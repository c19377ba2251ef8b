"""The page of the tables of leases names what is in them."""

from __future__ import annotations

import pytest

from batsched_py.leases.accounting.accounting import Accounting
from batsched_py.leases.accounting.catalogue import HOOKS, PROBES
from batsched_py.results.lease_rows import ImageRow, LeaseRow, ReservationRow
from tests.clone import ROOT

PAGE = (ROOT / "docs" / "lease-tables.md").read_text()


@pytest.mark.parametrize("row", [LeaseRow, ReservationRow, ImageRow])
def test_each_column_is_described(row: type[LeaseRow] | type[ReservationRow] | type[ImageRow]) -> None:
    """In the table of its file."""
    assert [column for column in row._fields if f"`{column}`" not in PAGE] == []


def test_each_probe_is_described() -> None:
    """But for none."""
    assert [name for name in PROBES if name != "none" and f"`{name}`" not in PAGE] == []


def test_the_interface_of_probes_is_described() -> None:
    """The page has the methods that are called and those that a probe calls."""
    calls = [name for name in vars(Accounting) if not name.startswith("_") and name != "close"]
    assert [name for name in (*HOOKS, *calls) if name not in PAGE] == []
