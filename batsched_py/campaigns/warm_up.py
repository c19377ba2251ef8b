"""The warm-up of the runs of a study: how much is cut, the same for all algorithms on a workload.

Runs begin with an empty machine, so that the first jobs wait less than later ones. All algorithms must be measured on
the same jobs, so that the cut of a workload is the latest of those found for its runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from batsched_py.campaigns.study import Study, WarmUp
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reporting.metrics.warm_up import after_jobs
from batsched_py.reporting.schedules.time_text import parse_span
from batsched_py.reporting.schedules.time_window import WindowChoice
from batsched_py.runs.inputs import WorkloadLike, as_workload
from batsched_py.text.wording import counted

_JOBS: Final = re.compile(r"(\d{1,12}) ?jobs?")
_RULE: Final = "must be auto, a number of jobs like 500jobs, or a time like 2d"


class WarmUpChoice(Struct, frozen=True):
    """The beginning of each run that is not measured.

    Attributes:
        jobs: so many jobs; None to find the end of the warm-up in the runs.
    """

    jobs: int | None = None


def parse_warm_up(text: str) -> WarmUpChoice | WindowChoice:
    """Return the choice for "auto" or "500jobs", or the window for a time like "2d". ValueError names the rule."""
    if text.strip() == "auto":
        return WarmUpChoice()
    found = _JOBS.fullmatch(text.strip())
    return WindowChoice(skip=parse_span(text, _RULE)) if found is None else WarmUpChoice(int(found[1]))


def windows_after_jobs(workloads: Mapping[str, WorkloadLike], jobs: int, limits: Limits = LIMITS) -> WarmUp:
    """Return the cut after so many jobs of each workload; jobs submitted at the same time as the next one are kept.

    OptionError if a workload has no more jobs.
    """
    begins = {}
    for name, source in workloads.items():
        begins[name] = after_jobs(name, as_workload(source, limits).submissions(), jobs).begin
    return WarmUp(rule_of(jobs), begins)


def rule_of(jobs: int) -> str:
    """Return the rule of a warm-up of so many jobs, in words."""
    return f"the first {counted(jobs, 'job')} of each workload"


def windows_found(study: Study, runs_of: Mapping[str, tuple[str, ...]]) -> WarmUp:
    """Return the cuts that the runs of a study show: for each workload the latest of its runs.

    `runs_of` are the names that each workload has in the study, one for each seed of the algorithms. Runs that failed
    show nothing.
    """
    ends = {
        name: [one.warm_up for one in study.outcomes if one.workload in runs and one.warm_up is not None]
        for name, runs in runs_of.items()
    }
    begins = {name: max((end.begin for end in found), default=0.0) for name, found in ends.items()}
    unsteady = tuple(name for name, found in ends.items() if not all(end.steady for end in found))
    return WarmUp("until the waits settle, by MSER-5", begins, unsteady)
