"""Jobs that request parts of hosts: what Batsim must offer, and what it is sent."""

from __future__ import annotations

from typing import Any

import pytest

from batsched_py.errors import OptionError
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.session.session import Session
from tests.builders import begins_data, message, said, submitted_data


def submitted(name: str, size: int = 1, **demand: Any) -> tuple[str, dict[str, Any]]:
    data = submitted_data(name, size)
    data["job"]["demand"] = demand
    return "JOB_SUBMITTED", data


def session(gpus: int = 1, **begins: Any) -> Session:
    """A session of fcfs on two hosts of four cores."""
    made = Session(Fcfs)
    data = begins_data(2, **begins)
    for host in data["compute_resources"]:
        host["properties"] = {"cpu": "400", "gpus": str(gpus)}
    made.answer(message(0, ("SIMULATION_BEGINS", data)))
    return made


def test_without_shared_hosts_the_first_job_with_a_demand_ends_the_run() -> None:
    """With one line that names the job and the option."""
    rule = "w0!1 requests parts of hosts, which jobs do not share here: run Batsim, .* with --enable-compute-sharing"
    with pytest.raises(OptionError, match=rule):
        session().answer(message(0, submitted("1", cores=1)))


def test_batsim_is_sent_hosts_and_mappings_but_no_gpus() -> None:
    """It does not know the member."""
    reply = session(allow_compute_sharing=True).answer(message(0, submitted("1", 3, cores=1), submitted("2", gpus=1)))
    assert said(reply) == [
        ("EXECUTE_JOB", {"job_id": "w0!1", "alloc": "0", "mapping": {"0": "0", "1": "0", "2": "0"}}),
        ("EXECUTE_JOB", {"job_id": "w0!2", "alloc": "0"}),
    ]


def test_a_peer_that_counts_is_sent_the_gpus_of_each_executor() -> None:
    """As our simulator, whose first message says so."""
    reply = session(demands=True).answer(message(0, submitted("1", gpus=1), submitted("2", 2, cores=1)))
    assert said(reply) == [
        ("EXECUTE_JOB", {"job_id": "w0!1", "alloc": "0", "task_gpus": [[0]]}),
        ("EXECUTE_JOB", {"job_id": "w0!2", "alloc": "0", "mapping": {"0": "0", "1": "0"}, "task_gpus": [[], []]}),
    ]


def test_the_reason_of_a_wait_names_the_resource() -> None:
    """In the words of an error after a deadlock."""
    made = session(demands=True)
    made.answer(message(0, submitted("1", 2, gpus=1), submitted("2", gpus=1)))
    assert made.waiting() == ["w0!2 (1 task) held at t=0: needs 1 GPU on one host: none has any free"]


def test_a_demand_that_no_host_can_meet_is_rejected() -> None:
    """Before the algorithm sees the job."""
    made = session(demands=True)
    made.answer(
        message(0, submitted("1", cores=5), submitted("2", 3, gpus=1), submitted("3", licences={"matlab": 1}, cores=1))
    )
    assert made.plan.rejections == {
        "w0!1": "needs 5 cores on one host, the largest has 4",
        "w0!2": "has 3 tasks, on the idle machine 2 fit",
        "w0!3": "needs 1 licence matlab, the machine has 0",
    }


@pytest.mark.parametrize(("gpus", "share", "most"), [(3, 0.4, 4), (4, 0.5, 8), (5, 1, 4), (2, 0.3, 6)])
def test_a_job_with_parts_of_several_gpus_starts_on_the_idle_machine_or_is_rejected(
    gpus: int, share: float, most: int
) -> None:
    """Tasks with parts of two GPUs each fill the same GPUs first, whatever is left of the others."""
    made = session(gpus, demands=True)
    reply = made.answer(message(0, submitted("1", most, gpus=2, gpu_share=share)))
    assert [kind for kind, _ in said(reply)] == ["EXECUTE_JOB"]
    made = session(gpus, demands=True)
    made.answer(message(0, submitted("1", most + 1, gpus=2, gpu_share=share)))
    assert made.plan.rejections == {"w0!1": f"has {most + 1} tasks, on the idle machine {most} fit"}
