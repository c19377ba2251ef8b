"""The members of workload files, jobs and profiles: those obeyed here, and those that only other systems obey.

User-defined members are forwarded to algorithms, as in Batsim. Notes list the members that other systems would obey,
because results differ from those systems: Batsim's documentation suggests `dependencies`; forks of Batsim and batsched
(github.com/lanl-ccu) have jobs with `cores`, reservations and checkpoints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.model.cancellation import CANCELLED_AFTER
from batsched_py.model.conditions import CONDITIONS
from batsched_py.model.demand_members import DEMAND
from batsched_py.model.feedback import SUBMITTED_AFTER
from batsched_py.model.job import KNOWN_MEMBERS
from batsched_py.model.profile import FORMER_TYPES
from batsched_py.model.replay import RANKS_TO_HOSTS
from batsched_py.reading.many import ManyMembers
from batsched_py.reading.members import Members, UnknownNames
from batsched_py.reading.notes import Notes
from batsched_py.text.display import displayed

_WAITS: Final = "a job waits for other jobs by depends_on: a list of names"
_DEMANDED: Final = "a job requests them by the member demand"
_NO_CHECKPOINTS: Final = "jobs make no checkpoints"
_CHOSEN: Final = "the algorithm chooses when and where a job starts; reservations are leases, the member lease"

#: Members that describe a file and request nothing; the last ones occur in Batsim's own workloads.
_DESCRIBES: Final = frozenset({"description", "log_start", "author", "command", "comment", "date", "name", "version"})
DOCUMENT: Final = Members(
    "a workload", frozenset({"nb_res", "jobs", "profiles"}) | _DESCRIBES, unknown=UnknownNames.REPORTED
)

JOB: Final = Members(
    "a job",
    # Members that built-in algorithms and metrics read, and that `convert` writes.
    KNOWN_MEMBERS
    | {CANCELLED_AFTER, RANKS_TO_HOSTS, SUBMITTED_AFTER, DEMAND}
    | {"lease", "constraint", "experiments", "user", "deadline"}
    | {"alternatives", "class", "cpus", "origin", "space", "vault"}
    | {"account", "executable", "group", "partition", "qos", "queue"}
    | CONDITIONS,
    {
        **dict.fromkeys(("cores", "nb_cores", "procs"), _DEMANDED),
        **dict.fromkeys(("gpu", "gpus", "nb_gpus", "ngpus"), _DEMANDED),
        **dict.fromkeys(("after", "dependencies", "depends", "deps", "start_after"), _WAITS),
        **dict.fromkeys(("preceding_job", "think_time"), _WAITS),
        **dict.fromkeys(("checkpoint_interval", "dumptime", "readtime"), _NO_CHECKPOINTS),
        "extra_data": "its members are those of the job in Batsim 5 only",
        **dict.fromkeys(("alloc", "future_allocation", "purpose", "start"), _CHOSEN),
    },
    UnknownNames.KEPT,
)

#: The same in Batsim 5, where `extra_data` may be a text for the algorithm.
JOB_OF_BATSIM_5: Final = replace(JOB, obeyed=JOB.obeyed | {"extra_data"})

#: Type of profile -> its members, under their names in Batsim 4.
_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "delay": frozenset({"delay"}),
    "parallel": frozenset({"cpu", "com"}),
    "parallel_homogeneous": frozenset({"cpu", "com"}),
    "parallel_homogeneous_total": frozenset({"cpu", "com"}),
    "composed": frozenset({"seq", "repeat", "nb"}),
    "parallel_homogeneous_pfs": frozenset({"bytes_to_read", "bytes_to_write", "storage", "host"}),
    "data_staging": frozenset({"nb_bytes", "from", "to"}),
    "send": frozenset({"msg", "sleeptime"}),
    "recv": frozenset({"regex", "success", "failure", "timeout", "polltime"}),
    "smpi": frozenset({"trace"}),
    "usage_trace": frozenset({"trace"}),
}
#: Members of all types; Batsim's own experiments ran `command` on real machines.
_ALWAYS: Final = frozenset({"type", "ret", "extra_data", "command"})
_STRATEGY: Final = "generation_strategy"
#: An alias of a member -> the preferred name, which is obeyed if both are present.
_BETTER: Final = {"nb": "repeat", "host": "storage"}


def _profile_members(kind: str, known: frozenset[str]) -> Members:
    others = {name for members in _TYPES.values() for name in members} - known
    why = dict.fromkeys(sorted(others), "profiles of this type have none")
    if kind != "parallel_homogeneous_pfs":
        why[_STRATEGY] = "only the types of Batsim 5 have it"
        return Members(f"a profile of type {kind}", known | _ALWAYS, why, UnknownNames.KEPT)
    return Members(f"a profile of type {kind}", known | _ALWAYS | {_STRATEGY}, why, UnknownNames.KEPT)


PROFILES: Final = {kind: _profile_members(kind, own) for kind, own in _TYPES.items()}


def check_document(document: Mapping[str, Any], notes: Notes) -> None:
    """Note the members of a workload file that have no effect."""
    DOCUMENT.check(document, notes)


def check_profiles(profiles: Mapping[str, Mapping[str, Any]], notes: Notes) -> None:
    """Note the members of valid profiles that have no effect. Types without a table are executed by Batsim only."""
    checks: dict[str, ManyMembers] = {}
    for name, members in profiles.items():
        kind = FORMER_TYPES.get(members["type"], members["type"])
        if kind not in PROFILES:
            continue
        if kind not in checks:
            checks[kind] = ManyMembers(PROFILES[kind], notes)
        check = checks[kind]
        if not members.keys() <= check.silent:
            check.check(members.keys(), f"profiles.{displayed(name)}")
        for other, better in _BETTER.items():
            if other in members and better in members and better in PROFILES[kind].obeyed:
                report = f"member {other} of a profile of type {kind} is not obeyed: {better} is"
                notes.add(report, f"profiles.{displayed(name)}")
