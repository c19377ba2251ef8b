"""The Plan: each verb becomes a command, and what Batsim would refuse is refused at the call."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from procset import ProcSet

from batsched_py.errors import PlanError
from batsched_py.model.job import Job
from batsched_py.planning.future.promises import Slot
from batsched_py.protocol.begins import read_flat_config
from batsched_py.protocol.commands import (
    CallMeLater,
    ExecuteJob,
    KillJob,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SetJobMetadata,
    SetResourceState,
    ToJobMessage,
)
from batsched_py.protocol.events import Answer, Config, JobCompleted, Notify, Query, ResourceStateChanged
from batsched_py.scheduling.plan import SHORTEST_CALL, Plan, too_few
from batsched_py.session.decision_log import LoggedPlan
from batsched_py.state.running import Running
from batsched_py.state.state import State
from tests.builders import begins, completed, hosts, job, plan_for, state, submitted

DYNAMIC = Config(dynamic_jobs=True, dynamic_jobs_acknowledged=True)


def test_start_becomes_execute_job_and_shows_at_once() -> None:
    """A started job leaves the queue and its hosts are no longer free."""
    now = state(4, job("a", size=2))
    plan = plan_for(now)
    plan.start(job("a", size=2), hosts("1-2"))
    assert plan.commands == [ExecuteJob(0.0, "w0!a", hosts("1-2"))]
    assert plan.free == hosts("0 3")
    assert not now.queue
    now.check()


def test_hosts_may_be_given_as_a_procset() -> None:
    """For authors whose code works with that library; what is booked and sent is the same."""
    now = busy_sleepy_failed()
    plan = plan_for(now)
    plan.start(job("a", size=2), ProcSet((4, 5)))
    plan.set_pstate(ProcSet(2), 0)
    assert plan.commands == [ExecuteJob(0.0, "w0!a", hosts("4-5")), SetResourceState(0.0, hosts("2"), "0")]
    assert now.running["w0!a"].hosts == hosts("4-5")


def test_a_mapping_counts_executors_instead_of_hosts() -> None:
    """Several executors may share a host (E19, BA-18)."""
    now = state(2, job("a", size=4))
    plan = plan_for(now)
    plan.start(job("a", size=4), hosts("0-1"), mapping={0: 0, 1: 0, 2: 1, 3: 1})
    assert plan.commands == [ExecuteJob(0.0, "w0!a", hosts("0-1"), {0: 0, 1: 0, 2: 1, 3: 1})]


def busy_sleepy_failed() -> State:
    """Host 0 runs w0!r, 1 failed, 2 sleeps, 3 switches, 4 and 5 are free; w0!a (2 hosts) and w0!b wait; w0!e ended."""
    now = state(0)
    now.apply(begins(6, sleep_pstates="2:3:4", wattage_per_state="9:9:9, 8:8:8, 1:1:1, 7:7:7, 7:7:7"))
    for new in (job("r"), job("e"), job("a", size=2), job("b")):
        now.apply(submitted(new))
    setup = plan_for(now)
    setup.start(job("r"), hosts("0"))
    setup.start(job("e"), hosts("1"))
    now.apply(completed("w0!e"))
    now.apply(Notify(0.0, "event_machine_unavailable", hosts("1")))
    setup.set_pstate(hosts("2"), 2)
    now.apply(ResourceStateChanged(0.0, hosts("2"), "2"))
    setup.set_pstate(hosts("3"), 2)
    return now


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        (lambda plan: plan.start(job("a", size=2), hosts("4")), "start w0!a on 4: it needs 2 hosts, not 1"),
        (lambda plan: plan.start(job("b"), hosts("0")), "start w0!b on 0: 0 running a job"),
        (lambda plan: plan.start(job("b"), hosts("1")), "start w0!b on 1: 1 unavailable"),
        (lambda plan: plan.start(job("b"), hosts("2")), "start w0!b on 2: 2 asleep"),
        (lambda plan: plan.start(job("b"), hosts("3")), "start w0!b on 3: 3 switching"),
        (lambda plan: plan.start(job("b"), hosts("9")), "start w0!b on 9: 9 not in the platform"),
        (lambda plan: plan.start(job("b"), hosts("")), "it needs at least one host"),
        (lambda plan: plan.start(job("r"), hosts("4")), "start w0!r on 4: it runs already, on 0"),
        (lambda plan: plan.start(job("e"), hosts("4")), "start w0!e on 4: it has ended"),
        (lambda plan: plan.start(job("x"), hosts("4")), "start w0!x on 4: no such job was submitted"),
        (lambda plan: plan.start(job("a", size=2), hosts("4"), {0: 0}), "must place executors 0 to 1"),
        (lambda plan: plan.start(job("a", size=2), hosts("4"), {0: 0, 1: 1}), "must name positions 0 to 0"),
        (lambda plan: plan.reject(job("r"), "no"), "reject w0!r: it runs already, on 0"),
        (lambda plan: plan.kill([job("b")]), "kill w0!b: it does not run"),
        (lambda plan: plan.kill([job("e")]), "kill w0!e: it does not run"),
        (lambda plan: plan.wake_at(0.0), "wake at 0.0: it must be later than now, 0.0"),
        (lambda plan: plan.wake_at(float("nan")), "wake at nan"),
        (lambda plan: plan.set_pstate(hosts("9"), 0), "set pstate 0 on 9: these are not hosts of the platform"),
        (lambda plan: plan.set_pstate(hosts("4"), 5), "set pstate 5 on 4: host 4 has pstates 0 to 4"),
        (lambda plan: plan.set_pstate(hosts("4"), 3), "for host 4 this pstate only models switching off or on"),
        (
            lambda plan: plan.start(job("b"), {4}),
            "not {4}: HostSet.from_ids({4}) makes one",
        ),
        (lambda plan: plan.start(job("b"), ProcSet(0)), "start w0!b on 0: 0 running a job"),
        (lambda plan: plan.start(job("b"), ProcSet(10**9)), "start w0!b: host 1000000000 is not between 0 and"),
        (lambda plan: plan.set_pstate({4}, 0), "set pstate 0: hosts must be a HostSet or a ProcSet, not {4}"),
        (lambda plan: plan.start(job("b"), hosts("4"), {0: 0.0}), "must name positions 0 to 0"),
        (lambda plan: plan.set_metadata(job("r"), "a\nb"), "must not hold a double quote or a control character"),
        (lambda plan: plan.set_pstate(hosts("0"), 2), "set pstate 2 on 0: 0 runs a job"),
        (lambda plan: plan.set_pstate(hosts("2"), 2), "set pstate 2 on 2: 2 sleeps already"),
        (lambda plan: plan.set_pstate(hosts("3-4"), 0), "set pstate 0 on 3-4: 3 is switching"),
        (lambda plan: plan.submit(job("n")), "submit w0!n: Batsim runs without --enable-dynamic-jobs"),
        (lambda plan: plan.finish_registration(), "finish registration: Batsim runs without --enable-dynamic-jobs"),
        (lambda plan: plan.set_metadata(job("e"), "x"), "set metadata of w0!e: it neither waits nor runs"),
        (lambda plan: plan.set_metadata(job("r"), 'a"b'), "the text must not hold a double quote"),
        (lambda plan: plan.message(job("b"), "x"), "message to w0!b: it does not run"),
    ],
)
def test_the_impossible_is_refused_at_the_call(verb: Callable[[Plan], None], words: str) -> None:
    """The error names the job, the hosts and the rule; nothing is booked, nothing will be sent."""
    now = busy_sleepy_failed()
    plan = plan_for(now)
    with pytest.raises(PlanError) as caught:
        verb(plan)
    assert words in str(caught.value)
    assert plan.commands == []
    now.check()


@pytest.mark.parametrize("logged", [False, True], ids=["plain", "logged"])
@pytest.mark.parametrize(
    ("name", "verb"),
    [
        ("start", lambda plan, given: plan.start(given, hosts("4"))),
        ("start", lambda plan, given: plan.start(given, [4])),
        ("reject", lambda plan, given: plan.reject(given, "no")),
        ("kill", lambda plan, given: plan.kill(given)),
        ("kill", lambda plan, given: plan.kill([given])),
        ("submit", lambda plan, given: plan.submit(given)),
        ("set metadata", lambda plan, given: plan.set_metadata(given, "x")),
        ("message", lambda plan, given: plan.message(given, "x")),
        ("change state", lambda plan, given: plan.change_state(given, "RUNNING")),
        ("hold", lambda plan, given: plan.hold(given, "why")),
        ("promise", lambda plan, given: plan.promise(given, Slot(0.0, 1.0, hosts("4")))),
    ],
)
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("w0!b", "not the text 'w0!b': view.job('w0!b') returns it"),
        (None, "not None"),
        (JobCompleted(0.0, "w0!b", "COMPLETED_SUCCESSFULLY"), "view.job(event.job_id) returns its job"),
        (Running(job("r"), hosts("0"), 0.0, 1.0), "not a Running: its attribute job is one"),
    ],
    ids=["id", "None", "event", "run"],
)
def test_each_verb_says_that_it_needs_a_job(
    name: str, verb: Callable[[Plan, Any], None], given: Any, told: str, logged: bool
) -> None:
    """Events name jobs by their ids, so that everybody tries that; nothing is booked."""
    state = busy_sleepy_failed()
    plan = LoggedPlan(state) if logged else plan_for(state)
    with pytest.raises(PlanError) as caught:
        verb(plan, given)
    assert str(caught.value).startswith(f"{name}: a job is needed, not ")
    assert told in str(caught.value)
    assert (plan.commands, plan.holds, plan.promises) == ([], {}, {})


@pytest.mark.parametrize(
    ("verb", "told"),
    [
        (lambda plan, given: plan.wake_at(given), "wake at: a number is needed, not "),
        (lambda plan, given: plan.call_every(given, "a"), "call every: a number is needed, not "),
        (lambda plan, given: plan.watch_energy(given), "watch energy: a number is needed, not "),
        (lambda plan, given: plan.set_pstate(hosts("2"), given), "set pstate: a whole number is needed, not "),
    ],
)
@pytest.mark.parametrize("given", ["5", None, [5.0], 1j, hosts("5")], ids=str)
def test_each_verb_says_that_it_needs_a_number(verb: Callable[[Plan, Any], None], given: Any, told: str) -> None:
    """A text of digits is none; nothing is booked."""
    plan = plan_for(busy_sleepy_failed())
    with pytest.raises(PlanError, match=f"^{told}"):
        verb(plan, given)
    assert plan.commands == []


def test_numbers_of_libraries_are_numbers() -> None:
    """They are sent as a float or an int: the same bytes in each build."""
    plan = plan_for(busy_sleepy_failed())
    plan.wake_at(Fraction(15, 2))
    plan.wake_at(20)
    assert [repr(command.at) for command in plan.commands if isinstance(command, CallMeLater)] == ["7.5", "20.0"]
    with pytest.raises(PlanError, match=r"^call every 1.0 s: the name must be a text, not 5"):
        plan.call_every(1, 5)  # type: ignore[arg-type]
    with pytest.raises(PlanError, match=r"^call every: times: a whole number is needed, not 1.5"):
        plan.call_every(1, "a", 1.5)  # type: ignore[arg-type]


def test_a_verb_that_takes_an_id_says_so() -> None:
    """A job has one."""
    with pytest.raises(PlanError, match=r"^withdraw promise: the id of a job is needed, not a Job: its attribute id"):
        plan_for(busy_sleepy_failed()).withdraw_promise(job("b"))  # type: ignore[arg-type]


def test_busy_hosts_may_be_shared_where_batsim_allows_it() -> None:
    """With compute sharing a start on a busy host is legal."""
    now = state(1, job("a"), job("b"), sharing=True)
    plan = plan_for(now)
    plan.start(job("a"), hosts("0"))
    plan.start(job("b"), hosts("0"))
    assert len(plan.commands) == 2
    now.check()


def test_reject_keeps_the_reason() -> None:
    """Batsim has no place for it, we have."""
    now = state(1, job("a"))
    plan = plan_for(now)
    plan.hold(job("a"), "waits")
    plan.reject(job("a"), "too late")
    assert plan.commands == [RejectJob(0.0, "w0!a")]
    assert plan.rejections == {"w0!a": "too late"}
    assert plan.holds == {}


def test_a_job_is_killed_once() -> None:
    """A kill on its way is not asked for again, and nothing left to kill is no command."""
    now = state(2, job("a"), job("b"))
    plan = plan_for(now)
    plan.start(job("a"), hosts("0"))
    plan.start(job("b"), hosts("1"))
    plan.kill([job("a"), job("a")])
    plan.kill([job("a"), job("b")])
    plan.kill([job("b")])
    assert plan.commands[2:] == [KillJob(0.0, ("w0!a",)), KillJob(0.0, ("w0!b",))]


def test_power_needs_hosts_that_describe_it() -> None:
    """Batsim refuses both verbs without energy, which such a platform cannot count."""
    plan = plan_for(state(1))
    with pytest.raises(PlanError, match="set pstate 0 on 0: host 0 describes no power states"):
        plan.set_pstate(hosts("0"), 0)
    with pytest.raises(PlanError, match="ask energy: host 0 describes no power"):
        plan.ask_energy()


def test_one_job_is_killed_like_several() -> None:
    """A job or a collection of them."""
    now = state(1, job("a"))
    plan = plan_for(now)
    plan.start(job("a"), hosts("0"))
    plan.kill(job("a"))
    assert plan.commands[1:] == [KillJob(0.0, ("w0!a",))]


def test_an_instant_is_asked_for_once() -> None:
    """Two reasons to wake at one time are one call (BA-6)."""
    plan = plan_for(state(1))
    plan.wake_at(5.0)
    plan.wake_at(5.0)
    assert plan.commands == [CallMeLater(0.0, 5.0)]


def test_a_call_is_never_nearer_than_batsim_accepts() -> None:
    """Batsim's clock moves on while it applies a reply, so a nearer call would abort it."""
    plan = plan_for(state(1))
    plan.wake_at(1e-9)
    assert plan.commands == [CallMeLater(0.0, SHORTEST_CALL)]


def test_a_job_of_ones_own_comes_with_its_profile() -> None:
    """REGISTER_PROFILE precedes REGISTER_JOB (BA-10)."""
    now = state(1, config=DYNAMIC)
    plan = plan_for(now)
    new = job("n")
    plan.submit(new, {"type": "delay", "delay": 3})
    assert plan.commands == [
        RegisterProfile(0.0, "w0", "p", {"type": "delay", "delay": 3}),
        RegisterJob(0.0, new.id, new),
    ]


def test_registration_is_finished_once() -> None:
    """Exactly one registration_finished; after it nothing may be submitted, until it is taken back (BA-9)."""
    now = state(1, config=DYNAMIC)
    plan = plan_for(now)
    plan.finish_registration()
    for verb in (plan.finish_registration, lambda: plan.submit(job("n"), {"type": "delay", "delay": 3})):
        with pytest.raises(PlanError, match="registration was finished before"):
            verb()
    plan.continue_registration()
    assert [command.kind for command in plan.commands if isinstance(command, Notify)] == [
        "registration_finished",
        "continue_registration",
    ]
    with pytest.raises(PlanError, match="it was not finished"):
        plan.continue_registration()


def test_ids_and_profiles_of_ones_own_are_new() -> None:
    """A used id, an unknown profile and a profile defined twice are refused."""
    now = state(1, job("a"), config=DYNAMIC)
    plan = plan_for(now)
    with pytest.raises(PlanError, match="submit w0!n: profile p is not registered"):
        plan.submit(job("n"))
    with pytest.raises(PlanError, match="submit w0!a: this id was used before"):
        plan.submit(job("a"))
    plan.register_profile("w0", "p", {"type": "delay", "delay": 3})
    with pytest.raises(PlanError, match="register profile w0!p: it exists"):
        plan.register_profile("w0", "p", {"type": "delay", "delay": 3})


def test_a_job_of_ones_own_is_submitted_now() -> None:
    """At the time the commands take effect, unless it says when; never later, which Batsim does not do."""
    now = state(1, config=DYNAMIC)
    now.advance(7.0)
    plan = Plan(now)
    plan.begin(7.5)
    profile = {"type": "delay", "delay": 3}
    plan.submit(Job.create("dyn!1", size=1, profile="p"), profile)
    plan.submit(Job.create("dyn!2", size=1, profile="p", submit_time=2.0))
    sent = [command.job for command in plan.commands if isinstance(command, RegisterJob)]
    assert [(one.submit_time, one.members["subtime"]) for one in sent if one is not None] == [(7.5, 7.5), (2.0, 2.0)]
    with pytest.raises(PlanError, match="submit dyn!3: its submit_time 9 is later than now; Batsim submits at once"):
        plan.submit(Job.create("dyn!3", size=1, profile="p", submit_time=9))


def test_the_same_profile_may_be_given_with_each_job() -> None:
    """It is registered once; another under its name is refused."""
    now = state(1, config=DYNAMIC)
    plan = plan_for(now)
    for number in range(3):
        plan.submit(Job.create(f"dyn!{number}", size=1, profile="p"), {"type": "delay", "delay": 3})
    assert [type(command) for command in plan.commands] == [RegisterProfile, *[RegisterJob] * 3]
    with pytest.raises(PlanError, match="submit dyn!9: profile p of workload dyn has other members"):
        plan.submit(Job.create("dyn!9", size=1, profile="p"), {"type": "delay", "delay": 4})


@pytest.mark.parametrize(
    ("mine", "profile", "rule"),
    [
        (Job.create("dyn", size=1, profile="p"), {}, "submit dyn: job_id: must be workload!name, not 'dyn'"),
        (Job.create("dyn!1", size=0, profile="p"), {}, "submit dyn!1: it needs at least one host"),
        (Job.create("dyn!1", size=-1, profile="p"), {}, "submit dyn!1: res: must be a whole number from 0, not -1"),
        (Job.create("dyn!1", size=1, profile="p", walltime=0), {}, "submit dyn!1: walltime: must be greater than 0 s"),
        (Job.create("dyn!1", size=1, profile="p"), {}, "submit dyn!1: profile p: type: is missing"),
        (Job.create("dyn!1", size=1, profile="p"), [], r"submit dyn!1: profile p: must be an object, not \[\]"),
        (
            Job.create("dyn!1", size=1, profile="p"),
            {"type": "delay", "delay": 0},
            "submit dyn!1: profile p: delay: must be a number of seconds greater than 0, not 0",
        ),
        (
            Job.create("dyn!1", size=1, profile="p"),
            {"type": "parallel", "cpu": [1, 1], "com": []},
            "submit dyn!1: profile p is for 2 hosts, the job asks for 1",
        ),
    ],
)
def test_a_job_of_ones_own_that_batsim_would_refuse_is_refused(mine: Job, profile: Any, rule: str) -> None:
    """The job, the member and the rule; nothing was sent or booked."""
    now = state(2, config=DYNAMIC)
    plan = plan_for(now)
    with pytest.raises(PlanError, match="^" + rule):
        plan.submit(mine, profile)
    assert plan.commands == []
    assert list(now.profiles.names("dyn")) == []


def test_a_profile_that_batsim_forgot_is_not_named_again() -> None:
    """Neither to use it nor to register it, but in the reply to the first end: real Batsim aborts on both."""
    config = read_flat_config({"dynamic-jobs-enabled": True, "profile-reuse-enabled": False})
    now = state(1, config=config)
    plan = plan_for(now)
    profile = {"type": "delay", "delay": 3}
    first = Job.create("dyn!1", size=1, profile="p")
    plan.submit(first, profile)
    plan.start(first, hosts("0"))
    plan.submit(Job.create("dyn!2", size=1, profile="p"), profile)
    now.advance(3.0)
    now.apply(completed("dyn!1", 3.0))
    plan.begin(3.0)
    plan.submit(Job.create("dyn!3", size=1, profile="p"), profile)
    now.advance(4.0)
    plan.begin(4.0)
    words = "Batsim forgot it when the first of its jobs had ended; take a new name, or run with --enable-profile-reuse"
    with pytest.raises(PlanError, match=f"submit dyn!4: profile p: {words}"):
        plan.submit(Job.create("dyn!4", size=1, profile="p"), profile)
    with pytest.raises(PlanError, match=f"register profile dyn!p: {words}"):
        plan.register_profile("dyn", "p", profile)


def test_the_other_verbs_become_their_commands() -> None:
    """Power, metadata, messages, questions and answers."""
    now = state(0)
    now.apply(begins(2, wattage_per_state="9:9:9, 8:8:8, 7:7:7, 6:6:6"))
    now.apply(submitted(job("a")))
    plan = plan_for(now)
    plan.start(job("a"), hosts("0"))
    plan.set_pstate(hosts("1"), 3)
    plan.set_metadata(job("a"), "note")
    plan.message(job("a"), "hello")
    plan.ask_energy()
    plan.answer({"x": 1})
    assert plan.commands[1:] == [
        SetResourceState(0.0, hosts("1"), "3"),
        SetJobMetadata(0.0, "w0!a", "note"),
        ToJobMessage(0.0, "w0!a", "hello"),
        Query(0.0, {"consumed_energy": {}}),
        Answer(0.0, {"x": 1}),
    ]


@pytest.mark.parametrize(
    ("needed", "free", "said"),
    [
        (1, 0, "needs 1 host, 0 are free"),
        (3, 1, "needs 3 hosts, 1 is free"),
        (3, 2, "needs 3 hosts, 2 are free"),
    ],
)
def test_too_few_hosts_are_free(needed: int, free: int, said: str) -> None:
    """Nouns and verbs go with their numbers."""
    assert too_few(needed, free) == said


def test_a_warning_is_one_line_whatever_a_peer_named() -> None:
    """With the time."""
    warnings: list[str] = []
    Plan(State(), warnings.append).warn("there is no experiment \x1b[2J\nt=0: forged")
    assert warnings == [r"t=0: there is no experiment \x1b[2J\nt=0: forged"]
