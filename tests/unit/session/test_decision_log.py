"""The log of what an algorithm says of jobs that wait."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.api import Job, NoOptions, Plan, Scheduler, Shadow, View
from batsched_py.model.decision_row import DecisionRow
from batsched_py.session import decision_log
from batsched_py.session.session import Session
from tests.builders import begins_data, completed_data, hosts, message, state, submitted, submitted_data
from tests.builders import job as built_job


class Talker(Scheduler[NoOptions]):
    """Says of each job what its name asks for, and starts none."""

    name = "talker"
    promised = 20.0

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            self.tell(job, view, plan)

    def tell(self, job: Job, view: View, plan: Plan) -> None:
        name = job.id.removeprefix("w0!")
        if name.startswith("large"):
            plan.hold(job, f"lacks hosts at {view.now:g}")
        elif name.startswith("own"):
            plan.hold(job, f"I do not like it at {view.now:g}" if view.now < 5 else "nor now")
        elif name.startswith("promised"):
            plan.promise(job, Shadow(self.promised - view.now if view.now < 8 else 30.0, 0))
            if view.now >= 9:
                plan.withdraw_promise(job.id)
        elif name.startswith("bad"):
            plan.reject(job, "no, \nthanks")


def logged(scheduler: type[Scheduler[NoOptions]] = Talker, **begins: object) -> tuple[Session, list[DecisionRow]]:
    """A session that has begun on four hosts, and the rows that it will have logged before it ends."""
    rows: list[DecisionRow] = []
    session = Session(scheduler, log=lambda new: rows.extend(row for row in new if row.kind != "unfinished"))
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(4, **begins))))
    return session, rows


def end(session: Session, now: float = 100) -> None:
    session.answer(message(now, ("SIMULATION_ENDS", {})))


def submit(session: Session, now: float, name: str, size: int = 1) -> None:
    session.answer(message(now, ("JOB_SUBMITTED", submitted_data(name, size))))


def test_the_first_row_tells_the_hosts() -> None:
    """It also tells whether jobs share them."""
    for shared in (False, True):
        session, rows = logged(allow_compute_sharing=shared)
        end(session)
        assert rows == [DecisionRow(0.0, "hosts", reason="shared" if shared else "", hosts=hosts("0-3"))]


def test_a_hold_is_told_once() -> None:
    """It is told again when the reason is another one, by more than its numbers."""
    session, rows = logged()
    for now, name in ((1, "own"), (2, "x"), (7, "y")):
        submit(session, now, name)
    end(session)
    assert [(row.time, row.kind, row.job, row.reason, row.words) for row in rows[1:]] == [
        (1.0, "held", "w0!own", "own", "I do not like it at 1"),
        (7.0, "held", "w0!own", "own", "nor now"),
    ]


class Taker(Talker):
    """Starts jobs whose names begin with t, on the lowest hosts."""

    def tell(self, job: Job, view: View, plan: Plan) -> None:
        if job.id.startswith("w0!t"):
            hosts = plan.free.first(job.size)
            assert hosts is not None
            plan.start(job, hosts)
        else:
            super().tell(job, view, plan)


def test_too_few_free_hosts_are_seen() -> None:
    """The hosts that are free after the decision count, not the algorithm's reason; unless jobs share hosts."""
    for shared, kind in ((False, "hosts"), (True, "own")):
        session, rows = logged(Taker, allow_compute_sharing=shared)
        submit(session, 1, "t", 2)
        submit(session, 2, "large", 3)
        end(session)
        assert [row.reason for row in rows[1:]] == [kind]


def test_a_promise_is_told_when_its_start_moves() -> None:
    """With what happened: arrivals or ends, and which way it moved."""
    session, rows = logged(Taker)
    submit(session, 1, "promised")
    session.answer(message(1, ("REQUESTED_CALL", {})))
    submit(session, 2, "t")
    session.answer(message(3, ("JOB_COMPLETED", completed_data("t", "0"))))
    submit(session, 8, "late")
    session.answer(message(9, ("REQUESTED_CALL", {})))
    end(session)
    told = [(row.time, row.kind, row.start, row.reason, row.jobs) for row in rows if row.job == "w0!promised"]
    assert told == [
        (1.0, "promised", 19.0, "first", ()),
        (2.0, "promised", 18.0, "other", ()),
        (3.0, "promised", 17.0, "ends", ("w0!t",)),
        (8.0, "promised", 30.0, "arrivals", ("w0!late",)),
        (9.0, "withdrawn", None, "other", ()),
    ]


def test_hosts_that_can_take_no_job_are_told() -> None:
    """Each time that they change, and that they make promises move."""
    session, rows = logged()
    submit(session, 1, "promised")
    for now, kind in ((2, "event_machine_unavailable"), (3, "event_machine_available")):
        session.answer(message(now, ("NOTIFY", {"type": kind, "resources": "1-2"})))
    session.answer(message(10, ("NOTIFY", {"type": "event_machine_unavailable", "resources": "0"})))
    end(session)
    for kind in ("down", "unavailable"):
        assert [(row.time, str(row.hosts)) for row in rows if row.kind == kind] == [
            (2.0, "1-2"),
            (3.0, ""),
            (10.0, "0"),
        ]
    assert [row.reason for row in rows if row.job] == ["first", "other", "return", "failure"]


def test_a_rejection_is_told() -> None:
    """In the algorithm's words; of a job that never reached it, in ours."""
    session, rows = logged()
    submit(session, 1, "bad")
    submit(session, 2, "huge", 5)
    end(session)
    assert rows[1:] == [
        DecisionRow(1.0, "rejected", "w0!bad", words="no, \nthanks", submitted=0.0, size=1, walltime=10.0),
        DecisionRow(
            2.0,
            "rejected",
            "w0!huge",
            words="needs 5 hosts, the platform has 4",
            submitted=0.0,
            size=5,
            walltime=10.0,
        ),
    ]


def test_jobs_that_had_not_ended_are_told_last() -> None:
    """Running jobs come with their starts and hosts, waiting ones with their requests."""
    rows: list[DecisionRow] = []
    session = Session(Taker, log=rows.extend)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(4))))
    submit(session, 1, "t", 2)
    submit(session, 2, "large", 3)
    end(session, 50)
    assert rows[-2:] == [
        DecisionRow(50.0, "unfinished", "w0!t", 1.0, hosts=hosts("0-1"), submitted=0.0, size=2, walltime=10.0),
        DecisionRow(50.0, "unfinished", "w0!large", submitted=0.0, size=3, walltime=10.0),
    ]


def test_rows_are_passed_on_some_at_a_time() -> None:
    """Nothing is kept of jobs that have left, however many these are."""
    batches: list[int] = []

    def count(rows: Sequence[DecisionRow]) -> None:
        batches.append(len(rows))

    session = Session(Taker, log=count)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(4))))
    many = 3 * decision_log.BATCH
    for number in range(many):
        submit(session, number + 1, f"bad{number}")
    end(session, many + 1)
    assert sum(batches) == many + 1
    assert max(batches) == decision_log.BATCH


def test_without_a_log_the_plan_is_the_plain_one() -> None:
    """Nothing is kept."""
    assert type(Session(Talker).plan) is Plan


def test_jobs_that_have_left_are_forgotten() -> None:
    """Else a long run would need memory for each of its jobs."""
    rows: list[DecisionRow] = []
    log = decision_log.DecisionLog(state(4), None, rows.extend)
    plan = log.plan
    many = 3 * decision_log.BATCH
    for number in range(many):
        new = built_job(f"{number}")
        log._state.apply(submitted(new))
        plan.begin(0.0)
        plan.hold(new, "wait a moment")
        plan.promise(new, Shadow(9.0, 0))
        log.note(())
        plan.reject(new, "no")
        log.note(())
    log.note((), last=True)
    assert len(rows) == 3 * many + 1
    assert len(log._held) + len(log._promised) <= 2 * decision_log.BATCH
