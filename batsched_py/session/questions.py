"""Batsim's queries to the scheduler; the only kind asks how long a job would wait."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from batsched_py.errors import RemoteProtocolError
from batsched_py.model.conditions import has_conditions
from batsched_py.model.job import Job
from batsched_py.protocol.codec import Message
from batsched_py.protocol.events import Query, SimulationBegins
from batsched_py.protocol.fields import read_job
from batsched_py.reading.faults import FieldError
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.session.error_context import failure
from batsched_py.session.rehearsal import CannotSayError, Rehearsal, foresight_of
from batsched_py.state.state import State
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds


class QueryAnswers:
    """Answers to the queries of a run.

    Args:
        scheduler: the algorithm, which estimates waiting times.
        view: of the state.
        plan: receives the answers.
        refusal: returns the reason why a job can never run; None if it may wait.
        begins: the first event of the run.
        state: the state of the run.
    """

    def __init__(
        self,
        scheduler: Scheduler[Any],
        view: View,
        plan: Plan,
        refusal: Callable[[Job], str | None],
        *,
        begins: SimulationBegins,
        state: State,
    ) -> None:
        self._scheduler, self._view, self._plan, self._refusal = scheduler, view, plan, refusal
        self._begins, self._state = begins, state

    def answer(self, queries: Iterable[Query], message: Message) -> None:
        """Answer the queries of a message; an unknown query causes a warning.

        RemoteProtocolError if the description of a job is invalid, AlgorithmError if the algorithm fails.
        """
        for query in queries:
            self._answer(query, message)

    def _answer(self, query: Query, message: Message) -> None:
        asked = query.requests.get("estimate_waiting_time")
        if not isinstance(asked, dict):
            names = displayed(", ".join(query.requests))
            self._plan.warn(f"query {names} is unknown and stays unanswered")
            return
        job_id = str(asked.get("job_id"))
        described = asked.get("job")
        job = self._view.job(job_id)
        if job is None and isinstance(described, dict):
            try:
                job = read_job(job_id, described, message.now)
            except FieldError as error:
                position = next(number for number, event in enumerate(message.events) if event is query)
                path = f"events[{position}].data.requests.estimate_waiting_time.{error.path}"
                raise RemoteProtocolError(path, f"{error.rule} (t={seconds(message.now)})") from None
        answer: dict[str, Any] = {"job_id": job_id}
        is_date = self._plan.dialect.is_wrench
        try:
            wait = self._estimate(job, message)
            answer["estimated_waiting_time"] = message.now + wait if is_date and wait >= 0.0 else wait
        except CannotSayError:
            if is_date:
                answer["estimated_waiting_time"] = -1.0  # WRENCH takes no answer without a number
            name = displayed(self._scheduler.name)
            self._plan.warn(f"{displayed(job_id)}: {name} cannot estimate its wait, and the answer has none")
        self._plan.answer({"estimate_waiting_time": answer})

    def _estimate(self, job: Job | None, message: Message) -> float:
        """Return the seconds until the job starts; -1 for never, like batsched. CannotSayError."""
        if job is None or self._refusal(job) is not None:
            return -1.0
        try:
            seconds = self._seconds(job)
        except CannotSayError:
            raise
        except BaseException as error:
            raise failure(self._scheduler.name, message, error) from error
        return -1.0 if seconds is None else seconds

    def _seconds(self, job: Job) -> float | None:
        """Return the algorithm's estimate, by a rehearsal, its promise or its own method. CannotSayError."""
        scheduler, now = self._scheduler, self._view.now
        if job.id in self._state.held or (job.id not in self._state.known and has_conditions(job)):
            raise CannotSayError
        how = foresight_of(scheduler)
        if how == "walltimes":
            return scheduler.estimate_wait(job, self._view, self._plan)
        if self._view.run(job.id) is not None:
            return 0.0
        if how == "rehearsal":
            delay = self._plan.timestamp - now
            start = Rehearsal(scheduler, self._begins, self._state, self._plan.dialect, delay).start_of(job)
            return max(0.0, start - now) if start < math.inf else None
        promise = self._plan.promises.get(job.id)
        if promise is None:
            raise CannotSayError
        return max(0.0, promise.start - now) if promise.start < math.inf else None
