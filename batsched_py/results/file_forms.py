"""The names and the form of Batsim's own result files, which differ by its generation."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace


class FileForm(Struct, frozen=True):
    """The result files of a generation of Batsim, each by the ending of its name behind the prefix of option -e.

    Attributes:
        jobs: a row for each job.
        schedule: the metrics of the whole run, as a row or as a JSON object.
        machine_states, consumed_energy, pstate_changes: the traces.
        real_exec_info: times of the wall clock; "" if they are among the metrics.
        lists_rejected: rejected jobs have rows among the jobs.
        complete_profiles: profiles are named with their workload, and jobs have no metadata.
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
#: Its prefix ends with a slash as a rule: `out/jobs.csv`.
BATSIM_5: Final = FileForm(
    jobs="jobs.csv",
    schedule="schedule.json",
    machine_states="machine_states.csv",
    consumed_energy="consumed_energy.csv",
    pstate_changes="pstate_changes.csv",
    real_exec_info="real_exec_info.json",
    complete_profiles=True,
)

#: Forms that names tell apart; a name that ends as the first does ends as the second does, too.
_NAMED: Final = (BATSIM_4, BATSIM_5)


def split_jobs_name(name: str) -> tuple[str, FileForm] | None:
    """Return the prefix and the form of a run whose jobs file has this name; None if it is no such name."""
    return next(((name.removesuffix(form.jobs), form) for form in _NAMED if name.endswith(form.jobs)), None)
