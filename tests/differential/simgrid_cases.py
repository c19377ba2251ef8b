"""`python -m tests.differential.simgrid_cases FOLDER [BEGIN...]`: compare recorded scenarios with the simulator.

Each folder in FOLDER has platform.xml, workload.json, the files that these name, run.json (`exit`, `options`,
`never_ended`) and, if Batsim ended well, out_jobs.csv. Jobs are placed as they say: see `tests.simgrid_cases`. With
BEGIN, only folders whose names begin so.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from batsched_py.errors import BatschedError
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.protocol.events import COMPLETED_SUCCESSFULLY
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.text.display import displayed
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.dax import read_workflow
from tests.simgrid_cases import Ending, Placed, play


def main(arguments: Sequence[str]) -> int:
    """Print a line for each scenario and the totals; return 1 if one differs, or runs although Batsim stopped."""
    if not arguments or not Path(arguments[0]).is_dir():
        sys.stderr.write("usage: python -m tests.differential.simgrid_cases FOLDER [BEGIN...]\n")
        return 2
    totals = Counter[str]()
    for folder in _folders(Path(arguments[0]), tuple(arguments[1:])):
        verdict, lines = compare(folder)
        totals[verdict] += 1
        sys.stdout.write(f"{displayed(': '.join([folder.name, verdict, *lines]))}\n")
    sys.stdout.write(", ".join(f"{verdict} {count}" for verdict, count in sorted(totals.items())) + "\n")
    return int(bool(totals["different"] or totals["Batsim stops"]))


def compare(folder: Path) -> tuple[str, list[str]]:
    """Return the verdict on a scenario, and lines on it."""
    run: Mapping[str, Any] = orjson.loads((folder / "run.json").read_bytes())
    settings, workflows = _settings(folder, run["options"])
    if settings is None:
        return "not run", [f"needs {' '.join(run['options'])}"]
    try:
        workloads = workflows or [read_workload(folder / "workload.json")]
        ending, why = play(folder / "platform.xml", workloads, settings, Fcfs if workflows else Placed)
    except BatschedError as error:
        return ("both stop" if run["exit"] else "refused"), [str(error)]
    if run["exit"]:
        return "Batsim stops", [str(run.get("message", ""))]
    lines = ending.differences(_recorded(folder / "out_jobs.csv", energy=settings.energy))
    return ("different", lines) if lines else ("equal", [why] if why else [])


def _folders(top: Path, begins: tuple[str, ...]) -> Iterator[Path]:
    for folder in sorted(top.iterdir()):
        if (folder / "run.json").exists() and folder.name.startswith(begins or ""):
            yield folder


def _settings(folder: Path, options: Sequence[str]) -> tuple[Settings | None, list[Workload]]:
    """Return the settings of a run and its workflows; no settings if the simulator has none of its options here."""
    sharing = energy = False
    config: list[tuple[str, str]] = []
    workflows: list[Workload] = []
    rest = iter(options)
    for option in rest:
        if option == "--sg-cfg":
            item, _, value = next(rest).partition(":")
            config.append((item, value))
        elif option in ("-W", "--WS"):
            workflows.append(read_workflow(folder / next(rest), float(next(rest)) if option == "--WS" else None))
        elif option not in ("--enable-compute-sharing", "-E"):
            return None, []
        sharing, energy = sharing or option == "--enable-compute-sharing", energy or option == "-E"
    settings = Settings(network="sharing", simgrid_config=tuple(config), compute_sharing=sharing, energy=energy)
    return settings, workflows


def _recorded(jobs: Path, *, energy: bool) -> Ending:
    with jobs.open(newline="") as file:
        rows = list(csv.DictReader(file))
    states = {row["job_id"]: row["final_state"] for row in rows if row["final_state"] != COMPLETED_SUCCESSFULLY}
    joules = {row["job_id"]: float(row["consumed_energy"]) for row in rows} if energy else {}
    return Ending({row["job_id"]: float(row["finish_time"]) for row in rows}, states, joules)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
