"""Names and format of Batsim's own result files, for each generation."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace


class FileForm(Struct, frozen=True):
    """The result files of a generation of Batsim, by the suffix that follows the prefix of option -e.

    Attributes:
        jobs: file with a row for each job.
        schedule: file with the metrics of the whole run, as a row or as a JSON object.
        machine_states, consumed_energy, pstate_changes: the traces.
        real_exec_info: file with wall-clock times; "" if the metrics include them.
        lists_rejected: whether rejected jobs have rows in the jobs file.
        complete_profiles: whether names of profiles include the workload, and jobs have no metadata.
    """

    jobs: str = "_jobs.csv"
    schedule: str = "_schedule.csv"
    machine_states: str = "_machine_states.csv"
    consumed_energy: str = "_consumed_energy.csv"
    pstate_changes: str = "_pstate_changes.csv"
    real_exec_info: str = ""
    lists_rejected: bool = True
    complete_profiles: bool = False


BATSIM_4: Final = FileForm()
BATSIM_1: Final = replace(BATSIM_4, lists_rejected=False)
#: The prefix usually ends with a slash: `out/jobs.csv`.
BATSIM_5: Final = FileForm(
    jobs="jobs.csv",
    schedule="schedule.json",
    machine_states="machine_states.csv",
    consumed_energy="consumed_energy.csv",
    pstate_changes="pstate_changes.csv",
    real_exec_info="real_exec_info.json",
    complete_profiles=True,
)

#: Forms in the order of tests: names with the suffix of the first also have that of the second.
_NAMED: Final = (BATSIM_4, BATSIM_5)


def split_jobs_name(name: str) -> tuple[str, FileForm] | None:
    """Return the prefix and the form of a run from the name of its jobs file; None for other names."""
    return next(((name.removesuffix(form.jobs), form) for form in _NAMED if name.endswith(form.jobs)), None)
