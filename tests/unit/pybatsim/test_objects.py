"""The object layer: jobs, resources, allocations, dynamic workloads, and what its helpers do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

from batsched_py.errors import AlgorithmError
from batsched_py.plugins import load
from batsched_py.session.session import Session
from tests.builders import begins_data, completed_data, message, said, submitted_data

HEADER = """\
from batsim.sched import *
from batsim.sched.algorithms.filling import filler_sched
from batsim.sched.algorithms.backfilling import backfilling_sched
from batsim.sched.algorithms.utils import *

"""
DYNAMIC = {"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": True}
POWER = {"wattage_per_state": "30:30:100,30:30:90"}


class Objects:
    """A session with a scheduler of the object layer, whose class has these methods, or whose file has this text."""

    def __init__(
        self, folder: Path, body: str, *, whole: bool = False, options: Mapping[str, str] | None = None, **begins: Any
    ) -> None:
        file = folder / "mine.py"
        text = dedent(body)
        file.write_text(HEADER + (text if whole else f"class Mine(Scheduler):\n{indent(text, '    ')}"))
        self.warnings: list[str] = []
        self.session = Session(load(f"pybatsim:{file}"), options, warn=self.warnings.append)
        self.first = self.answer(0, ("SIMULATION_BEGINS", begins_data(**begins)))

    def answer(self, now: float, *events: tuple[str, dict[str, Any]]) -> list[tuple[str, Any]]:
        """The commands of the reply to a message."""
        return said(self.session.answer(message(now, *events)))

    @property
    def scheduler(self) -> Any:
        """The object of the user's class."""
        return self.session.scheduler._hooks._scheduler  # type: ignore[attr-defined]


def arrival(name: str, size: int = 1, walltime: float | None = 10) -> tuple[str, dict[str, Any]]:
    """The submission of a job."""
    return "JOB_SUBMITTED", submitted_data(name, size, walltime)


def end(name: str, alloc: str, state: str = "COMPLETED_SUCCESSFULLY") -> tuple[str, dict[str, Any]]:
    """The end of a job."""
    return "JOB_COMPLETED", completed_data(name, alloc, state)


def test_functions_are_schedulers(tmp_path: Path) -> None:
    """The class takes one argument; jobs that never fit are rejected, the others start in order."""
    objects = Objects(tmp_path, "def Mine(scheduler): filler_sched(scheduler)\n", whole=True)
    replies = objects.answer(1, arrival("a", 3), arrival("b", 9), arrival("c", 2), arrival("d", 1))
    assert [(kind, data.get("alloc")) for kind, data in replies] == [
        ("EXECUTE_JOB", "0-2"),
        ("REJECT_JOB", None),
        ("EXECUTE_JOB", "3"),
    ]
    assert objects.answer(5, end("a", "0-2")) == [("EXECUTE_JOB", {"job_id": "w0!c", "alloc": "0-1"})]


def test_a_hook_that_is_not_supported_is_reported(tmp_path: Path) -> None:
    """`on_event`, which pybatsim calls for each line of its log."""
    objects = Objects(tmp_path, "def schedule(self): pass\ndef on_event(self, event): pass")
    assert objects.warnings == ["t=0: onSimulationBegins: on_event is never called: --record FILE keeps all messages"]


def test_options_of_log_files_are_reported(tmp_path: Path) -> None:
    """Once, with what there is instead."""
    options = {"export-prefix": "out", "debug": "true", "depth": "1"}
    objects = Objects(tmp_path, "def schedule(self): pass", options=options)
    assert objects.warnings == [
        "t=0: onSimulationBegins: debug, export-prefix without effect: no log files are written; --record FILE and "
        "-e PREFIX are"
    ]


def test_backfilling_delays_no_reserved_job(tmp_path: Path) -> None:
    """A short job overtakes the first one, a long one does not."""
    objects = Objects(tmp_path, "def schedule(self): backfilling_sched(self)")
    objects.answer(1, arrival("a", 3, 100))
    replies = objects.answer(2, arrival("b", 4, 10), arrival("long", 1, 200), arrival("short", 1, 50))
    assert replies == [("EXECUTE_JOB", {"job_id": "w0!short", "alloc": "3"})]
    assert [job.id for job in objects.scheduler.jobs.open] == ["w0!b", "w0!long"]
    assert [job.id for job in objects.scheduler.jobs.running] == ["w0!a", "w0!short"]


def test_neighbours_only(tmp_path: Path) -> None:
    """Both filters of neighbours; resources say whether they are free."""
    for name in ("consecutive_resources_filter", "default_resources_filter"):
        objects = Objects(tmp_path, f"def schedule(self): filler_sched(self, resources_filter={name})")
        objects.answer(1, arrival("a"), arrival("b"), arrival("c"), arrival("d"))
        objects.answer(2, end("a", "0"), end("c", "2"))
        assert [host.id for host in objects.scheduler.resources.free] == [0, 2]
        assert objects.answer(3, arrival("e", 2)) == []
        assert objects.answer(4, end("d", "3")) == [("EXECUTE_JOB", {"job_id": "w0!e", "alloc": "2-3"})]


def test_jobs_wait_for_their_dependencies(tmp_path: Path) -> None:
    """Those of the member `deps`, and those that the scheduler adds."""
    objects = Objects(tmp_path, "def schedule(self): filler_sched(self)")
    second = submitted_data("b")
    second["job"]["deps"] = ["a"]
    assert len(objects.answer(1, arrival("a"), ("JOB_SUBMITTED", second))) == 1
    assert [job.id for job in objects.scheduler.jobs.open] == ["w0!b"]
    assert len(objects.scheduler.jobs.runnable) == 0
    assert objects.answer(2, end("a", "0"))[0][1]["job_id"] == "w0!b"


def test_dynamic_workloads(tmp_path: Path) -> None:
    """Equal profiles are registered once, under a name after their type; their jobs are known when they arrive."""
    objects = Objects(
        tmp_path,
        """
        def on_init(self):
            for _ in range(2):
                self.register_dynamic_job(res=1, walltime=20, profile=Profiles.Delay(7))
            self.notify_registration_finished()
        def schedule(self): filler_sched(self)
        """,
        config=DYNAMIC,
    )
    kinds = [kind for kind, _ in objects.first]
    assert kinds == ["REGISTER_PROFILE", "REGISTER_JOB", "REGISTER_JOB", "NOTIFY"]
    assert objects.first[0][1]["profile_name"] == "delay_profile_0"
    job = objects.first[2][1]["job"]
    assert (job["id"], job["profile"]) == ("DYNAMIC_WORKLOAD!1", "delay_profile_0")
    assert objects.answer(1, ("JOB_SUBMITTED", {"job_id": job["id"], "job": job}))[0][0] == "EXECUTE_JOB"
    assert [one.id for one in objects.scheduler.jobs.dynamic_job] == [job["id"]]


def test_kills_pstates_and_energy(tmp_path: Path) -> None:
    """They work, though pybatsim 3.2.1 stops at each by a fault of its own."""
    objects = Objects(
        tmp_path,
        """
        def on_init(self): self.seen = []
        def on_job_submission(self, job):
            job.schedule(self.resources.compute[:1])
            job.kill()
            self.request_consumed_energy()
            self.resources[3].pstate = 1
            self.run_scheduler_at(50)
        def on_jobs_killed(self, jobs): self.seen.append([job.killed and job.failure for job in jobs])
        def on_machine_pstate_changed(self, host, pstate): self.seen.append((host.name, host.pstate, pstate))
        def on_report_energy_consumed(self, reply): self.seen.append(reply.consumed_energy)
        def on_requested_call(self): self.seen.append(self.time)
        def schedule(self): pass
        """,
        compute_resources=[{"id": n, "name": f"n{n}", "state": "idle", "properties": POWER} for n in range(4)],
    )
    kinds = [kind for kind, _ in objects.answer(1, arrival("a"))]
    assert kinds == ["EXECUTE_JOB", "KILL_JOB", "QUERY", "SET_RESOURCE_STATE", "CALL_ME_LATER"]
    killed = {"job_ids": ["w0!a"], "job_progress": {"w0!a": {"profile_name": "p", "progress": 0.5}}}
    objects.answer(2, end("a", "0", "COMPLETED_KILLED"), ("JOB_KILLED", killed))
    objects.answer(3, ("RESOURCE_STATE_CHANGED", {"resources": "3", "state": "1"}), ("ANSWER", {"consumed_energy": 4}))
    objects.answer(50, ("REQUESTED_CALL", {}))
    assert objects.scheduler.seen == [[True], ("n3", "1", "1"), 4.0, 50.0]
    assert len(objects.scheduler.resources.free) == 4


def test_allocations_start_in_the_future(tmp_path: Path) -> None:
    """A call is asked for, and the job starts at it; until then, only short jobs may have the hosts."""
    objects = Objects(
        tmp_path,
        """
        def on_job_submission(self, job):
            if job.id == "w0!a":
                plan = Allocation(20, walltime=30, resources=self.resources.compute)
                plan.start_time = 25
                job.reserve(plan)
                job.schedule()
                self.first = job
            else:
                hosts = self.resources.find_sufficient_resources_for_job(job)
                start, later = self.resources.find_with_earliest_start_time(job, allow_future_allocations=True)
                if hosts:
                    job.schedule(hosts)
                else:
                    assert start > 55 and len(later) == job.requested_resources
        def on_requested_call(self): self.first.schedule()
        def schedule(self): pass
        """,
    )
    assert objects.answer(1, arrival("a", 4)) == [("CALL_ME_LATER", {"timestamp": 25})]
    assert objects.answer(2, arrival("b", 2, 22.5), arrival("c", 2, 30)) == [
        ("EXECUTE_JOB", {"job_id": "w0!b", "alloc": "0-1"})
    ]
    objects.answer(24, end("b", "0-1"))
    assert objects.answer(25, ("REQUESTED_CALL", {})) == [("EXECUTE_JOB", {"job_id": "w0!a", "alloc": "0-3"})]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("job.schedule()", "w0!a has no allocation"),
        ("job.reject(); job.reject()", "w0!a is not open"),
        ("job.kill()", "w0!a does not run, or was killed"),
        ("job.schedule(self.resources[:0])", "w0!a has no allocation"),
        ("job.reserve(self.resources[:2]); job.reserve(self.resources[:2])", "w0!a has an allocation"),
        ("self.events", "'Mine' object has no attribute 'events'"),
        ("self.jobs.late", r"jobs\.late: it is unknown here"),
        ("self.fatal('no {what}', what='way')", "no way"),
    ],
)
def test_faults_have_their_line(tmp_path: Path, body: str, rule: str) -> None:
    """The hook, the job, the rule and the line of the user."""
    objects = Objects(tmp_path, f"def schedule(self): pass\ndef on_job_submission(self, job):\n    {body}")
    with pytest.raises(AlgorithmError, match=rf"in onJobSubmission\(w0!a\): .*{rule} \(mine\.py:9\)"):
        objects.answer(1, arrival("a"))
