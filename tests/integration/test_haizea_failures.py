"""Runs of Haizea's configurations in which hosts fail and leases are cancelled (H84, H104)."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from tests.unit.haizea.configurations import written

TRACE = """<lease-workload name="two"><lease-requests>
<lease-request arrival="00:00:00"><lease preemptible="true">
<nodes><node-set numnodes="2"><res type="CPU" amount="100"/><res type="Memory" amount="1024"/></node-set></nodes>
<start/><duration time="01:00:00"/><software><none/></software></lease></lease-request>
<lease-request arrival="00:01:00"><lease preemptible="true">
<nodes><node-set numnodes="4"><res type="CPU" amount="100"/><res type="Memory" amount="1024"/></node-set></nodes>
<start/><duration time="00:30:00"/><software><none/></software></lease></lease-request>
</lease-requests></lease-workload>"""


def ended(folder: Path, on_failure: str, event: dict[str, object]) -> tuple[int, list[list[str]]]:
    """Run it; return the exit code, and (lease, state, start, end) of each lease."""
    (folder / "leases.lwf").write_text(TRACE)
    (folder / "events.txt").write_text(json.dumps(event) + "\n")
    conf = written(folder, {"general.lease-failure-handling": on_failure})
    code = run(["haizea", str(conf), "-e", str(folder / "run"), "--events", str(folder / "events.txt")])
    with (folder / "run_leases.csv").open(newline="") as file:
        return code, [[row["lease"], row["state"], row["start_time"], row["end_time"]] for row in csv.DictReader(file)]


LOST = {"timestamp": 600, "type": "machine_unavailable", "resources": "0"}


def test_a_failed_lease_is_given_up(tmp_path: Path) -> None:
    """The run goes on; a lease that needs all hosts waits for the one that is down."""
    back = {"timestamp": 600, "type": "cancel_lease", "lease": 1}
    assert ended(tmp_path, "cancel", back) == (0, [["1", "Cancelled", "0", "600"], ["2", "Done", "600", "2400"]])


@pytest.mark.parametrize(("on_failure", "traced"), [("exit", False), ("exit-raise", True)])
def test_a_failed_lease_ends_the_run(
    tmp_path: Path, on_failure: str, traced: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """With exit code 3 and all data; a traceback if it is wanted."""
    assert ended(tmp_path, on_failure, LOST) == (3, [["1", "Fail", "0", "600"], ["2", "Queued", "", ""]])
    told = capsys.readouterr().err
    assert "the lease of" in told
    assert ("Traceback" in told) is traced
