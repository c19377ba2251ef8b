"""Requests: external events that submit, cancel or change jobs during a run.

A live site, a file of events or another program sends an event of the type `submit_job`, whose members are those of
Batsim's REGISTER_JOB: `job_id`, `job`, and `profile`; or `cancel_job` with `job_id`. The session submits these jobs as
dynamic jobs, so that every algorithm supports them, and a recording of the conversation suffices for a replay. Holds,
releases and priorities (`scheduling.queue_requests`) are for algorithms that take them. Requests are untrusted input:
an invalid one is reported and ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, Final

from batsched_py.errors import OptionError, PlanError
from batsched_py.model.job import Job
from batsched_py.protocol.events import NO_MORE_EXTERNAL_EVENT, Event, Notify
from batsched_py.protocol.fields import read_job
from batsched_py.reading.faults import FieldError
from batsched_py.scheduling.base import CANCELLED, Scheduler
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.queue_requests import CANCEL_JOB, QUEUE_REQUESTS, read_change
from batsched_py.scheduling.view import View
from batsched_py.state.state import State
from batsched_py.text.display import shown

SUBMIT_JOB: Final = "submit_job"
_UNKNOWN: Final = "no job of this id was submitted"


class Requests:
    """The requests of a run, from its first message on.

    Args:
        scheduler: the algorithm, which is notified of cancelled jobs; another one may take its place.
        state: of the run; it expects more jobs until the last request.
        view: of the state.
        plan: used to submit jobs.
        call_every: maximum interval of calls, in seconds, as long as requests may arrive; None if the sender can wake
            the algorithm.

    Raises OptionError if jobs cannot be submitted in this run.
    """

    def __init__(
        self, scheduler: Scheduler[Any], state: State, view: View, plan: Plan, *, call_every: float | None
    ) -> None:
        if not state.config.dynamic_jobs:
            raise OptionError("jobs that events ask for need --enable-dynamic-jobs")
        if plan.dialect.is_v14:
            raise OptionError("jobs that events ask for need Batsim 3 or later: protocol 1.4 has no external events")
        state.expects_requests = True
        self.scheduler, self._state, self._view, self._plan = scheduler, state, view, plan
        self._call_every = call_every
        self._submits = scheduler.needs_dynamic_jobs or scheduler.uses_dynamic_jobs
        #: Ids of jobs that were cancelled before Batsim had submitted them.
        self._withdrawn: set[str] = set()
        #: Changes of jobs before Batsim had submitted them: types and members of events.
        self._postponed: list[tuple[str, Mapping[str, Any]]] = []

    @property
    def postponed(self) -> Set[object]:
        """The ids of the jobs whose changes and cancellations wait until Batsim has submitted the jobs."""
        return {members.get("job_id") for _, members in self._postponed} | self._withdrawn

    def take(self, events: Sequence[Event]) -> None:
        """Carry out the requests of a message, before the algorithm decides."""
        for event in events:
            if type(event) is Notify:
                self._obey(event)
        self._state.receive_registered()
        if self._postponed or self._withdrawn:
            self._obey_postponed()

    def _obey(self, event: Notify) -> None:
        if event.kind == SUBMIT_JOB:
            self._submit(event.members)
        elif event.kind == CANCEL_JOB:
            self._cancel(event.members)
        elif event.kind in QUEUE_REQUESTS:
            self._change(event.kind, event.members)
        elif event.kind == NO_MORE_EXTERNAL_EVENT:
            self._state.close_requests()

    def _obey_postponed(self) -> None:
        """Carry out the requests that concern jobs which Batsim has submitted by now."""
        postponed, self._postponed = self._postponed, []
        for kind, members in postponed:
            self._change(kind, members)
        held = self._state.held.jobs
        for job_id in [job.id for job in (*self._state.arrived, *held.values()) if job.id in self._withdrawn]:
            self._withdrawn.discard(job_id)
            self._cancel({"job_id": job_id})

    def finish(self) -> None:
        """Schedule the next call; after the last request, finish registration unless the algorithm submits jobs."""
        if self._call_every is not None and self._state.expects_requests:
            latest = self._state.now + self._call_every
            if not any(call <= latest for call in self._state.wakeups):
                self._plan.wake_at(latest)
        if self._state.all_submitted and self._state.registration_open and not self._submits:
            self._plan.finish_registration()

    def _submit(self, members: Mapping[str, Any]) -> None:
        job_id = members.get("job_id")
        try:
            job, profile = _read(members, self._plan.timestamp)
            if not self._state.registration_open:
                self._plan.continue_registration()
            self._plan.submit_read(job, profile)
        except FieldError as error:
            self._plan.warn(f"{SUBMIT_JOB} {shown(job_id)}: {error}; it is ignored")
        except PlanError as error:
            self._plan.warn(f"{error}; it is ignored")

    def _cancel(self, members: Mapping[str, Any]) -> None:
        job_id = members.get("job_id")
        if not isinstance(job_id, str) or job_id not in self._state.known:
            self._ignore(CANCEL_JOB, job_id, _UNKNOWN)
        elif job_id in self._state.registered:
            self._withdrawn.add(job_id)
        elif job_id in self._state.held:
            self._plan.reject(self._state.held.jobs[job_id], CANCELLED)
        elif job_id in self._state.control or not self.scheduler.cancel(job_id, self._view, self._plan):
            self._ignore(CANCEL_JOB, job_id, "it neither waits nor runs")
        else:
            self._state.let_others_start()

    def _change(self, kind: str, members: Mapping[str, Any]) -> None:
        job_id = members.get("job_id")
        try:
            change = read_change(kind, members)
        except FieldError as error:
            self._ignore(kind, job_id, str(error), "; it is ignored")
            return
        state = self._state
        if change.job_id not in state.known or change.job_id in state.control:
            self._ignore(kind, job_id, _UNKNOWN)
        elif change.job_id in state.registered:
            self._postponed.append((kind, members))
        elif change.job_id in state.held:
            self._ignore(kind, job_id, "it waits for other jobs, and is not in the queue yet", "; it is ignored")
        elif not self.scheduler.change_job(change, self._view, self._plan):
            self._ignore(kind, job_id, f"{self.scheduler.name} cannot hold, release or prioritise jobs")

    def _ignore(self, kind: str, job_id: object, why: str, rest: str = "") -> None:
        self._plan.ignore(kind, job_id, why, f"{kind} {shown(job_id)}: {why}{rest}")


def _read(members: Mapping[str, Any], now: float) -> tuple[Job, Mapping[str, Any] | None]:
    """Return the requested job, submitted now, and its profile if one is given."""
    job_id, described, profile = members.get("job_id"), members.get("job"), members.get("profile")
    if not isinstance(job_id, str):
        raise FieldError("job_id", f"must be a text, not {shown(job_id)}")
    if not isinstance(described, dict):
        raise FieldError("job", f"must be an object, not {shown(described)}")
    if profile is not None and not isinstance(profile, dict):
        raise FieldError("profile", f"must be an object, not {shown(profile)}")
    own = {name: value for name, value in described.items() if name != "subtime"}
    return read_job(job_id, {"id": job_id, "subtime": now, **own}), profile
