"""A replay goes as far as the decisions agree; replies are compared as decisions, and the difference is shown."""

from __future__ import annotations

import pytest

from batsched_py.errors import AlgorithmError, StoreError
from batsched_py.protocol.conversation import DecisionSide
from batsched_py.protocol.dialect import V4, V14
from batsched_py.transcripts.replay import Replay, find_difference, replay, same_decision
from batsched_py.transcripts.transcript import Exchange

NOTHING = b'{"now":0.0,"events":[]}'
REJECTION = b'{"now":0.0,"events":[{"timestamp":0.0,"type":"REJECT_JOB","data":{"job_id":"w0!1"}}]}'
STOP = b'{"now":0.0,"events":[{"timestamp":0.0,"type":"BATSCHED_PY_STOPPED","data":{"reason":"t=0: it was late"}}]}'


def refusal(error: BaseException) -> bytes:
    return DecisionSide().refusal(str(error))


def recording(*replies: bytes) -> list[Exchange]:
    return [Exchange(number, b"%d" % number, reply) for number, reply in enumerate(replies)]


def test_the_same_decisions_are_counted() -> None:
    """Also those that are spelled otherwise."""
    spelled = b'{"events": [], "now": 0}'
    assert replay(recording(NOTHING, spelled, NOTHING), lambda request: NOTHING, refusal) == Replay(3, 2, None)


def test_the_first_difference_ends_the_replay() -> None:
    """The recorded requests that follow belong to another run."""
    asked = []

    def answer(request: bytes) -> bytes:
        asked.append(request)
        return REJECTION

    outcome = replay(recording(REJECTION, NOTHING, REJECTION), answer, refusal)
    assert outcome.difference is not None
    assert outcome.difference.exchange == 1
    assert (outcome.exchanges, outcome.identical, outcome.left) == (2, 1, 1)
    assert asked == [b"0", b"1"]


def test_an_error_where_the_recording_has_a_decision_is_a_difference() -> None:
    """It is told in the place of the decision."""

    def answer(request: bytes) -> bytes:
        raise AlgorithmError("t=0: it was late")

    outcome = replay(recording(NOTHING), answer, refusal)
    assert outcome.difference is not None
    assert outcome.difference.lines == (("-", "(nothing)"), ("+", "(stopped: t=0: it was late)"))


def test_a_failure_that_was_recorded_is_the_same_failure() -> None:
    """Its words do not matter: they name files and lines of the code."""

    def answer(request: bytes) -> bytes:
        raise AlgorithmError("t=0: it was early")

    assert replay(recording(STOP), answer, refusal) == Replay(1, 0, None)


@pytest.mark.parametrize("recorded", [NOTHING, STOP])
def test_jobs_that_cannot_be_read_from_redis_are_no_difference(recorded: bytes) -> None:
    """The algorithm was never asked; the caller hears why."""

    def answer(request: bytes) -> bytes:
        raise StoreError("Redis 127.0.0.1:6379: connection refused")

    with pytest.raises(StoreError, match="connection refused"):
        replay(recording(recorded), answer, refusal)


def test_the_dialect_is_that_of_the_first_request() -> None:
    """v1.4 has commands that v4 does not read."""
    begins = (
        b'{"now":0,"events":[{"timestamp":0,"type":"SIMULATION_BEGINS","data":{"nb_resources":0,"resources_data":[]}}]}'
    )
    submits = '{"now":%s,"events":[{"timestamp":0,"type":"SUBMIT_JOB","data":{"job_id":"w0!1"}}]}'
    exchange = Exchange(0, begins, (submits % "0").encode())
    assert replay([exchange], lambda request: (submits % "0.0").encode(), refusal) == Replay(1, 0, None)


def test_an_empty_recording_is_no_difference() -> None:
    """A run that was interrupted before Batsim came."""
    assert replay([], lambda request: NOTHING, refusal) == Replay(0, 0, None)


def reply(*events: str, now: str = "10.0") -> bytes:
    return f'{{"now": {now}, "events": [{", ".join(events)}]}}'.encode()


def command(kind: str, data: str, timestamp: str = "10.0") -> str:
    return f'{{"timestamp": {timestamp}, "type": "{kind}", "data": {{{data}}}}}'


def execute(job: str, hosts: str, timestamp: str = "10.0") -> str:
    return command("EXECUTE_JOB", f'"job_id": "w0!{job}", "alloc": "{hosts}"', timestamp)


REQUEST = (
    b'{"now":10.000000,"events":['
    b'{"timestamp":10.000000,"type":"JOB_COMPLETED","data":{"job_id":"w0!1"}},'
    b'{"timestamp":10.000000,"type":"JOB_SUBMITTED","data":{"job_id":"w0!3"}}]}'
)


@pytest.mark.parametrize(
    ("recorded", "new"),
    [
        (reply(), b'{ "events": [], "now": 10 }'),
        (reply(execute("1", "0-3")), reply(execute("1", "3 0-2", "10"), now="10")),
        (
            reply(command("CALL_ME_LATER", '"timestamp": 20')),
            reply(command("CALL_ME_LATER", '"timestamp": 20.000000')),
        ),
        (
            reply(command("EXECUTE_JOB", '"job_id": "w0!1", "alloc": "0-1", "mapping": {"0": "0", "1": "0"}')),
            reply(command("EXECUTE_JOB", '"alloc": "0,1", "job_id": "w0!1", "mapping": {"0": 0, "1": 0}')),
        ),
    ],
)
def test_spelling_makes_no_difference(recorded: bytes, new: bytes) -> None:
    """Numbers, intervals, blanks and the order of members may be written in several ways."""
    assert same_decision(recorded, new, V4)


@pytest.mark.parametrize(
    "new",
    [
        reply(execute("1", "0-3"), execute("2", "5")),
        reply(execute("2", "4"), execute("1", "0-3")),
        reply(execute("1", "0-3")),
        reply(execute("1", "0-3"), execute("2", "4"), now="11"),
        reply(execute("1", "0-3", "9.5"), execute("2", "4")),
        reply(execute("1", "0-3"), execute("3", "4")),
        b"nonsense",
    ],
)
def test_a_difference_is_never_missed(new: bytes) -> None:
    """Hosts, jobs, order, number and times of the commands all count."""
    recorded = reply(execute("1", "0-3"), execute("2", "4"))
    assert not same_decision(recorded, new, V4)
    assert not same_decision(new, recorded, V4)


def test_a_mapping_of_each_executor_to_its_host_is_none() -> None:
    """Batsched's filler writes it with each job; any other mapping is another placement."""
    written = '"job_id": "w0!1", "alloc": "4-5", "mapping": {"0": "%s", "1": "%s"}'
    usual = reply(command("EXECUTE_JOB", written % (0, 1)))
    assert same_decision(usual, reply(execute("1", "4-5")), V4)
    for placement in ((1, 0), (0, 0)):
        other = reply(command("EXECUTE_JOB", written % placement))
        assert not same_decision(other, reply(execute("1", "4-5")), V4)
        assert not same_decision(other, usual, V4)


def test_a_mapping_of_fewer_executors_than_hosts_counts() -> None:
    """The hosts that are left over do nothing then."""
    one = reply(command("EXECUTE_JOB", '"job_id": "w0!1", "alloc": "4-5", "mapping": {"0": "0"}'))
    assert not same_decision(one, reply(execute("1", "4-5")), V4)


def test_nothing_said_in_the_old_way_is_nothing() -> None:
    """v1.4's documents have a NOP where a list of no events says the same."""
    assert same_decision(reply(command("NOP", "")), reply(), V14)


def test_the_story_marks_what_differs() -> None:
    """Exchange, time, what Batsim told, and both decisions line by line."""
    recorded = reply(execute("1", "0-3"), execute("2", "4"), command("CALL_ME_LATER", '"timestamp": 20.5'))
    new = reply(execute("1", "0-3"), command("REJECT_JOB", '"job_id": "w0!2"'))
    difference = find_difference(Exchange(7, REQUEST, recorded), new, V4)
    assert difference is not None
    assert difference.description().splitlines() == [
        "exchange 7, t=10: another decision",
        "  Batsim reported: JOB_COMPLETED w0!1, JOB_SUBMITTED w0!3",
        "  - recorded, + now",
        "    EXECUTE_JOB w0!1 on 0-3",
        "  - EXECUTE_JOB w0!2 on 4",
        "  - CALL_ME_LATER at t=20.5",
        "  + REJECT_JOB w0!2",
    ]


def test_another_order_is_told_as_such() -> None:
    """The reader need not compare two lists to find that nothing is missing."""
    one, two = execute("1", "0"), execute("2", "1")
    difference = find_difference(Exchange(7, REQUEST, reply(one, two)), reply(two, one), V4)
    assert difference is not None
    assert difference.description().startswith("exchange 7, t=10: the same commands in another order\n")


def test_times_are_told_where_they_are_not_the_requests() -> None:
    """A difference of times alone can be seen, too."""
    recorded = reply(execute("1", "0", "10.25"), now="11")
    difference = find_difference(Exchange(7, REQUEST, recorded), reply(), V4)
    assert difference is not None
    assert [line for _, line in difference.lines] == [
        "EXECUTE_JOB w0!1 on 0 at t=10.25",
        "(the reply is sent at t=11)",
        "(nothing)",
    ]


def test_many_equal_lines_are_shortened() -> None:
    """A reply of a thousand commands that differs in one is told in a few lines."""
    many = [execute(str(job), str(job)) for job in range(1000)]
    difference = find_difference(Exchange(7, REQUEST, reply(*many)), reply(*many, execute("x", "1000")), V4)
    assert difference is not None
    assert difference.lines == (
        (" ", "EXECUTE_JOB w0!0 on 0"),
        (" ", "(998 more lines alike)"),
        (" ", "EXECUTE_JOB w0!999 on 999"),
        ("+", "EXECUTE_JOB w0!x on 1000"),
    )


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (command("KILL_JOB", '"job_ids": ["w0!1", "w0!2"]'), "KILL_JOB w0!1, w0!2"),
        (
            command("SET_RESOURCE_STATE", '"resources": "0-1", "state": "13"'),
            'SET_RESOURCE_STATE {"resources":"0-1","state":"13"}',
        ),
        (
            command("EXECUTE_JOB", '"job_id": "w0!1", "alloc": "0-1", "mapping": {"0": "1", "1": "0"}'),
            'EXECUTE_JOB {"job_id":"w0!1","alloc":"0-1","mapping":{"0":"1","1":"0"}}',
        ),
        (
            command("EXECUTE_JOB", '"job_id": "w0!1", "alloc": "0-1", "mapping": {"0": "0", "1": "1"}'),
            "EXECUTE_JOB w0!1 on 0-1",
        ),
        (command("SING", '"song": 1'), 'SING {"song":1}'),
        (command("BATSCHED_PY_STOPPED", '"reason": "why"'), "(stopped: why)"),
    ],
)
def test_every_command_can_be_told(written: str, told: str) -> None:
    """The common ones in words, the others by their data."""
    difference = find_difference(Exchange(0, REQUEST, reply(written)), reply(), V4)
    assert difference is not None
    assert difference.lines == (("-", told), ("+", "(nothing)"))


def test_requests_and_replies_that_are_no_messages_can_be_told() -> None:
    """The bytes of a broken peer are shown as they are."""
    difference = find_difference(Exchange(0, b"\xff?", b"hm"), reply(), V4)
    assert difference is not None
    assert difference.time is None
    assert "Batsim reported: (no message: b'\\xff?')" in difference.description()
    assert "- (no message: b'hm')" in difference.description()


def test_measured_times_can_be_left_out() -> None:
    """A clock that measures gives other times in each run; the time of a call is a decision all the same."""
    call = command("CALL_ME_LATER", '"timestamp": 20', "10.1")
    recorded = reply(execute("1", "0", "10.1"), call, now="10.1")
    later = reply(execute("1", "0", "10.2"), call.replace("10.1", "10.2"), now="10.2")
    assert same_decision(recorded, later, V4, timed=False)
    difference = find_difference(Exchange(7, REQUEST, recorded), later.replace(b"20", b"30"), V4, timed=False)
    assert difference is not None
    assert difference.lines == (
        (" ", "EXECUTE_JOB w0!1 on 0"),
        ("-", "CALL_ME_LATER at t=20"),
        ("+", "CALL_ME_LATER at t=30"),
    )
