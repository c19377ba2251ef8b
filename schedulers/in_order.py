"""Starts in order of arrival, for small algorithms with another purpose."""

from typing import Literal

from batsched_py.api import Job, Plan, View, counted


def start_in_order(view: View, plan: Plan, at_once: Literal["all", "one"] = "all") -> Job | None:
    """Start waiting jobs in order of arrival until one has to wait; return that one, or None.

    It has to wait if too few hosts are free, or have no room for its tasks; with at_once="one" also if another job
    runs.
    """
    for job in view.queue:
        if at_once == "one" and view.running:
            plan.hold(job, "another job runs")
            return job
        if job.demand is not None:
            placed = plan.place(job)
            if placed is None:
                plan.hold(job, view.shortage(job), "resource")
                return job
            plan.start(job, placed)
            continue
        hosts = plan.free.first(job.size)
        if hosts is None:
            plan.hold(job, f"needs {counted(job.size, 'host')}, {len(plan.free)} can be used now")
            return job
        plan.start(job, hosts)
    return None
