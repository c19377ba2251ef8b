"""Dependencies between the jobs of a log: the preceding job and the think time, fields 17 and 18 of the format."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.traces.delay_workload import DelayJob
from batsched_py.traces.swf_log import SwfLog


def with_dependencies(log: SwfLog, jobs: Sequence[DelayJob]) -> tuple[list[DelayJob], int]:
    """Return jobs of a log that wait for the end of their preceding jobs, plus the think times.

    The second value is the number of jobs without a dependency because the preceding job is not among these jobs.
    """
    before = {record.number: (record.preceding_job, record.think_time) for record in log.records}
    kept = {job.number for job in jobs}
    width = len(str(max(kept, default=0)))
    found, cut = list[DelayJob](), 0
    for job in jobs:
        preceding, think = before[job.number]
        if preceding in kept and preceding != job.number:
            dependency = {"job": f"{preceding:0{width}d}", "when": "end", "delay": max(think, 0)}
            found.append(job._replace(members={**job.members, "depends_on": [dependency]}))
        else:
            cut += preceding > 0
            found.append(job)
    return found, cut
