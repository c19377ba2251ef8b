"""A machine on which jobs run that may be stopped."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from batsched_py.model.job import Job
from batsched_py.planning.future.promises import Slot
from batsched_py.planning.future.reservations import Reservation, Reservations
from batsched_py.protocol.dialect import V14
from batsched_py.protocol.events import Config
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.state.state import State
from tests.builders import begins, hosts, submitted

DELAY = {"type": "delay", "delay": 50}
PROFILES: dict[str, dict[str, Any]] = {
    "p": DELAY,
    "task": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0},
    "steps": {"type": "composed", "seq": ["p", "p"]},
    "mixed": {"type": "composed", "seq": ["p", "task"]},
    "many": {"type": "composed", "seq": ["p", "task"], "repeat": 501},
    "hears": {"type": "recv", "success": "p"},
    "talk": {"type": "composed", "seq": ["p", "hears"]},
    "odd": {"type": "of our own"},
}


class Scene:
    """Six hosts; time, jobs and their starts are what a test says."""

    def __init__(self, *, dynamic: bool = True, forgetful: bool = False, batsim_1: bool = False) -> None:
        members: dict[str, Any] = {"profile-reuse-enabled": False} if forgetful else {}
        if batsim_1:
            members = {"job_submission": {}}
        config = Config(dynamic_jobs=dynamic, profile_reuse=not forgetful, members=members)
        self.state = State()
        self.state.apply(replace(begins(6, config=config), workloads={"w0": "w.json"}, profiles={"w0": PROFILES}))
        #: Warnings so far.
        self.warnings: list[str] = []
        self.plan, self.view = Plan(self.state, self.warnings.append), View(self.state)
        if batsim_1:
            self.plan.dialect = V14
        self.book = Reservations(self.view.availability())
        self.at(0.0)

    def at(self, now: float) -> None:
        """A message of this instant has come, and is to be answered."""
        self.state.advance(now)
        self.plan.begin(now)

    def reserve(self, name: str, start: float, end: float, where: str) -> None:
        """A reservation in the book, for which whoever works there gives way."""
        assert self.book.add(Reservation(name, Slot(start, end, hosts(where))), over=hosts(where)) is None

    def submit(
        self,
        name: str,
        size: int = 1,
        walltime: float | None = 100.0,
        profile: str = "p",
        **members: Any,
    ) -> Job:
        """A job comes now."""
        now = self.state.now
        job = Job.create(f"w0!{name}", size=size, profile=profile, submit_time=now, walltime=walltime, extra=members)
        self.state.apply(submitted(job, now))
        return job

    def run(self, name: str, where: str, walltime: float | None = 100.0, profile: str = "p", **members: Any) -> Job:
        """A job comes and starts now."""
        job = self.submit(name, len(hosts(where)), walltime, profile, **members)
        self.plan.start(job, hosts(where))
        return job
