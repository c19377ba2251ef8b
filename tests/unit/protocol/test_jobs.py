"""The job object and job ids of messages."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.model.job import Job
from batsched_py.protocol.fields import FieldError
from batsched_py.protocol.jobs import check_job_id, read_job

MEMBERS: dict[str, Any] = {"id": "w0!1", "subtime": 3, "res": 2, "profile": "p"}


@pytest.mark.parametrize("job_id", ["w0!1", "d4cace!1", "w0!a!b", "wf0!étape 1", "w12!lease!resume-2"])
def test_an_id_is_workload_and_name(job_id: str) -> None:
    """The first mark separates them; names are any text."""
    check_job_id(job_id)


@pytest.mark.parametrize("job_id", ["", "!", "1", "w0", "w0!", "!1"])
def test_an_id_without_workload_or_name_is_refused(job_id: str) -> None:
    """E7."""
    with pytest.raises(FieldError, match="must be workload!name"):
        check_job_id(job_id)


def test_the_members_are_attributes_and_kept() -> None:
    """Those that nobody describes too."""
    members = {**MEMBERS, "walltime": 10.5, "user": "ann"}
    assert read_job("w0!1", members) == Job("w0!1", 3, 2, 10.5, "p", members)


@pytest.mark.parametrize("walltime", [None, -1, -1.0])
def test_no_walltime_is_written_in_several_ways(walltime: float | None) -> None:
    """Absent is the fourth."""
    assert read_job("w0!1", {**MEMBERS, "walltime": walltime}).walltime is None


def test_an_absent_walltime_is_none() -> None:
    """The usual way."""
    assert read_job("w0!1", MEMBERS).walltime is None


def test_a_job_may_need_no_host() -> None:
    """Batsim reads it, and then cannot run it (E17)."""
    assert read_job("w0!1", {**MEMBERS, "res": 0}).size == 0


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("res", None), ("res", -1), ("res", 1.0), ("res", "1"), ("res", True), ("res", [1]),
        ("profile", None), ("profile", 5), ("profile", {"type": "delay"}),
        ("subtime", "0"), ("subtime", -0.5), ("subtime", None), ("subtime", True),
        ("walltime", 0), ("walltime", -2), ("walltime", -0.5), ("walltime", "10"), ("walltime", False),
    ],
)  # fmt: skip
def test_a_wrong_member_is_named(member: str, value: Any) -> None:
    """By its path in the event's data."""
    with pytest.raises(FieldError) as caught:
        read_job("w0!1", {**MEMBERS, member: value})
    assert caught.value.path == f"job.{member}"
