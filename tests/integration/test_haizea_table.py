"""The script for Haizea's reference table (HA-40), on a small folder of our own in place of Haizea's traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.haizea_table import COLUMNS, FILES, Cell, cells, main, name_of, published, read_cell
from tests.integration.test_ha_configurations import best_effort, reserved


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two traces, one of whose leases ends early, and two injections of one reservation."""
    one = best_effort("00:00:00", 2, "01:00:00"), best_effort("00:00:00", 4, "00:30:00")
    early = one[0].replace("<lease ", '<realduration time="00:30:00"/><lease ', 1)
    contents = {
        "withprematureend.lwf": (early, one[1]),
        "withoutprematureend.lwf": one,
        "inj1.lwf": (reserved("00:10:00", "00:15:00", 4, "00:15:00"),),
        "inj2.lwf": (reserved("00:10:00", "05:00:00", 1, "00:15:00"),),
    }
    for name, requests in contents.items():
        inside = "".join(requests)
        (tmp_path / name).write_text(
            f'<lease-workload name="t"><lease-requests>{inside}</lease-requests></lease-workload>'
        )
    return tmp_path


def test_there_are_24_cells(folder: Path) -> None:
    """Four profiles, two traces, two injections and none; the published table has the same."""
    names = [name for name, _ in cells(folder, {})]
    assert len(names) == 24
    assert set(names) == set(published())
    assert names[0] == name_of("nobackfilling", *COLUMNS[0]) == "nobackfilling_withprematureend"


def test_cells_are_the_figures_of_their_runs(folder: Path) -> None:
    """Two hosts for 1800 s or 3600 s, then all four for 1800 s; with `inj2` the original's end of the run."""
    found = dict(cells(folder, {}))
    assert found["backfilling_withprematureend"] == pytest.approx((3600, 900, (0.5 + 2) / 2, 0.75), abs=1e-6)
    assert found["backfilling_withoutprematureend"] == pytest.approx((5400, 1800, (1 + 3) / 2, 2 / 3), abs=1e-6)
    injected = found["backfilling_withoutprematureend+inj2"]
    assert injected == pytest.approx((18900, 1800, 2, (2 * 3600 + 4 * 1800 + 900) / 4 / 18900), abs=1e-6)
    assert found["backfilling+SR_withoutprematureend+inj1"] != found["backfilling_withoutprematureend+inj1"]


def test_the_table_tells_what_is_not_equal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By both kinds of rules, beside the original's figures; another workload has no cell of the published table."""
    assert main([str(folder)]) == 1
    told = capsys.readouterr().out
    assert told.count("nobackfilling_withprematureend ") == 2
    assert "39900 / 4849.6 / 4.288 / 0.880" in told
    assert "3600 / 900.0 / 1.250 / 0.750" in told
    assert "16 as they should be, 8 not" in told
    assert "0 as they should be, 24 not" in told


def test_figures_are_equal_to_the_digits_that_were_published() -> None:
    """The others are near, or not."""
    theirs = published()["nobackfilling_withprematureend+inj1"]
    assert read_cell(theirs) == Cell(63150, 20212, 16.70, 0.685)
    assert not Cell(36000, 2725.84, 2.350, 0.975).is_same(published()["backfilling_withprematureend"])
    assert Cell(63150, 20212.4, 16.704, 0.6854).is_same(theirs)
    assert not Cell(63150, 20212.4, 16.72, 0.6854).is_same(theirs)
    assert Cell(63150, 20300, 16.72, 0.6854).is_near(read_cell(theirs))
    assert not Cell(63500, 20212, 16.70, 0.685).is_near(read_cell(theirs))


def test_a_folder_without_the_traces_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So is a trace that is wrong."""
    assert main([str(tmp_path)]) == 2
    assert "usage: " in capsys.readouterr().err
    for name in FILES:
        (tmp_path / name).write_text("<oops/>")
    assert main([str(tmp_path)]) == 2
    assert "withprematureend.lwf" in capsys.readouterr().err
