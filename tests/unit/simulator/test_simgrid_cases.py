"""Jobs on platforms of all kinds, as real Batsim 4.2.1 ran them: the same ends, and a refusal where it stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from batsched_py.api import HostSet, NoOptions, Plan, Scheduler, View
from batsched_py.errors import PlatformError
from batsched_py.model.settings import Settings
from batsched_py.runs.simulate import simulate
from tests.clone import ROOT

DATA = ROOT / "tests" / "data" / "simgrid"
#: Name of a scenario -> platform, workload, and when each job ends; without ends, Batsim stops.
CASES: dict[str, Any] = {
    name: case for file in sorted(DATA.glob("*.json")) for name, case in orjson.loads(file.read_bytes()).items()
}
SETTINGS = Settings(network="sharing", compute_sharing=True)


class Placed(Scheduler[NoOptions]):
    """Starts each job when it arrives, on the hosts that it names."""

    name = "placed"
    oversubscribes = True

    def decide(self, view: View, plan: Plan) -> None:
        for job in list(view.queue):
            plan.start(job, HostSet.parse(job.members["hosts"].replace(" ", ",")))


def ends(case: Any, folder: Path) -> dict[str, float]:
    """Return when each job ends here."""
    (folder / "platform.xml").write_text(case["platform"])
    (folder / "workload.json").write_bytes(orjson.dumps(case["workload"]))
    run = simulate(folder / "platform.xml", folder / "workload.json", Placed, settings=SETTINGS)
    return {job.job.id.partition("!")[2]: job.finish for job in run.result.jobs}


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "finish" in case])
def test_jobs_end_as_with_real_batsim(name: str, tmp_path: Path) -> None:
    """To the microsecond, as Batsim writes times."""
    assert ends(CASES[name], tmp_path) == pytest.approx(CASES[name]["finish"], rel=2e-6, abs=2e-6)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "finish" not in case])
def test_a_platform_at_which_batsim_stops_is_refused(name: str, tmp_path: Path) -> None:
    """Before anything runs."""
    with pytest.raises(PlatformError, match=CASES[name]["refused"]):
        ends(CASES[name], tmp_path)
