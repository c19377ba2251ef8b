"""Demands of jobs in messages of Batsim 5: members of `extra_data`."""

from __future__ import annotations

import pytest

from batsched_py.model.demand import TaskDemand
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.protocol.batsim5.jobs import read_job, write_job
from batsched_py.reading.faults import FieldError

DEMAND = JobDemand(tasks=2, task=TaskDemand(cores=500, gpus=1, share=250))


def test_a_job_with_a_demand_is_read_as_it_was_written() -> None:
    """Its members have the demand, and the message has them in a text."""
    job = Job.create("w0!1", size=2, profile="p", submit_time=3.0, walltime=10.0, demand=DEMAND)
    written = write_job(job, always=True)
    assert "demand" in written["extra_data"]
    assert read_job("w0!1", written, 3.0) == job


def test_a_wrong_demand_is_refused() -> None:
    """With its path among the members of the job."""
    data = {"resource_request": 2, "profile_id": "w0!p", "extra_data": '{"demand": {"gpu_share": 2, "gpus": 1}}'}
    with pytest.raises(FieldError, match=r"^job\.demand\.gpu_share: must be a number from 0 to 1, not 2$"):
        read_job("w0!1", data, 0.0)
