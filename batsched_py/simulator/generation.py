"""Batsim 1.4: what it does otherwise than Batsim 4, as far as that is not written in the protocol's tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path
from typing import Final

from batsched_py.errors import OptionError
from batsched_py.model.limits import NAME_RULE, breaks_csv
from batsched_py.model.profile import FORMER_NAMES, FORMER_TYPES, Profile
from batsched_py.model.workload import Workload
from batsched_py.protocol.dialects import DIALECTS, V14, Dialect
from batsched_py.protocol.events import COMPLETED_SUCCESSFULLY, COMPLETED_WALLTIME_REACHED, JobCompleted
from batsched_py.simulator.settings import Settings

#: Hexadecimal digits of a workload's name.
NAME_DIGITS: Final = 6

FORMER_IN_V4: Final = "profiles: types under Batsim 1's names (msg_par...) run here; Batsim 3 and later refuse them"
PRESENT_IN_V14: Final = "profiles: types under the names of Batsim 3 (parallel...) run here; Batsim 1 refuses them"
NAMED_JOBS: Final = "jobs: names that are no integers run here; Batsim 1 names jobs by integers"

_DIGITS: Final = re.compile(r"(\d+)", re.ASCII)
#: `status` of v1.4, by the final state.
_STATUS: Final = {COMPLETED_SUCCESSFULLY: "SUCCESS", COMPLETED_WALLTIME_REACHED: "TIMEOUT"}


def dialect_of(settings: Settings) -> Dialect:
    """What is spoken; OptionError if there is no such protocol, or if it lacks what is asked for."""
    dialect = DIALECTS.get(settings.protocol)
    if dialect is None:
        raise OptionError(f"the protocol must be {' or '.join(DIALECTS)}, not {settings.protocol!r}")
    if settings.is_v14:
        if settings.external_events:
            raise OptionError("external events (--events) do not exist in protocol v1.4")
        if settings.forward_unknown_events:
            raise OptionError("--forward-unknown-events does not exist in protocol v1.4, which has no external events")
        if settings.roles or not settings.storage_sharing:
            raise OptionError("--add-role-to-hosts and --disable-storage-sharing do not exist in protocol v1.4")
        if settings.message_latency:
            raise OptionError("--message-latency does not go with protocol v1.4: messages took no time in Batsim 1.4")
    return dialect


def workload_names(workloads: Sequence[Workload], settings: Settings) -> tuple[str, ...]:
    """w0, w1... in v4. In v1.4 six digits that tell the file's name, wherever it lies: Batsim's own hash is unknown.

    OptionError if the settings name too few or too many workloads, two alike, or one by what cannot be a name.
    """
    names = settings.workload_names
    if names is None:
        return _hashes(workloads) if settings.is_v14 else tuple(f"w{n}" for n in range(len(workloads)))
    if len(names) != len(workloads):
        raise OptionError(f"there must be a name for each workload ({len(workloads)}), not {len(names)}")
    for position, name in enumerate(names):
        if not name or "!" in name or breaks_csv(name):
            raise OptionError(f"the name of a workload must not be empty, have no '!', and {NAME_RULE}, not {name!r}")
        if name in names[:position]:
            raise OptionError(f"two workloads are named {name!r}")
    return names


def natural_key(name: str) -> tuple[list[str | int], str]:
    """Orders names by the numbers in them: host2 before host10, as Batsim 1 does; equal ones as texts."""
    pieces = _DIGITS.split(name)
    return [int(piece) if index % 2 else piece for index, piece in enumerate(pieces)], name


def completion(timestamp: float, job_id: str, state: str, code: int | None) -> JobCompleted:
    """JOB_COMPLETED of a job that was not killed: v1.4 has a `status` and a reason, and does not tell the hosts."""
    status = _STATUS.get(state, "FAILED")
    reason = "Walltime reached" if state == COMPLETED_WALLTIME_REACHED else ""
    return JobCompleted(timestamp, job_id, state, code, None, status, reason)


def foreign_name(dialect: Dialect, profile: Profile) -> str | None:
    """What a type of profile is called in this protocol, if the profile has another protocol's name for it."""
    return (FORMER_NAMES if dialect is V14 else FORMER_TYPES).get(profile.type)


def _hashes(workloads: Sequence[Workload]) -> tuple[str, ...]:
    names: list[str] = []
    for workload in workloads:
        file = Path(workload.source).name
        name, count = _hash(file), 0
        while name in names:  # a file of that name stands twice on the command line
            count += 1
            name = _hash(f"{file} {count}")
        names.append(name)
    return tuple(names)


def _hash(text: str) -> str:
    return sha1(text.encode(errors="surrogateescape"), usedforsecurity=False).hexdigest()[:NAME_DIGITS]
