"""Batsim's questions to the scheduler: how long a job would wait, the only one that there is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from batsched_py.errors import RemoteProtocolError
from batsched_py.model.job import Job
from batsched_py.protocol.codec import Message
from batsched_py.protocol.events import Query
from batsched_py.protocol.fields import FieldError, read_job
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.session.story import failure
from batsched_py.text.display import displayed


class QueryAnswers:
    """Answers to the questions of a run.

    Args:
        scheduler: the algorithm, which estimates waiting times.
        view: of the state.
        plan: takes the answers.
        refusal: returns why a job can never run, None if it may wait.
    """

    def __init__(self, scheduler: Scheduler[Any], view: View, plan: Plan, refusal: Callable[[Job], str | None]) -> None:
        self._scheduler, self._view, self._plan, self._refusal = scheduler, view, plan, refusal

    def answer(self, queries: Iterable[Query], message: Message) -> None:
        """Answer the questions of a message; one that is unknown is warned of.

        RemoteProtocolError if a job that is described is none, AlgorithmError if the algorithm fails.
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
                raise RemoteProtocolError(path, f"{error.rule} (t={message.now:g})") from None
        answer = {"job_id": job_id, "estimated_waiting_time": self._estimate(job, message)}
        self._plan.answer({"estimate_waiting_time": answer})

    def _estimate(self, job: Job | None, message: Message) -> float:
        """Return the seconds until the job starts; -1 if it never will, as batsched does."""
        if job is None or self._refusal(job) is not None:
            return -1.0
        try:
            seconds = self._scheduler.estimate_wait(job, self._view, self._plan)
        except BaseException as error:
            raise failure(self._scheduler.name, message, error) from error
        return -1.0 if seconds is None else seconds
