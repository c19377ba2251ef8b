"""The rules by which algorithms are judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Id of a rule -> the rule.
JUDGED_RULES: Final[Mapping[str, str]] = {
    "raises": "decide, setup and observe raise no exception",
    "hangs": "each decision ends",
    "exits": "the process is not ended",
    "memory": "a run stays within the limit of memory",
    "leak": "memory does not grow with the number of jobs that have ended",
    "prints": "nothing is written to standard output",
    "busy-host": "jobs start on hosts without a job",
    "unavailable-host": "jobs start on available hosts",
    "unknown-host": "jobs start on hosts of the platform",
    "wrong-size": "jobs have as many hosts as they request",
    "started-twice": "a job is started once",
    "ended-job": "a job that has ended is neither started, rejected nor killed",
    "unknown-job": "only submitted jobs are named, as jobs",
    "idle-kill": "only running jobs are killed",
    "past-call": "calls are requested for later instants",
    "refused": "the plan is one that Batsim accepts",
    "unstarted": "every job that can run is started",
    "rejects": "only jobs that cannot run are rejected",
    "kills": "no job is killed that would have continued",
    "endless": "the run ends",
    "polling": "calls are requested only for instants at which something is to be decided",
    "contract": "the run obeys the contract of algorithms",
    "changes-jobs": "jobs and their members are not changed",
    "conditions": "jobs wait for the jobs they depend on",
    "true-run-time": "decisions do not depend on run times of jobs that have not ended",
    "broken-promise": "a job starts no later than promised if all jobs are known and take their walltimes",
    "starvation": "a job that fits is not passed by others without end",
    "class-state": "no state is kept in the class or in its module",
    "chance": "decisions do not depend on unseeded random numbers or on addresses of objects",
    "hash-order": "decisions do not depend on the order of sets",
    "clock": "the clock of the computer is not read",
    "cost": "the cost of a decision grows about linearly with the queue",
}
#: Exception that an algorithm may claim -> the rules that do not apply then.
ALLOWANCES: Final[Mapping[str, tuple[str, ...]]] = {
    "kill": ("kills",),
    "reject": ("rejects",),
    "leave": ("unstarted",),
    "starve": ("starvation",),
    "clock": ("clock",),
    "chance": ("chance",),
    "promise": ("broken-promise",),
}
