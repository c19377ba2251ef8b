"""`campaign` with what is in its store: damaged files cost their runs, and no command stops at them."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.campaigns.execution.campaign_runner import read_state, run_missing
from batsched_py.campaigns.execution.run_store import RunStore
from tests.integration.programs import run_here
from tests.studies import STUDY, HereWorkers, planned


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """The file of one of nine runs in the store of `study.toml`, which is empty."""
    plan, store = planned(tmp_path, STUDY), RunStore(tmp_path / "study-results" / "store")
    run_missing(read_state(plan, store), store, HereWorkers(), jobs=False)
    path = next(iter(sorted((store.folder / "runs").glob("*/*.json"))))
    path.write_bytes(b"")
    return path


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("status",), "9 runs: 8 done, 0 failed, 1 missing"),
        (("run", "--dry-run"), "9 runs: 8 done, 0 failed, 1 missing"),
        (("table",), "p: lublin"),
        (("clean",), "removed 1 run and 0 unfinished files"),
        (("clean", "--all"), "removed 9 runs and 0 unfinished files"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_no_command_stops_at_a_damaged_file(
    arguments: tuple[str, ...], told: str, damaged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named in a warning, and its run is missing."""
    command, *options = arguments
    assert run_here(tmp_path, "campaign", command, "study.toml", *options) == 0
    out, err = capsys.readouterr()
    first = err.splitlines()[0]
    assert first.startswith(f"batsched-py: warning: {damaged.relative_to(tmp_path)}: is not a run of a campaign: ")
    assert first.endswith("; its run counts as missing, and will be made again")
    assert told in out
