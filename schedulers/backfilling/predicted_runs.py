"""The predicted run times of a run's jobs, and their corrections."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from heapq import heappop, heappush

from batsched_py.api import Event, Job, JobCompleted, JobKilled, Plan, Running, Table, View
from batsched_py.planning.run_times.catalogue import PredictorSettings
from batsched_py.planning.run_times.corrections import corrected
from batsched_py.planning.run_times.predictor import User
from batsched_py.schedulers.backfilling.options import PromiseOptions

# Users ask for far more time than their jobs need, so walltimes hide most of the gaps that backfilling could use.
# Predictions are shorter and sometimes wrong: when a job runs on past its prediction, its expected end is moved by the
# option's rule, and the loop makes its promises anew (`disturbed`). Without this correction the job would count as
# late, its hosts as expected the instant after every `now`, and each arrival would be promised hosts that are not free.
#
# A prediction changes only what the algorithm expects: Batsim is sent no prediction, and stops a job at its walltime.
#
# The loop relies on a job's duration while its promise stands. Predictions are therefore made once, when a job arrives
# (as by Gaussier and others), or, with predictions=anew, forgotten when a job has ended, which disturbs all promises.
#
# Between two decisions each running job whose expected end is before that of its walltime has one valid entry in
# `_expiries`; entries of jobs that have ended are dropped when they come to the top. The availability has the
# prediction of each running job, the walltime where there is none.


@dataclass(slots=True)
class PredictedRun:
    """A running job and its prediction."""

    job: Job
    start: float
    #: Predicted run time at its start, and now, in seconds.
    first: float
    seconds: float
    #: Number of corrections so far.
    corrections: int = 0


class PredictedRuns:
    """The predictions of waiting and running jobs."""

    def __init__(self, options: PromiseOptions, view: View) -> None:
        """Begin without jobs."""
        self._options = options
        self._predictor = options.predictor.make(PredictorSettings(options.percentile, DelayLengths(view)))
        self._now = view.now
        #: Id of a waiting job -> its predicted run time in seconds; some may have left the queue.
        self._waiting: dict[str, float] = {}
        #: Job id -> a started job that has not ended.
        self._runs: dict[str, PredictedRun] = {}
        #: Heap of (expected end, job id) of jobs with a later walltime; some may have ended.
        self._expiries: list[tuple[float, str]] = []
        #: Job id, predicted run time, run time, number of corrections of jobs that have ended.
        self._ended: list[tuple[str, float, float, int]] = []
        #: True if predictions of waiting jobs were forgotten since the last decision.
        self._forgotten = False
        #: True if no warning about a job without a user is to come.
        self._warned = not self._predictor.by_user

    def expected(self, job: Job) -> float:
        """Return the predicted run time of a job in seconds; of a running one that at its start."""
        run = self._runs.get(job.id)
        if run is not None:
            return run.first
        found = self._waiting.get(job.id)
        if found is None:
            found = self._options.predictor.ask(self._predictor, job, self._user_of(job), self._now)
            self._waiting[job.id] = found
        return found

    def end_of(self, run: Running, slack: float) -> float:
        """Return the expected end of a running job."""
        found = self._runs.get(run.job.id)
        return run.end + slack if found is None else found.start + found.seconds + slack

    def begin(self, job: Job, now: float, slack: float) -> None:
        """Record the start of a job."""
        seconds = self.expected(job)
        self._waiting.pop(job.id, None)
        self._runs[job.id] = PredictedRun(job, now, seconds, seconds)
        self._predictor.begin(job, self._user_of(job), now)
        if seconds < job.limit:
            heappush(self._expiries, (now + (seconds + slack), job.id))

    def observe(self, event: Event, view: View) -> None:
        """Learn from jobs that have ended."""
        if isinstance(event, (JobCompleted, JobKilled)):
            ended = event.job_ids if isinstance(event, JobKilled) else (event.job_id,)
            for job_id in ended:
                if job_id in self._runs and view.job(job_id) is None:
                    self._learn(self._runs.pop(job_id), event.timestamp)

    def follow(self, view: View, plan: Plan) -> bool:
        """Predict new jobs, and correct predictions that were exceeded; return whether promises must be made anew."""
        self._now = view.now
        arrived = view.arrived
        if not self._warned:
            self._warn_of_nameless(arrived, plan)
        if self._options.predictions == "at_arrival":
            for job in arrived:
                self.expected(job)
        if len(self._waiting) > 2 * len(view.queue) + 100:
            self._waiting = {job_id: seconds for job_id, seconds in self._waiting.items() if job_id in view.queue}
        forgotten, self._forgotten = self._forgotten, False
        return self._correct(view) or forgotten

    def call(self, view: View, plan: Plan) -> None:
        """Request a call when the next prediction is exceeded, if a job waits and hosts are free."""
        if len(view.queue) and self._expiries and plan.free:
            plan.wake_at(self._expiries[0][0])

    def adopt(self, former: PredictedRuns | None, view: View) -> None:
        """Adopt what another object has learned and predicted, if it has the same options."""
        self._warned = True
        if former is None or former._options != self._options:
            return
        self._predictor = deepcopy(former._predictor)
        self._waiting, self._runs = dict(former._waiting), deepcopy(former._runs)
        self._expiries = [entry for entry in former._expiries if entry[1] in self._runs]
        self._ended = list(former._ended)

    def tables(self) -> Iterable[Table]:
        """Return the table of the predictions at the starts of jobs that have ended."""
        return [Table("run_times", ("job", "predicted", "run_time", "corrections"), self._ended)]

    def _learn(self, run: PredictedRun, end: float) -> None:
        seconds = max(0.0, end - run.start)
        self._ended.append((run.job.id, run.first, seconds, run.corrections))
        self._predictor.learn(run.job, self._user_of(run.job), seconds, end)
        if self._options.predictions == "anew":
            self._waiting.clear()
            self._forgotten = True

    def _correct(self, view: View) -> bool:
        """Extend the predictions of jobs that have run for longer than expected; return whether there are any."""
        any_corrected, slack = False, self._options.slack
        while self._expiries and (view.due(self._expiries[0][0]) or self._expiries[0][1] not in self._runs):
            _, job_id = heappop(self._expiries)
            run, running = self._runs.get(job_id), view.run(job_id)
            if run is None or running is None:
                continue
            any_corrected = True
            run.corrections += 1
            run.seconds = corrected(run.first, run.corrections, run.job.limit, self._options.correction)
            end = run.start + (run.seconds + slack)
            if run.seconds < run.job.limit:
                heappush(self._expiries, (end, job_id))
            predict_end(running, end, view)
        return any_corrected

    def _user_of(self, job: Job) -> User:
        """Return the user of a job; None if it has none."""
        user = job.members.get(self._options.user)
        return user if isinstance(user, (str, int)) else None

    def _warn_of_nameless(self, arrived: Iterable[Job], plan: Plan) -> None:
        """Warn about the first job without a user, whose run time cannot be predicted."""
        nameless = next((job for job in arrived if self._user_of(job) is None), None)
        if nameless is not None:
            self._warned = True
            member = self._options.user
            plan.warn(f"{nameless.id} has no member {member}: jobs without are taken by their walltimes")


def predict_end(run: Running, end: float, view: View) -> None:
    """Expect the end of a running job, or of its tasks, at `end`."""
    if run.places:
        view.availability().predict_tasks(run.job.id, end)
    else:
        view.availability().predict(run.hosts, end)


@dataclass(frozen=True, slots=True)
class DelayLengths:
    """The run times of jobs whose profile is a delay."""

    view: View

    def __call__(self, job: Job) -> float | None:
        """Return the seconds of its delay; None for other profiles."""
        seconds = getattr(self.view.profile(job), "delay", None)
        return seconds if isinstance(seconds, float) else None
