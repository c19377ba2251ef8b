"""Generations of Batsim: one object for each, with its specific behaviour.

Start at `Generation`, which lists the differences that are not in the protocol's tables (`protocol.dialects`). Other
modules of the simulator never check the version of Batsim: they ask its generation. A new generation needs a class like
`Batsim14` and a row in GENERATIONS.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha1
from itertools import count
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from batsched_py.errors import OptionError
from batsched_py.model.profile import FORMER_NAMES, FORMER_TYPES
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.protocol.commands import ChangeJobState
from batsched_py.protocol.events import (
    COMPLETED_KILLED,
    COMPLETED_SUCCESSFULLY,
    COMPLETED_WALLTIME_REACHED,
    JobCompleted,
)
from batsched_py.reading.limits import NAME_RULE, breaks_csv
from batsched_py.results.file_forms import BATSIM_1, BATSIM_4, BATSIM_5
from batsched_py.simulator.referee.errors import BrokenRuleError

#: Hexadecimal digits of a workload's name.
NAME_DIGITS: Final = 6

FORMER_IN_V4: Final = "profiles: types under Batsim 1's names (msg_par...) run here; Batsim 3 and later refuse them"
PRESENT_IN_V14: Final = "profiles: types under the names of Batsim 3 (parallel...) run here; Batsim 1 refuses them"
NAMED_JOBS: Final = "jobs: names that are not integers are accepted here; in Batsim 1 names are integers"

_DIGITS: Final = re.compile(r"(\d+)", re.ASCII)
#: `status` of v1.4, by the final state.
_STATUS: Final = {COMPLETED_SUCCESSFULLY: "SUCCESS", COMPLETED_WALLTIME_REACHED: "TIMEOUT"}


class Generation:
    """The generation of Batsim 3 and 4, which share a protocol; the base class of the others."""

    #: Name of its protocol.
    protocol = "v4"
    #: Profile type of another generation -> its name in this one; the approximation for files with such types.
    foreign_types: Mapping[str, str] = FORMER_TYPES
    foreign_types_note = FORMER_IN_V4
    #: Jobs are named by integers; SIMULATION_BEGINS describes workloads and storage hosts.
    jobs_are_numbers = False
    describes_workloads = True
    #: Registered jobs are acknowledged by default; their profiles are included.
    acknowledges_jobs = False
    profiles_come_with_jobs = False
    #: Ended jobs, and unused profiles, are removed; registering a composed profile crashes Batsim.
    forgets = True
    crashes_on_composed = True
    #: NO_MORE_STATIC_JOB is sent, and pending calls prolong a simulation in which all jobs have ended.
    announces_last_job = True
    waits_for_calls = True
    #: The progress of a sequence killed between two steps is in the step that begins, not in the one that ends.
    counts_next_step = False
    #: Member of the answer to a query of the energy.
    energy_answer = "consumed_energy"
    #: The names and the form of its result files.
    files = BATSIM_4
    #: Batsim begins with a greeting, and the scheduler requests features (options of other generations); it may always
    #: register jobs.
    greets = False
    #: A profile is removed with the last of the jobs that need it, not with the first that ends.
    keeps_needed_profiles = False
    #: The number of a job's hosts, and whether other jobs occupy them, is checked. If False, jobs may share hosts.
    checks_allocations = True
    #: Calls for a past time are sent immediately; machines cannot fail, because external events are only texts.
    calls_at_once = False
    fails_machines = True
    #: The next pstate turns a host on or off. If False, a separate command does, and pstates change immediately.
    pstates_turn_hosts = True
    #: Data can be moved between storages, a single storage matches any label, and amounts are per host. If False, the
    #: host's name also identifies a storage, and amounts may be spread over the hosts.
    former_storages = True
    #: A total of bytes is divided by the number of hosts for each pair, and a task on one host may compute nothing. If
    #: False, it is divided by the number of pairs, and Batsim aborts on such a task.
    former_tasks = True
    #: Steps of a killed sequence are counted within a repetition.
    counts_repetitions = False
    #: A kill may name only jobs that are already being killed; NO_MORE_STATIC_JOB is sent even without a workload.
    accepts_kills_in_vain = True
    announces_without_workload = True

    def check(self, settings: Settings) -> None:
        """Raise OptionError for settings that this generation does not support; here none."""

    def default_names(self, workloads: Sequence[Workload]) -> tuple[str, ...]:
        """Return the default names of workloads: w0, w1..."""
        return tuple(f"w{number}" for number in range(len(workloads)))

    def name_key(self, name: str) -> Any:
        """Return the sort key for ids of jobs submitted at the same time, and for names of hosts: the text itself."""
        return name

    def host_key(self, name: str) -> Any:
        """Return the sort key for names of hosts."""
        return self.name_key(name)

    def completion(self, event: JobCompleted) -> JobCompleted | None:
        """Return the JOB_COMPLETED to send, or None to send nothing; here the unchanged event."""
        return event

    def check_state_change(self, command: ChangeJobState) -> None:
        """Raise BrokenRuleError if Batsim always aborts on the command: 4.2.1 does, except for RUNNING."""
        if command.state != "RUNNING":
            raise BrokenRuleError(f"cannot be set to {command.state}: Batsim 4 aborts on it", job=command.job_id)


class Batsim14(Generation):
    """Batsim 1.4."""

    protocol = "v1.4"
    foreign_types = FORMER_NAMES
    foreign_types_note = PRESENT_IN_V14
    jobs_are_numbers = True
    describes_workloads = False
    acknowledges_jobs = True
    profiles_come_with_jobs = True
    forgets = False
    crashes_on_composed = False
    announces_last_job = False
    waits_for_calls = False
    counts_next_step = True
    energy_answer = "energy_consumed"  # Batsim swaps the words, unlike its documentation
    files = BATSIM_1

    def check(self, settings: Settings) -> None:
        """Raise OptionError for options of later versions."""
        if settings.external_events:
            raise OptionError("external events (--events) do not exist in protocol v1.4")
        if settings.forward_unknown_events:
            raise OptionError("--forward-unknown-events does not exist in protocol v1.4, which has no external events")
        if settings.roles or not settings.storage_sharing:
            raise OptionError("--add-role-to-hosts and --disable-storage-sharing do not exist in protocol v1.4")
        if settings.message_latency:
            raise OptionError("--message-latency does not go with protocol v1.4: messages took no time in Batsim 1.4")

    def default_names(self, workloads: Sequence[Workload]) -> tuple[str, ...]:
        """Return six digits derived from the file's name without its folder: Batsim's own hash is unknown."""
        names: list[str] = []
        for workload in workloads:
            file = Path(workload.source).name
            name, count = _hash(file), 0
            while name in names:  # two files on the command line have that name
                count += 1
                name = _hash(f"{file} {count}")
            names.append(name)
        return tuple(names)

    def name_key(self, name: str) -> tuple[list[str | int], str]:
        """Return the name split into numbers and other text: host2 before host10; ties are ordered as text."""
        return _numbered(name)

    def completion(self, event: JobCompleted) -> JobCompleted | None:
        """Return an event with `status` and reason, without hosts; None for killed jobs, which JOB_KILLED reports."""
        if event.state == COMPLETED_KILLED:
            return None
        reason = "Walltime reached" if event.state == COMPLETED_WALLTIME_REACHED else ""
        return replace(event, hosts=None, status=_STATUS.get(event.state, "FAILED"), kill_reason=reason)

    def check_state_change(self, command: ChangeJobState) -> None:
        """Raise BrokenRuleError if a kill reason is given for another state."""
        if command.kill_reason is not None and command.state != COMPLETED_KILLED:
            raise BrokenRuleError("has a kill_reason, which goes with COMPLETED_KILLED alone", job=command.job_id)


class Batsim5(Generation):
    """Batsim 5.0.0-rc2."""

    protocol = "v5"
    files = BATSIM_5
    crashes_on_composed = False
    greets = True
    keeps_needed_profiles = True
    checks_allocations = False
    calls_at_once = True
    fails_machines = False
    pstates_turn_hosts = False
    former_storages = False
    former_tasks = False
    counts_repetitions = True
    accepts_kills_in_vain = False
    announces_without_workload = False

    def check(self, settings: Settings) -> None:
        """Raise OptionError for removed options."""
        if settings.on_failure != "ignore":
            raise OptionError("--on-failure does not go with protocol v5: in Batsim 5 no machine becomes unavailable")
        if not settings.storage_sharing:
            raise OptionError("--disable-storage-sharing does not exist in protocol v5")

    def host_key(self, name: str) -> tuple[list[str | int], str]:
        """Return the name split into numbers and other text: n2 before n10."""
        return _numbered(name)


#: Name of the protocol -> generation of Batsim.
GENERATIONS: Final = {generation.protocol: generation for generation in (Generation(), Batsim14(), Batsim5())}


def generation_of(settings: Settings) -> Generation:
    """Return the generation to simulate; OptionError if it is unknown, or does not support the settings."""
    generation = GENERATIONS.get(settings.protocol)
    if generation is None:
        raise OptionError(f"the protocol must be {' or '.join(GENERATIONS)}, not {settings.protocol!r}")
    generation.check(settings)
    return generation


def _default_names(workloads: Sequence[Workload], generation: Generation) -> tuple[str, ...]:
    """Return the default names: of workflows wf0, wf1... and, with a date, wfc0, wfc1..."""
    plain = iter(generation.default_names([workload for workload in workloads if workload.workflow is None]))
    numbers = {"wf": count(), "wfc": count()}
    names = []
    for workload in workloads:
        if workload.workflow is None:
            names.append(next(plain))
        else:
            kind = "wf" if workload.workflow.start is None else "wfc"
            names.append(f"{kind}{next(numbers[kind])}")
    return tuple(names)


def workload_names(workloads: Sequence[Workload], settings: Settings) -> tuple[str, ...]:
    """Return the name of each workload.

    OptionError if the settings contain too few or too many names, equal names, or an invalid one.
    """
    names = settings.workload_names
    if names is None:
        return _default_names(workloads, generation_of(settings))
    if len(names) != len(workloads):
        raise OptionError(f"there must be a name for each workload ({len(workloads)}), not {len(names)}")
    for position, name in enumerate(names):
        if not name or "!" in name or breaks_csv(name):
            raise OptionError(f"the name of a workload must not be empty, have no '!', and {NAME_RULE}, not {name!r}")
        if name in names[:position]:
            raise OptionError(f"two workloads are named {name!r}")
    return names


def _numbered(name: str) -> tuple[list[str | int], str]:
    pieces = _DIGITS.split(name)
    return [int(piece) if index % 2 else piece for index, piece in enumerate(pieces)], name


def _hash(text: str) -> str:
    return sha1(text.encode(errors="surrogateescape"), usedforsecurity=False).hexdigest()[:NAME_DIGITS]
