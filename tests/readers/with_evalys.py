"""`python with_evalys.py PREFIX FOLDER`: read the files of a run with evalys, draw, and print as JSON what it found.

Runs in an environment of its own. A trace that was not written is not read.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
warnings.simplefilter("ignore")  # of evalys, and of what it imports

from evalys import metrics, utils, visu  # noqa: E402 - after the choice of what draws
from evalys.jobset import JobSet  # noqa: E402
from evalys.mstates import MachineStatesChanges  # noqa: E402
from evalys.pstates import PowerStatesChanges  # noqa: E402
from evalys.visu import legacy  # noqa: E402
from matplotlib import pyplot as plt  # noqa: E402


def pictures_of_jobs(jobs: Any) -> Mapping[str, Callable[[], object]]:
    """Name -> what draws it. Not `plot_details`, which fails in evalys for every file."""
    return {
        "plot": jobs.plot,
        "plot_with_details": lambda: jobs.plot(with_details=True, normalize=True, time_scale=True),
        "gantt": jobs.gantt,
        "gantt_time_scale": lambda: jobs.gantt(time_scale=True),
        "lifecycle": lambda: visu.plot_lifecycle(jobs),
        "queue": lambda: visu.plot_series(jobs, name="queue", legend_label="queue"),
        "utilization": lambda: visu.plot_series(jobs, name="utilization", legend_label="utilization"),
        "diff_gantt": lambda: visu.plot_diff_gantt({"a": jobs, "b": jobs}),
        "legacy_gantt": lambda: legacy.plot_gantt(jobs),
        "legacy_series": lambda: legacy.plot_series("waiting_time", {"a": jobs}),
        "legacy_shape": lambda: legacy.plot_gantt_general_shape({"a": jobs}),
        "legacy_details": lambda: legacy.plot_job_details(jobs.df, jobs.MaxProcs),
    }


def main(prefix: str, folder: Path) -> None:
    """Read, draw and print."""
    jobs = JobSet.from_csv(f"{prefix}_jobs.csv")
    pictures = dict(pictures_of_jobs(jobs))
    found: dict[str, Any] = {
        "jobs": len(jobs.df),
        "bounds": [jobs.res_bounds[0], jobs.res_bounds[1]],
        "mean_utilisation": jobs.mean_utilisation(),
        "longest_queue": float(jobs.queue.load.max()),
        "busiest": int(jobs.detailed_utilisation().total.max()),
        "free_slots": len(jobs.free_slots()),
        "waiting": float(metrics.cumulative_waiting_time(jobs.df).max()),
        "cut": sum(len(part) for part in utils.cut_workload(jobs.df, 0, jobs.df.finish_time.max()).values()),
    }
    jobs.to_csv(f"{folder}/evalys_jobs.csv")
    if Path(f"{prefix}_machine_states.csv").exists():
        states = MachineStatesChanges(f"{prefix}_machine_states.csv").df
        pictures["mstates"] = lambda: legacy.plot_mstates(states)
        found["hosts_in_states"] = sorted(set(states["total"].tolist()))
    if Path(f"{prefix}_pstate_changes.csv").exists():
        pstates = PowerStatesChanges(f"{prefix}_pstate_changes.csv")
        kinds = {"off_pstates": {2, 3}, "son_pstates": {-1}, "soff_pstates": {-2}}
        pictures["gantt_pstates"] = lambda: legacy.plot_gantt_pstates(jobs, pstates, plt.gca(), "pstates", **kinds)
        found["pstates"] = sorted(set(pstates.pseudo_jobs["pstate"].tolist()))
    for name, draw in pictures.items():
        draw()
        plt.savefig(folder / f"{name}.png")
        plt.close("all")
    sys.stdout.write(json.dumps({**found, "pictures": sorted(pictures)}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
