"""The session: bytes in, bytes out, and what happens when something is wrong."""

from __future__ import annotations

import json
import signal
from asyncio import CancelledError
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.api import Answer, Event, HostSet, Job, NoOptions, Notify, Plan, Scheduler, Table, View, option
from batsched_py.errors import (
    AlgorithmError,
    LocalProtocolError,
    OptionError,
    PlatformError,
    PluginError,
    RemoteProtocolError,
    StoreError,
)
from batsched_py.interruption import Interruption
from batsched_py.metadata.memory_store import MemoryStore
from batsched_py.planning.power import read_power
from batsched_py.protocol.commands import KillJob
from batsched_py.protocol.events import SimulationEnds
from batsched_py.schedulers.easy import Easy
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.schedulers.priority import Priority
from batsched_py.session.clock import DecisionClock, parse_clock
from batsched_py.session.session import Session
from tests.builders import begins_data, begun, completed_data, message, said, submitted_data


def begins_v14(**members: Any) -> dict[str, Any]:
    """The data of v1.4's first event, with four hosts."""
    resources = [{"id": n, "name": f"n{n}", "state": "idle", "properties": {}} for n in range(4)]
    return {"nb_resources": 4, "allow_time_sharing": False, "config": {}, "resources_data": resources, **members}


ENDS = ("SIMULATION_ENDS", dict[str, Any]())


def test_a_job_is_run_once_from_begin_to_end() -> None:
    """BA-1: one EXECUTE_JOB, then nothing; the last reply is empty and the session is over."""
    session = begun()
    assert said(session.answer(message(1, ("JOB_SUBMITTED", submitted_data("a", 2))))) == [
        ("EXECUTE_JOB", {"job_id": "w0!a", "alloc": "0-1"})
    ]
    assert said(session.answer(message(5, ("JOB_COMPLETED", completed_data("a", "0-1"))))) == []
    assert not session.over
    assert json.loads(session.answer(message(5, ENDS))) == {"now": 5.0, "events": []}
    assert session.over
    assert session.messages == 4


class Tabulating(Fcfs):
    """Has a table that is wrong as soon as it has a row."""

    rows: ClassVar[list[tuple[int, ...]]] = []

    def tables(self, view: View) -> list[Table]:
        return [Table("mine", ("n", "m"), self.rows)]


def test_tables_are_the_algorithms_of_a_run_that_has_begun() -> None:
    """Before there is no view of hosts."""
    assert begun(Tabulating).tables() == (Table("mine", ("n", "m"), ()),)
    assert begun().tables() == ()
    assert Session(Tabulating).tables() == ()


def test_a_table_that_cannot_be_written_is_the_algorithms_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name, the table and the rule."""
    monkeypatch.setattr(Tabulating, "rows", [(1,)])
    with pytest.raises(AlgorithmError) as caught:
        begun(Tabulating).tables()
    assert str(caught.value) == "tables of fcfs: ValueError: table mine, row 1: 1 cells, where the header has 2"


class Witness(Fcfs):
    """Writes down what it observes."""

    def setup(self, view: View) -> None:
        super().setup(view)
        self.seen: list[str] = []
        Witness.latest = self.seen

    latest: ClassVar[list[str]] = []

    def observe(self, event: Event, view: View) -> None:
        self.seen.append(type(event).__name__)


def test_the_last_message_is_observed_though_nothing_is_decided() -> None:
    """In v1.4 the end of the last job comes with the end of the simulation."""
    end = {"job_id": "w0!a", "status": "SUCCESS", "job_state": "COMPLETED_SUCCESSFULLY", "kill_reason": ""}
    session = Session(Witness)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_v14())))
    session.answer(message(1, ("JOB_SUBMITTED", submitted_data("a", 2))))
    session.answer(message(5, ("JOB_COMPLETED", end), ENDS))
    assert Witness.latest == ["SimulationBegins", "JobSubmitted", "JobCompleted", "SimulationEnds"]


def test_an_algorithm_that_fails_at_the_end_is_told() -> None:
    """Like one that fails before."""

    class Fragile(Fcfs):
        def observe(self, event: Event, view: View) -> None:
            if isinstance(event, SimulationEnds):
                raise ValueError("no job ran")

    with pytest.raises(AlgorithmError, match="no job ran"):
        begun(Fragile).answer(message(5, ENDS))


def test_the_same_facts_in_both_dialects_give_the_same_decisions() -> None:
    """BA-2: resources_data, status and kill_reason against compute_resources and alloc."""
    old_begins = begins_v14()
    old_end = {"job_id": "w0!a", "status": "SUCCESS", "job_state": "COMPLETED_SUCCESSFULLY", "kill_reason": ""}
    new_end = completed_data("a", "0-3")
    answers = []
    for begins, end in ((old_begins, old_end), (begins_data(4), new_end)):
        session = Session(Easy)
        requests = [
            message(0, ("SIMULATION_BEGINS", begins)),
            message(1, ("JOB_SUBMITTED", submitted_data("a", 4)), ("JOB_SUBMITTED", submitted_data("b", 1))),
            message(5, ("JOB_COMPLETED", end)),
        ]
        answers.append([session.answer(request) for request in requests])
    assert answers[0] == answers[1]


def test_a_job_without_walltime_is_rejected_by_those_who_need_one() -> None:
    """EASY promises by walltimes; FCFS does not."""
    request = message(1, ("JOB_SUBMITTED", submitted_data("a", walltime=None)))
    assert said(begun(Easy).answer(request)) == [("REJECT_JOB", {"job_id": "w0!a"})]
    assert said(begun(Fcfs).answer(request)) == [("EXECUTE_JOB", {"job_id": "w0!a", "alloc": "0"})]


def test_a_duplicate_job_id_names_the_member_and_the_rule() -> None:
    """Batsim's mistakes against what it said before are its own, with a path."""
    session = begun()
    session.answer(message(1, ("JOB_SUBMITTED", submitted_data("a"))))
    with pytest.raises(RemoteProtocolError) as caught:
        session.answer(message(2, ("NOTIFY", {"type": "x"}), ("JOB_SUBMITTED", submitted_data("a"))))
    assert str(caught.value) == "events[1].data.job_id: must be new; w0!a was submitted before (t=2)"


class Clumsy(Scheduler[NoOptions]):
    """Starts every job on host 0."""

    name = "clumsy"

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            plan.start(job, HostSet.of(0))


class Broken(Scheduler[NoOptions]):
    """Raises as soon as a job arrives."""

    name = "broken"

    def decide(self, view: View, plan: Plan) -> None:
        if view.arrived:
            raise ZeroDivisionError("no luck")


def test_a_refused_plan_tells_the_story() -> None:
    """Time, event, job, rule: what an algorithm's author needs."""
    session = begun(Clumsy)
    session.answer(message(1, ("JOB_SUBMITTED", submitted_data("a"))))
    with pytest.raises(AlgorithmError) as caught:
        session.answer(message(2.5, ("JOB_SUBMITTED", submitted_data("b"))))
    story = str(caught.value)
    assert story.startswith("t=2.5: clumsy failed on JobSubmitted w0!b: start w0!b on 0: 0 running a job (")
    assert "test_session.py:" in story


def test_an_exception_of_the_algorithm_tells_the_story_and_the_line() -> None:
    """The file and line are the algorithm's."""
    session = begun(Broken)
    with pytest.raises(
        AlgorithmError, match=r"t=1: broken failed on JobSubmitted w0!a: ZeroDivisionError: no luck"
    ) as caught:
        session.answer(message(1, ("JOB_SUBMITTED", submitted_data("a"))))
    assert "test_session.py:" in str(caught.value)


class Leaving(Scheduler[NoOptions]):
    """Ends a decision by what is not meant for errors."""

    name = "leaving"

    #: Set by a test.
    by: ClassVar[BaseException]

    def decide(self, view: View, plan: Plan) -> None:
        raise self.by


@pytest.mark.parametrize(
    ("by", "told"),
    [
        (SystemExit("done\nhere"), "SystemExit: done here"),
        (KeyboardInterrupt(), "KeyboardInterrupt: "),
        (GeneratorExit("g"), "GeneratorExit: g"),
        (CancelledError("c"), "CancelledError: c"),
        (pytest.fail.Exception("f"), "Failed: f"),
        (pytest.skip.Exception("s"), "Skipped: s"),
        (BaseException("b"), "BaseException: b"),
    ],
    ids=repr,
)
def test_an_algorithm_that_ends_by_any_exception_has_failed(
    by: BaseException, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batsim would be left without a reply, the user without a word."""
    monkeypatch.setattr(Leaving, "by", by, raising=False)
    with pytest.raises(AlgorithmError, match=rf"leaving failed on SimulationBegins: {told} ?\(test_session"):
        begun(Leaving)


def test_an_interruption_is_none_and_tells_what_it_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line of the algorithm, which may loop for ever."""
    monkeypatch.setattr(Leaving, "by", Interruption(signal.SIGINT), raising=False)
    with pytest.raises(Interruption, match=r"while leaving decided \(test_session.py:\d+\), t=0, on SimulationBegins"):
        begun(Leaving)


class Infinite(Scheduler[NoOptions]):
    """Answers what JSON cannot say."""

    name = "infinite"

    def decide(self, view: View, plan: Plan) -> None:
        plan.answer({"x": object()})


def test_an_answer_that_cannot_be_written_is_refused_at_the_call() -> None:
    """When, who, in answer to what, and where."""
    with pytest.raises(AlgorithmError, match=r"t=0: infinite failed on SimulationBegins: answer: .* cannot be written"):
        begun(Infinite)


class Smuggler(Scheduler[NoOptions]):
    """Puts a command into the reply behind the Plan's back."""

    name = "smuggler"

    def decide(self, view: View, plan: Plan) -> None:
        plan.commands.append(KillJob(0.0, ()))


def test_a_reply_that_cannot_be_written_tells_the_story_too() -> None:
    """When, who, in answer to what."""
    with pytest.raises(LocalProtocolError, match=r"at least one job .*\(t=0: smuggler answering SimulationBegins\)"):
        begun(Smuggler)


class Unmade(Scheduler[NoOptions]):
    """Cannot be constructed."""

    name = "unmade"

    def __init__(self, options: NoOptions) -> None:
        raise RuntimeError("no memory")

    def decide(self, view: View, plan: Plan) -> None:
        """Never called."""


def test_an_algorithm_that_cannot_be_made_is_a_plugin_error() -> None:
    """Its file and line are named."""
    with pytest.raises(PluginError, match=r"algorithm unmade: RuntimeError: no memory \(test_session\.py:"):
        Session(Unmade)


def test_a_wrong_job_in_a_query_is_the_other_side_s_mistake() -> None:
    """The member is named, and nobody blames the algorithm."""
    asked = {"requests": {"estimate_waiting_time": {"job_id": "w0!z", "job": {}}}}
    with pytest.raises(RemoteProtocolError) as caught:
        begun(Easy).answer(message(2, ("QUERY", asked)))
    assert str(caught.value).startswith("events[0].data.requests.estimate_waiting_time.job.res: must be a whole number")


def test_a_refusal_is_an_event_that_batsim_does_not_know() -> None:
    """Batsim aborts on it instead of waiting for ever; its log shows the reason."""
    session = begun(Broken)
    reply = json.loads(session.refusal(ValueError("no luck")))
    assert reply["events"] == [{"timestamp": 0, "type": "BATSCHED_PY_STOPPED", "data": {"reason": "no luck"}}]


@dataclass(frozen=True, slots=True)
class Limit:
    """The option with the number of jobs to start."""

    limit: int = option(1, "at most so many jobs at a time")


class Limited(Scheduler[Limit]):
    """FCFS with a limit; remembers what it observed."""

    name = "limited"

    def setup(self, view: View) -> None:
        self.seen: list[str] = [str(len(view.all_hosts))]

    def observe(self, event: Event, view: View) -> None:
        self.seen.append(event.kind if isinstance(event, Notify) else type(event).__name__)

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            if len(view.running) >= self.options.limit:
                plan.hold(job, "the limit is reached")
            else:
                hosts = plan.free.first(job.size)
                assert hosts is not None
                plan.start(job, hosts)


def started(session: Session) -> int:
    """Return how many of three small jobs start at once."""
    jobs = [("JOB_SUBMITTED", submitted_data(name)) for name in "abc"]
    return len(said(session.answer(message(1, *jobs))))


def test_options_of_the_user_rule_over_those_of_batsim() -> None:
    """--sched-cfg sets options too; what was said to us directly wins."""
    config: dict[str, Any] = {"config": {"sched-config": '{"limit": 2}'}}
    assert started(begun(Limited)) == 1
    assert started(begun(Limited, **config)) == 2
    session = Session(Limited, {"limit": "3"})
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(**config))))
    assert started(session) == 3


def test_an_option_for_another_scheduler_in_sched_config_is_left_out_with_a_warning() -> None:
    """Batsim's text is for whoever listens; what is said to us alone must be right, and is an error."""
    warnings: list[str] = []
    session = Session(Limited, warn=warnings.append)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(config={"sched-config": '{"depth": 1, "limit": 2}'}))))
    assert warnings == ["sched-config: option depth: limited has no such option; it is ignored"]
    assert started(session) == 2


def test_sched_config_may_be_an_object_in_the_configuration_of_batsim_1() -> None:
    """Its configuration takes any members of the user's own."""
    session = Session(Limited)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_v14(config={"sched-config": {"limit": 2}}))))
    assert started(session) == 2


def test_hosts_that_compute_when_the_simulation_begins_are_told() -> None:
    """The protocol has the state; nothing will tell that such a host is free."""
    warnings: list[str] = []
    begins = begins_v14()
    for number in (0, 1, 3):
        begins["resources_data"][number]["state"] = "computing"
    Session(Limited, warn=warnings.append).answer(message(0, ("SIMULATION_BEGINS", begins)))
    assert warnings == [
        "hosts 0-1 3 compute when the simulation begins: no event will report their end, so they count as free"
    ]


class Listening(Fcfs):
    """Keeps the joules that it is told."""

    def setup(self, view: View) -> None:
        super().setup(view)
        self.told: list[float | None] = []
        Listening.latest = self.told

    latest: ClassVar[list[float | None]] = []

    def observe(self, event: Event, view: View) -> None:
        if isinstance(event, Answer):
            self.told.append(event.consumed_energy)


@pytest.mark.parametrize(
    ("values", "keys", "joules"),
    [
        ({"default:/my/key": b"12500"}, "/my/key", 12500.0),
        ({"default:e": b'{"consumed_energy": "3.5"}'}, "default:e", 3.5),
        ({"default:a": b"{}", "default:b": b'{"energy_consumed": 2}'}, ["a", "b"], 2.0),
    ],
)
def test_an_answer_in_redis_is_read_there(values: dict[str, bytes], keys: object, joules: float) -> None:
    """Batsim 1 tells the key alone: of an object, or of the number."""
    store = MemoryStore()
    store.values.update(values)
    session = Session(Listening, open_store=lambda _: store)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_v14(config={"redis": {"enabled": True}}))))
    session.answer(message(1, ("QUERY_REPLY", {"redis_keys": keys})))
    assert Listening.latest == [joules]


@pytest.mark.parametrize(
    ("value", "keys", "rule"),
    [
        (b"1", "other", "memory: key default:other: is missing, but Batsim has answered under this key"),
        (b"1", "strange:k", "memory: key default:strange:k: is missing"),
        (b"x", "k", "memory: key default:k: must be JSON"),
        (b"1", 5, "redis_keys: must be a key or a list of keys, not 5"),
        (b"1", ["k", None], "redis_keys: must be a key or a list of keys, not "),
    ],
)
def test_an_answer_that_is_not_in_redis_is_an_error(value: bytes, keys: object, rule: str) -> None:
    """With the key; what has another prefix is not read."""
    store = MemoryStore()
    store.values.update({"default:k": value, "strange:k": b"1"})
    session = Session(Listening, open_store=lambda _: store)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_v14(config={"redis": {"enabled": True}}))))
    with pytest.raises(StoreError, match=rule):
        session.answer(message(1, ("QUERY_REPLY", {"redis_keys": keys})))


def test_an_answer_in_redis_is_warned_of_where_there_is_none() -> None:
    """It reaches the algorithm as it came, without a number."""
    warnings: list[str] = []
    session = Session(Listening, warn=warnings.append)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_v14())))
    for now in (1, 2):
        session.answer(message(now, ("QUERY_REPLY", {"redis_keys": f"/my/key{now}"})))
    assert Listening.latest == [None, None]
    assert warnings == [
        f"t={now}: QUERY_REPLY: redis_keys '/my/key{now}' not read: Batsim runs without Redis" for now in (1, 2)
    ]


@pytest.mark.parametrize("text", ["{limit: 2}", "[2]", '{"limit": "x"}'])
def test_a_wrong_sched_config_is_an_option_error(text: str) -> None:
    """Batsim's string must be a JSON object, and known options in it must have their type."""
    with pytest.raises(OptionError):
        begun(Limited, config={"sched-config": text})


def test_wrong_options_are_refused_before_batsim_speaks() -> None:
    """The user learns of it at once."""
    with pytest.raises(OptionError, match="option limits: limited has no such option"):
        Session(Limited, {"limits": 1})


def test_the_hooks_are_called_in_order() -> None:
    """setup once, then each event of a message, then decide."""
    session = begun(Limited)
    session.answer(message(1, ("NOTIFY", {"type": "x"}), ("JOB_SUBMITTED", submitted_data("a"))))
    assert isinstance(session.scheduler, Limited)
    assert session.scheduler.seen == ["4", "SimulationBegins", "x", "JobSubmitted"]


def test_waiting_tells_why_each_job_waits() -> None:
    """The algorithm's own words, for a deadlock's story."""
    session = begun(Limited)
    started(session)
    assert session.waiting() == [
        "w0!b (1 host) held at t=1: the limit is reached",
        "w0!c (1 host) held at t=1: the limit is reached",
    ]


class Dynamic(Scheduler[NoOptions]):
    """Submits a job of its own at once, asks for two calls and finishes registration at the second."""

    name = "dynamic"
    needs_dynamic_jobs = True

    def setup(self, view: View) -> None:
        self.begun = False

    def decide(self, view: View, plan: Plan) -> None:
        if not self.begun:
            self.begun = True
            plan.submit(Job.create("own!1", size=1, profile="d"), {"type": "delay", "delay": 3})
            plan.wake_at(7.0)
        for job in view.queue:
            plan.start(job, HostSet.of(0))


def test_calls_stand_before_other_commands() -> None:
    """Batsim's clock moves on with each event it applies, and a call must be later than it."""
    session = Session(Dynamic)
    reply = session.answer(message(0, ("SIMULATION_BEGINS", begins_data(config={"dynamic-jobs-enabled": True}))))
    assert [kind for kind, _ in said(reply)] == ["CALL_ME_LATER", "REGISTER_PROFILE", "REGISTER_JOB", "EXECUTE_JOB"]


def test_an_algorithm_that_submits_needs_dynamic_jobs() -> None:
    """One clear line that names Batsim's option."""
    with pytest.raises(OptionError, match="run Batsim with --enable-dynamic-jobs"):
        begun(Dynamic)


class Optional(Dynamic):
    """Would submit jobs, and can do without."""

    name = "optional"
    needs_dynamic_jobs = False
    uses_dynamic_jobs = True

    def decide(self, view: View, plan: Plan) -> None:
        if not view.config.dynamic_jobs and not self.begun:
            self.begun = True
            plan.warn("nothing is submitted")


def test_an_algorithm_that_may_submit_runs_with_and_without_dynamic_jobs() -> None:
    """Registration is its own to finish; without dynamic jobs it can tell the user what it does not do."""
    warnings: list[str] = []
    for dynamic in (True, False):
        session = Session(Optional, warn=warnings.append)
        begins = begins_data(config={"dynamic-jobs-enabled": dynamic})
        assert said(session.answer(message(2, ("SIMULATION_BEGINS", begins)))) == []
    assert warnings == ["t=2: nothing is submitted"]


class Powered(Scheduler[NoOptions]):
    """Needs to know what hosts draw."""

    name = "powered"
    needs_energy = True

    def decide(self, view: View, plan: Plan) -> None:
        """Do nothing."""


def test_an_algorithm_that_needs_energy_needs_hosts_that_describe_it() -> None:
    """One clear line that names the property."""
    with pytest.raises(OptionError, match="powered needs hosts that describe their power"):
        begun(Powered)
    hosts = [{"id": 0, "name": "n0", "state": "idle", "properties": {"wattage_per_state": "9:9:9"}}]
    assert begun(Powered, 1, compute_resources=hosts).messages == 1


class Reading(Powered):
    """Reads what hosts draw."""

    name = "reading"

    def setup(self, view: View) -> None:
        for host in view.hosts.values():
            read_power(host.name, host.properties)


def test_a_host_that_nobody_can_read_is_not_the_algorithms_failure() -> None:
    """Wrong input, by host and property; Batsim tells no file."""
    hosts = [{"id": 0, "name": "n0", "state": "idle", "properties": {"wattage_per_state": "9:9:9:9"}}]
    with pytest.raises(PlatformError, match=r"^host n0\.wattage_per_state: must be watts") as caught:
        begun(Reading, 1, compute_resources=hosts)
    assert caught.value.exit_code == 2


def test_a_fixed_decision_time_stamps_the_reply_and_its_commands() -> None:
    """The decision takes effect later, so it is stamped later, and the walltime runs from then."""
    session = Session(Easy, clock=DecisionClock(fixed=0.5))
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data())))
    reply = json.loads(
        session.answer(message(1, ("JOB_SUBMITTED", submitted_data("a", 4)), ("JOB_SUBMITTED", submitted_data("b", 4))))
    )
    assert reply["now"] == 1.5
    assert [event["timestamp"] for event in reply["events"]] == [1.5]
    asked = {"requests": {"estimate_waiting_time": {"job_id": "w0!b"}}}
    answer = said(session.answer(message(2, ("QUERY", asked))))[0][1]["estimate_waiting_time"]
    assert answer["estimated_waiting_time"] == 10  # at 11.5 its hosts are free, and the decision takes 0.5 s


def test_a_measured_decision_time_is_the_clock_s() -> None:
    """The reply is stamped with the time that passed on the wall clock that was given."""
    ticks = iter([10.0, 10.25, 20.0, 20.5])
    session = Session(Fcfs, clock=DecisionClock(wall=lambda: next(ticks)))
    assert json.loads(session.answer(message(0, ("SIMULATION_BEGINS", begins_data()))))["now"] == 0.25
    reply = json.loads(session.answer(message(1, ("JOB_SUBMITTED", submitted_data("a")))))
    assert (reply["now"], reply["events"][0]["timestamp"]) == (1.5, 1.5)


class Impatient(Scheduler[NoOptions]):
    """Asks for a call in 10 ms."""

    name = "impatient"

    def decide(self, view: View, plan: Plan) -> None:
        plan.wake_at(view.now + 0.01)


def test_a_call_that_a_long_decision_overtakes_comes_soon_after_it() -> None:
    """With a measured clock a decision may take longer than the call it asks for is away."""
    ticks = iter([10.0, 10.25])
    session = Session(Impatient, clock=DecisionClock(wall=lambda: next(ticks)))
    reply = session.answer(message(0, ("SIMULATION_BEGINS", begins_data())))
    assert said(reply) == [("CALL_ME_LATER", {"timestamp": 0.26})]


@pytest.mark.parametrize("text", ["slow", "fixed", "fixed:x", "fixed:-1", "fixed:inf", "fixed:nan"])
def test_a_wrong_clock_is_an_option_error(text: str) -> None:
    """Three kinds of clock, nothing else."""
    with pytest.raises(OptionError, match="clock: must be zero, measured or fixed:SECONDS"):
        parse_clock(text, lambda: 0.0)


def test_clocks_are_read() -> None:
    """zero, fixed:S, measured."""
    assert parse_clock("zero", lambda: 0.0) == DecisionClock()
    assert parse_clock("fixed:2", lambda: 0.0) == DecisionClock(fixed=2.0)
    assert parse_clock("measured", lambda: 3.0).wall is not None


VALID = [
    message(
        4, ("QUERY", {"requests": {"estimate_waiting_time": {"job_id": "w0!z", "job": {"res": 1, "profile": "p"}}}})
    ),
    message(4, ("ANSWER", {"consumed_energy": 12.5})),
    message(4, ("JOB_KILLED", {"job_ids": ["w0!a"], "job_progress": {"w0!a": {"profile_name": "p", "progress": 1}}})),
    message(1, ("JOB_SUBMITTED", submitted_data("a", 3)), ("JOB_SUBMITTED", submitted_data("b", 2))),
    message(4, ("JOB_COMPLETED", completed_data("a", "0-2"))),
    message(4, ("NOTIFY", {"type": "event_machine_unavailable", "resources": "0-1"})),
]


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=80),
            st.sampled_from(VALID),
            st.builds(
                lambda raw, cut, junk: raw[:cut] + junk + raw[cut + 1 :],
                st.sampled_from(VALID),
                st.integers(0, 150),
                st.binary(max_size=3),
            ),
        ),
        max_size=6,
    )
)
def test_hostile_bytes_give_only_remote_protocol_errors(requests: list[bytes]) -> None:
    """In any order of requests the books stay right, and nothing else is raised."""
    session = begun(Easy)
    for request in requests:
        try:
            session.answer(request)
        except RemoteProtocolError:
            break
        session.check()


class Hesitant(Fcfs):
    """Starts one job at a call, and is told to go on."""

    def decide(self, view: View, plan: Plan) -> None:
        if (job := view.queue.first()) is not None:
            plan.start(job, plan.free.first(job.size) or HostSet())


def test_an_algorithm_may_be_called_again_before_the_reply() -> None:
    """Its second plan goes into the same reply."""
    session = begun(Hesitant)
    session.receive(message(1, ("JOB_SUBMITTED", submitted_data("a", 2)), ("JOB_SUBMITTED", submitted_data("b", 2))))
    assert [job.id for job in session.view.queue] == ["w0!b"]
    session.decide_again()
    assert [data["alloc"] for _, data in said(session.reply())] == ["0-1", "2-3"]


def test_an_algorithm_that_fails_when_it_is_called_again_is_told() -> None:
    """With its story, as in the first call."""
    session = begun(Hesitant)
    session.receive(message(1, *(("JOB_SUBMITTED", submitted_data(name, 3)) for name in "ab")))
    with pytest.raises(AlgorithmError, match=r"^t=1: fcfs failed on JobSubmitted w0!a, JobSubmitted w0!b: start w0!b"):
        session.decide_again()


def test_a_job_without_subtime_was_submitted_when_its_event_says() -> None:
    """Last come, first served: the second of two that wait comes first, although neither says when it came."""
    session = Session(Priority, {"order": "lcfs"})
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data(1))))
    for now, name in ((1, "a"), (2, "b"), (3, "c")):
        data = submitted_data(name)
        del data["job"]["subtime"]
        reply = session.answer(message(now, ("JOB_SUBMITTED", data)))
    assert said(reply) == []
    ended = session.answer(message(9, ("JOB_COMPLETED", completed_data("a", "0"))))
    assert said(ended) == [("EXECUTE_JOB", {"job_id": "w0!c", "alloc": "0"})]


def test_a_job_that_says_another_time_than_its_event_is_told_once() -> None:
    """A millisecond is latency."""
    told: list[str] = []
    session = Session(Fcfs, warn=told.append)
    session.answer(message(0, ("SIMULATION_BEGINS", begins_data())))
    for now, name, subtime in ((1.0005, "a", 1.0), (2, "b", 1.0), (3, "c", 4.0)):
        session.answer(message(now, ("JOB_SUBMITTED", submitted_data(name, subtime=subtime))))
    assert told == ["w0!b is submitted at 2 s and says 1 s: orders and waits count from the latter"]
