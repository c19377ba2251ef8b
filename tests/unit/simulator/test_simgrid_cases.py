"""Jobs on platforms of all kinds, as real Batsim 4.2.1 ran them: the same ends, and a refusal where it stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from batsched_py.errors import BatschedError
from batsched_py.model.settings import Settings
from batsched_py.traces.batsim_json import read_workload
from tests.clone import ROOT
from tests.simgrid_cases import Ending, play

DATA = ROOT / "tests" / "data" / "simgrid"
#: Name of a scenario -> its files, and how its jobs end; see the README there.
CASES: dict[str, Any] = {
    name: case for file in sorted(DATA.glob("*.json")) for name, case in orjson.loads(file.read_bytes()).items()
}


def played(case: Any, folder: Path) -> tuple[Ending, str]:
    """Return how the jobs of a scenario end here."""
    for name, text in case.get("files", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "platform.xml").write_text(case["platform"])
    (folder / "workload.json").write_bytes(orjson.dumps(case["workload"]))
    settings = Settings(network="sharing", compute_sharing=True, energy="joules" in case)
    return play(folder / "platform.xml", [read_workload(folder / "workload.json")], settings)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "finish" in case])
def test_jobs_end_as_with_real_batsim(name: str, tmp_path: Path) -> None:
    """To the microsecond, as Batsim writes times; jobs that it loses are lost, which is told."""
    case = CASES[name]
    ending, why = played(case, tmp_path)
    assert ending.differences(Ending(case["finish"], case.get("states", {}), case.get("joules", {}))) == []
    jobs = [job["id"] for job in case["workload"]["jobs"]]
    assert [job for job in jobs if f"w0!{job}" in why] == [job for job in jobs if job not in case["finish"]]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "finish" not in case])
def test_where_batsim_stops_the_run_is_refused(name: str, tmp_path: Path) -> None:
    """With one line that names the place and the rule."""
    with pytest.raises(BatschedError, match=CASES[name]["refused"]):
        played(CASES[name], tmp_path)
