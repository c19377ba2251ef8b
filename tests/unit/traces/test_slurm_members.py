"""The member `slurm` of jobs of Slurm's accounting."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.slurm.job_member import read_member
from batsched_py.traces.sacct_fields import SacctRow
from batsched_py.traces.slurm_members import slurm_member


def member_of(cells: dict[str, str], *, demands: bool = False) -> tuple[dict[str, Any], list[str]]:
    """The member, which the algorithm can read, and what is reported."""
    reported: list[str] = []
    found = slurm_member(SacctRow(2, cells), reported.append, demands=demands)
    read_member({"slurm": found})
    return found, reported


def test_columns_become_options() -> None:
    """Empty cells are not there."""
    found, reported = member_of(
        {
            "account": "math", "qos": "high", "partition": "a,b", "constraints": "ib&big", "reservation": "",
            "licenses": "matlab@x:2,ansys", "submit": "2024-05-31T08:00:00", "eligible": "2024-05-31T08:01:30",
            "jobname": "solve",
        }
    )  # fmt: skip
    assert found == {
        "account": "math", "qos": "high", "job_name": "solve", "partition": "a,b", "constraint": "ib&big",
        "licences": {"matlab": 2, "ansys": 1}, "begin": "+90",
    }  # fmt: skip
    assert reported == []


def test_options_of_the_command_count_up_to_its_script() -> None:
    """The script's own arguments are not options of sbatch."""
    command = "sbatch --nice --time-min 30 --switches=1@5:00 --exclusive=user --no-requeue job.sh x --nice=7"
    assert member_of({"submitline": command}, demands=True)[0] == {
        "nice": 100, "time_min": 1800, "switches": 1, "switches_wait": 300, "exclusive": "user", "requeue": False,
    }  # fmt: skip


def test_options_may_be_abbreviated() -> None:
    """By a beginning that no other option has; `--threads` is an option of srun itself."""
    command = "sbatch --nic=7 --no-req --switch=2 --threads 4 --time-m 30 --contig job.sh"
    found, reported = member_of({"submitline": command})
    assert found == {"nice": 7, "requeue": False, "switches": 2, "time_min": 1800}
    assert reported == ["--contiguous in SubmitLine is not kept"]


def test_a_dependency_explains_a_later_eligibility() -> None:
    """The job would otherwise wait for it twice."""
    times = {"submit": "2024-05-31T08:00:00", "eligible": "2024-05-31T09:00:00"}
    assert member_of({**times, "submitline": "sbatch --dependency=afterok:7 j.sh"})[0] == {}
    assert member_of(times)[0] == {"begin": "+3600"}


def test_arguments_of_the_script_are_none_of_sbatch() -> None:
    """Also after an option without a value, and after one whose value looks like an option."""
    assert member_of({"submitline": "sbatch --no-requeue job.sh --exclusive"}) == ({"requeue": False}, [])
    assert member_of({"submitline": "sbatch -J --nice job.sh --exclusive"}) == ({}, [])


def test_licences_of_demands_are_not_repeated() -> None:
    """They are those of the TRES."""
    assert member_of({"licenses": "matlab:2"}, demands=True)[0] == {}


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        ({"account": "a,b"}, "account is not kept: "),
        ({"licenses": "?:1"}, "licence ?:1 is not kept: must be like matlab:2"),
        ({"submitline": "sbatch --nice=low j"}, "--nice in SubmitLine is not kept: its value is unknown"),
        (
            {"submitline": "sbatch --exclusive=user j"},
            "--exclusive=user in SubmitLine is not kept: the job has whole nodes",
        ),
        ({"submitline": "sbatch --exclusive=mcs j"}, "--exclusive in SubmitLine is not kept: its value is unknown"),
        (
            {"submitline": "sbatch --arr=1-9%x j"},
            "the limit of --array in SubmitLine is not kept: it is unknown",
        ),
        ({"submitline": "sbatch -H j --nice=7"}, "--hold in SubmitLine is not kept"),
        ({"submitline": "sbatch -w n7 -N 2 j --exclusive"}, "--nodelist in SubmitLine is not kept"),
        ({"submitline": "sbatch --gres gpu:2 -N2 -J --nice j"}, "--gres in SubmitLine is not kept"),
    ],
)
def test_values_that_cannot_be_kept_are_reported(cells: dict[str, str], line: str) -> None:
    """Other values of the job are kept."""
    found, reported = member_of(cells)
    assert found == {}
    assert len(reported) == 1
    assert reported[0].startswith(line)
