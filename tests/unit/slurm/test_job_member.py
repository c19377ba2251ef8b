"""The member `slurm` of a job: what is read, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.reading.faults import FieldError
from batsched_py.slurm.configuration import GresCount
from batsched_py.slurm.job_member import NOTHING, JobInstant, read_member


def test_a_job_without_the_member_has_the_defaults() -> None:
    """Those of sbatch."""
    assert read_member({"id": "a"}) is NOTHING
    assert read_member({"slurm": {}}) == NOTHING


def test_values_are_read_by_their_forms() -> None:
    """Instants from time zero or after the submission, ranges of nodes, resources by name."""
    member = read_member(
        {
            "slurm": {
                "begin": 90,
                "deadline": "+7.5",
                "nodes": "2-4",
                "gres": "gpu:a100:2,fpga",
                "licences": {"matlab": 2, "ansys": 1},
                "partition": "low,high",
                "array_task": 0,
                "nice": -5,
            }
        }
    )
    assert (member.begin, member.deadline) == (JobInstant(90, False), JobInstant(7.5, True))
    assert (member.nodes, read_member({"slurm": {"nodes": 3}}).nodes) == ((2, 4), (3, 3))
    assert member.gres == (GresCount("gpu", "a100", 2), GresCount("fpga", "", 1))
    assert member.licences == (("ansys", 1), ("matlab", 2))
    assert (member.partition, member.array_task, member.nice) == ("low,high", 0, -5)


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"begin": "90"}, 'slurm.begin: must be a number of seconds from 0, or "+" and seconds'),
        ({"begin": True}, 'slurm.begin: must be a number of seconds from 0, or "+" and seconds'),
        ({"nodes": "0-2"}, 'slurm.nodes: must be a whole number from 1, or a range such as "2-4"'),
        ({"time_limit": 0}, "slurm.time_limit: must be a number of seconds greater than 0"),
        ({"licences": {"matlab": 0}}, "slurm.licences.matlab: must be a whole number from 1"),
        ({"exclusive": "mine"}, "slurm.exclusive: must be"),
        ({"dependency": "afterok:"}, "slurm.dependency: must have parts KIND:NAME"),
        ({"hint": "compute_bound"}, "slurm.hint: must be"),
        ("low", "slurm: must be an object"),
    ],
)
def test_a_wrong_value_is_named_with_its_rule(members: Any, rule: str) -> None:
    """By the path of the member."""
    with pytest.raises(FieldError) as caught:
        read_member({"slurm": members})
    assert str(caught.value).startswith(rule)
