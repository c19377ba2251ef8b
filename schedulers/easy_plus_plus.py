"""EASY++: backfilling by predicted run times instead of walltimes."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from msgspec.structs import replace

from batsched_py.api import (
    ORDERS,
    Event,
    HostSet,
    Job,
    JobCompleted,
    JobKilled,
    Order,
    Placed,
    Plan,
    View,
    named,
    option,
)
from batsched_py.planning.future.promise_book import Gaps
from batsched_py.planning.future.room_book import RoomGaps
from batsched_py.planning.prediction import LastTwo, corrected
from batsched_py.schedulers.backfilling.algorithms import Overtaking
from batsched_py.schedulers.backfilling.options import OvertakingOptions
from batsched_py.schedulers.backfilling.rules import OvertakingRules

# Users ask for far more time than their jobs need, so walltimes hide most of the gaps that backfilling could use.
# Predictions are shorter and sometimes wrong: when a job runs on past its prediction, its expected end is moved by the
# steps of Tsafrir, Etsion and Feitelson, and the loop makes its promise anew (`disturbed`). Without this correction the
# job would count as late, its hosts as expected the instant after every `now`, and each arrival would be promised hosts
# that are not free.
#
# Between two decisions each running job whose predicted end is before its walltime has one valid entry in `expiries`;
# entries of jobs that have ended are dropped when they come to the top. The availability has the prediction of each
# running job, the walltime where there is none.
#
# The queue's index by size and walltime cannot select those that may overtake, since a job is expected to end before
# its walltime: all that are small enough are visited, O(waiting jobs) for a completion instead of O(log n + k) with
# EASY.


@dataclass(frozen=True, slots=True)
class EasyPlusPlusOptions(OvertakingOptions):
    """The options of EASY, and the member with a job's user."""

    backfill_order: Order = named("sjf", "who overtakes first; by predicted run times", ORDERS)
    user: str = option("user", "the member of a job that says whose it is", peer_text=r"[\w-]+")


@dataclass(slots=True)
class PredictedRun:
    """A running job and its prediction."""

    job: Job
    hosts: HostSet
    start: float
    #: Predicted run time at its start in seconds.
    first: float
    #: Number of corrections so far.
    corrections: int = 0
    #: True if its tasks share hosts.
    shares: bool = False


class PredictedRules(OvertakingRules[EasyPlusPlusOptions]):
    """The rules of EASY with predictions instead of walltimes."""

    def __init__(self, options: EasyPlusPlusOptions, view: View, depth: float) -> None:
        super().__init__(options, view, depth)
        self.past = LastTwo()
        #: Job id -> a started job that has not ended.
        self.runs: dict[str, PredictedRun] = {}
        #: Heap of (expected end, job id) of jobs with a later walltime; some may have ended.
        self.expiries: list[tuple[float, str]] = []

    def user_of(self, job: Job) -> str | int | None:
        """Return the user of the job; None if it has none."""
        user = job.members.get(self.options.user)
        return user if isinstance(user, (str, int)) else None

    def duration(self, job: Job) -> float:
        """Return the predicted run time."""
        return self.past.predict(self.user_of(job), super().duration(job))

    def start(self, job: Job, hosts: HostSet, view: View, plan: Plan) -> None:
        super().start(job, hosts, view, plan)
        run = self.runs[job.id] = PredictedRun(job, hosts, view.now, self.duration(job))
        self.set_prediction(run, run.first, view)

    def start_tasks(self, job: Job, placed: Placed, view: View, plan: Plan) -> None:
        super().start_tasks(job, placed, view, plan)
        run = self.runs[job.id] = PredictedRun(job, placed.hosts, view.now, self.duration(job), shares=True)
        self.set_prediction(run, run.first, view)

    def learn(self, job_id: str, end: float) -> None:
        """Learn from a job that has ended."""
        run = self.runs.pop(job_id)
        self.past.learn(self.user_of(run.job), max(0.0, end - run.start))

    def set_prediction(self, run: PredictedRun, seconds: float, view: View) -> None:
        """Set the predicted run time of a job in seconds."""
        end = run.start + seconds
        if seconds < super().duration(run.job):
            heappush(self.expiries, (end, run.job.id))
        elif not run.corrections:
            return
        if run.shares:
            view.availability().predict_tasks(run.job.id, end)
        else:
            view.availability().predict(run.hosts, end)

    def correct(self, view: View) -> bool:
        """Extend the predictions of jobs that have run for longer than expected; return whether there are any."""
        any_corrected = False
        while self.expiries and (view.due(self.expiries[0][0]) or self.expiries[0][1] not in self.runs):
            _, job_id = heappop(self.expiries)
            run = self.runs.get(job_id)
            if run is None:
                continue
            any_corrected = True
            run.corrections += 1
            self.set_prediction(run, corrected(run.first, run.corrections, super().duration(run.job)), view)
        return any_corrected

    def overtakers(self, gaps: Gaps, view: View) -> Sequence[Job]:
        """Return all waiting jobs that are small enough: many are expected to end before their walltime."""
        return list(view.queue) if isinstance(gaps, RoomGaps) else view.queue.up_to(gaps.left)

    def in_backfill_order(self, jobs: Sequence[Job], view: View) -> Sequence[Job]:
        """Sort by the option's order, with predictions instead of walltimes."""
        order, now = self.options.backfill_order, view.now
        keys = {job.id: order.key(replace(job, walltime=self.duration(job)), now) for job in jobs}
        return sorted(jobs, key=lambda job: keys[job.id])


class EasyPlusPlus(Overtaking[EasyPlusPlusOptions]):
    """EASY with predicted run times: the mean of the user's last two; the shortest overtakes first.

    A job is expected to run as long as the last two jobs of its user that ended did on average, and never longer than
    its walltime; with fewer than two, for its walltime. If it runs longer than predicted, its prediction is extended by
    a minute, then by five, fifteen, thirty minutes, one, two, five, ten, twenty, fifty and a hundred hours, and then
    its walltime. Jobs are stopped at their walltimes only.

    Predictions may be too short: then a promised start moves to a later time.
    """

    name = "easy_plus_plus"
    places_tasks = True
    source = (
        "Tsafrir, Etsion, Feitelson, Backfilling using system-generated predictions rather than user runtime"
        " estimates, IEEE TPDS 18(6), 2007"
    )
    depth = 1

    rules: PredictedRules

    def make_rules(self, view: View) -> PredictedRules:
        return PredictedRules(self.options, view, self.depth)

    def setup(self, view: View) -> None:
        super().setup(view)
        #: True once the user was warned about a job without a user.
        self.warned = False

    def observe(self, event: Event, view: View) -> None:
        if isinstance(event, (JobCompleted, JobKilled)):
            ended = event.job_ids if isinstance(event, JobKilled) else (event.job_id,)
            for job_id in ended:
                if job_id in self.rules.runs and view.job(job_id) is None:
                    self.rules.learn(job_id, event.timestamp)

    def decide(self, view: View, plan: Plan) -> None:
        if not self.warned:
            self.warn_of_nameless(view, plan)
        self.loop.decide(view, plan, disturbed=self.rules.correct(view))
        if len(view.queue) and self.rules.expiries and plan.free:
            plan.wake_at(self.rules.expiries[0][0])

    def warn_of_nameless(self, view: View, plan: Plan) -> None:
        """Warn about the first job without a user, whose run time cannot be predicted."""
        nameless = next((job for job in view.arrived if self.rules.user_of(job) is None), None)
        if nameless is not None:
            self.warned = True
            plan.warn(f"{nameless.id} has no member {self.options.user}: jobs without are taken by their walltimes")
