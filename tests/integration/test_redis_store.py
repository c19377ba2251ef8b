"""Jobs in a real Redis: read when Batsim only names them, written when we submit our own (BA-14)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import redis

from batsched_py.api import Job, NoOptions, Plan, Scheduler, View
from batsched_py.errors import AlgorithmError, ExtraError, StoreError
from batsched_py.metadata.redis_store import RedisStore
from batsched_py.protocol.events import Config
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.session.session import Session
from tests.builders import begins_data, message


@pytest.fixture
def client(redis_port: int) -> Iterator[redis.Redis]:
    """A client of an empty server."""
    with redis.Redis("127.0.0.1", redis_port) as connection:
        connection.flushall()
        yield connection


#: What the test at hand has opened.
OPENED: list[RedisStore] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Close whatever a test has opened."""
    yield
    while OPENED:
        OPENED.pop().close()


def opener(port: int) -> Callable[[Config], RedisStore]:
    def open_store(config: Config) -> RedisStore:
        OPENED.append(RedisStore("127.0.0.1", port, config.redis_prefix))
        return OPENED[-1]

    return open_store


def begun(port: int, scheduler: type[Scheduler[Any]] = Fcfs, **config: Any) -> tuple[Session, Any]:
    session = Session(scheduler, open_store=opener(port))
    request = begins_data(config={"redis-enabled": True, "redis-prefix": "lab", **config})
    return session, json.loads(session.answer(message(0, ("SIMULATION_BEGINS", request))))


def test_a_job_is_read_under_batsim_s_key(redis_port: int, client: redis.Redis) -> None:
    """JOB_SUBMITTED has only the id; the rest is under PREFIX:job_WORKLOAD!NAME."""
    client.set("lab:job_w0!7", json.dumps({"id": "w0!7", "res": 3, "walltime": 9, "profile": "p", "subtime": 1}))
    session, _ = begun(redis_port)
    reply = json.loads(session.answer(message(1, ("JOB_SUBMITTED", {"job_id": "w0!7"}))))
    assert reply["events"][0]["data"] == {"job_id": "w0!7", "alloc": "0-2"}


def test_a_missing_key_is_one_clear_line(redis_port: int, client: redis.Redis) -> None:
    """The server, the key and the rule."""
    session, _ = begun(redis_port)
    with pytest.raises(StoreError) as caught:
        session.answer(message(1, ("JOB_SUBMITTED", {"job_id": "w0!7"})))
    assert str(caught.value) == (
        f"Redis 127.0.0.1:{redis_port}: key lab:job_w0!7: is missing, but Batsim has submitted this job"
    )


@pytest.mark.parametrize(("text", "rule"), [("{", "must be JSON"), ("[1]", "must be a JSON object")])
def test_a_key_that_is_no_job_is_one_clear_line(redis_port: int, client: redis.Redis, text: str, rule: str) -> None:
    """Its value is not an object."""
    client.set("lab:job_w0!7", text)
    session, _ = begun(redis_port)
    with pytest.raises(StoreError, match=f"key lab:job_w0!7: {rule}"):
        session.answer(message(1, ("JOB_SUBMITTED", {"job_id": "w0!7"})))


def test_a_job_that_breaks_a_rule_is_named_with_its_member(redis_port: int, client: redis.Redis) -> None:
    """Content of Redis is checked as if it had come in the message."""
    client.set("lab:job_w0!7", json.dumps({"id": "w0!7", "res": -1, "profile": "p"}))
    session, _ = begun(redis_port)
    with pytest.raises(
        StoreError,
        match=rf"^Redis 127.0.0.1:{redis_port}: key lab:job_w0!7: res must be a whole number from 0, not",
    ):
        session.answer(message(1, ("NOTIFY", {"type": "x"}), ("JOB_SUBMITTED", {"job_id": "w0!7"})))


class Own(Scheduler[NoOptions]):
    """Submits one job of its own."""

    name = "own"
    needs_dynamic_jobs = True

    def setup(self, view: View) -> None:
        self.submitted = False

    def decide(self, view: View, plan: Plan) -> None:
        if not self.submitted:
            self.submitted = True
            plan.submit(Job.create("dyn!1", size=2, profile="d", walltime=5), {"type": "delay", "delay": 3})
            plan.finish_registration()


class Three(Own):
    """Submits three at once."""

    name = "three"

    def decide(self, view: View, plan: Plan) -> None:
        for number in range(0 if self.submitted else 3):
            plan.submit(Job.create(f"dyn!{number}", size=1, profile=f"d{number}"), {"type": "delay", "delay": 3})
        self.submitted = True


class Wrong(Own):
    """Submits what JSON cannot say."""

    name = "wrong"

    def decide(self, view: View, plan: Plan) -> None:
        plan.submit(Job.create("dyn!0", size=1, profile="d"), {"type": "delay", "delay": 3})
        wrong = Job.create("dyn!1", size=1, profile="d", extra={"cost": float("nan")})
        plan.submit(wrong)


class Asking(Fcfs):
    """Looks at what it is told of the profiles."""

    name = "asking"
    told: ClassVar[dict[str, Any]] = {}

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.arrived:
            profile = view.profile(job)
            self.told[job.profile] = None if profile is None else dict(profile.members)
        super().decide(view, plan)


def test_a_job_of_ones_own_is_written_before_it_is_named(redis_port: int, client: redis.Redis) -> None:
    """REGISTER_JOB has only the id; its profile still travels in the message (v3 and later)."""
    _, reply = begun(redis_port, Own, **{"dynamic-jobs-enabled": True})
    assert [(event["type"], event["data"]) for event in reply["events"]] == [
        ("REGISTER_PROFILE", {"workload_name": "dyn", "profile_name": "d", "profile": {"type": "delay", "delay": 3}}),
        ("REGISTER_JOB", {"job_id": "dyn!1"}),
        ("NOTIFY", {"type": "registration_finished"}),
    ]
    kept = client.get("lab:job_dyn!1")
    assert isinstance(kept, bytes)
    assert json.loads(kept) == {"id": "dyn!1", "subtime": 0.0, "res": 2, "profile": "d", "walltime": 5}


def test_in_v14_the_profile_is_written_too(redis_port: int, client: redis.Redis) -> None:
    """v1.4 has the scheduler push profiles to Redis instead of SUBMIT_PROFILE."""
    config = {
        "redis": {"enabled": True, "prefix": "old"},
        "job_submission": {"from_scheduler": {"enabled": True, "acknowledge": True}},
    }
    hosts = [{"id": 0, "name": "a", "state": "idle", "properties": {}}]
    begins = {"nb_resources": 1, "allow_time_sharing": False, "config": config, "resources_data": hosts}
    session = Session(Own, open_store=opener(redis_port))
    reply = json.loads(session.answer(message(0, ("SIMULATION_BEGINS", begins))))
    assert [event["type"] for event in reply["events"]] == ["SUBMIT_JOB", "NOTIFY"]
    assert client.exists("old:job_dyn!1", "old:profile_dyn!d") == 2


def test_an_answer_under_a_key_is_read(redis_port: int, client: redis.Redis) -> None:
    """With the prefix or without; nothing is None."""
    client.set("lab:energy", b"12.5")
    store = RedisStore("127.0.0.1", redis_port, "lab")
    assert [store.value(key) for key in ("energy", "lab:energy", "other:energy")] == [b"12.5", b"12.5", None]
    assert store.place_of_key("energy") == f"Redis 127.0.0.1:{redis_port}: key lab:energy"
    store.close()


def calls(client: redis.Redis) -> dict[str, int]:
    """Return the number of calls by command since the server's statistics were reset."""
    stats = client.info("commandstats")
    return {name.removeprefix("cmdstat_"): stats[name]["calls"] for name in sorted(stats) if "config" not in name}


BURST = [("JOB_SUBMITTED", {"job_id": f"w0!{number}"}) for number in range(5)]


def put_burst(client: redis.Redis) -> None:
    for number in range(5):
        described = {"id": f"w0!{number}", "res": 1, "walltime": 9, "profile": f"p{number % 2}", "subtime": 1}
        client.set(f"lab:job_w0!{number}", json.dumps(described))
    client.set("lab:profile_w0!p0", json.dumps({"type": "delay", "delay": 7}))


def test_the_jobs_of_a_message_are_read_at_once(redis_port: int, client: redis.Redis) -> None:
    """One question; profiles are not asked for, because they are not there."""
    put_burst(client)
    session, _ = begun(redis_port)
    client.config_resetstat()
    session.answer(message(1, *BURST))
    assert calls(client) == {"mget": 1}


def test_forwarded_profiles_are_one_question_more(redis_port: int, client: redis.Redis) -> None:
    """Missing profiles are left out."""
    put_burst(client)
    session, _ = begun(redis_port, Asking, **{"profiles-forwarded-on-submission": True})
    client.config_resetstat()
    session.answer(message(1, *BURST))
    assert calls(client) == {"mget": 2}
    assert Asking.told == {"p0": {"type": "delay", "delay": 7}, "p1": None}


def test_a_huge_burst_is_read_in_pieces(redis_port: int, client: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the server answers others in between."""
    monkeypatch.setattr("batsched_py.metadata.redis_store.BATCH", 2)
    put_burst(client)
    session, _ = begun(redis_port)
    client.config_resetstat()
    reply = json.loads(session.answer(message(1, *BURST)))
    assert [event["data"]["job_id"] for event in reply["events"]] == ["w0!0", "w0!1", "w0!2", "w0!3"]
    assert calls(client) == {"mget": 3}


def test_the_jobs_of_a_reply_are_written_at_once(redis_port: int, client: redis.Redis) -> None:
    """One command for three jobs."""
    client.config_resetstat()
    begun(redis_port, Three, **{"dynamic-jobs-enabled": True})
    assert calls(client)["mset"] == 1
    assert client.exists("lab:job_dyn!0", "lab:job_dyn!1", "lab:job_dyn!2") == 3


@pytest.mark.parametrize("with_redis", [True, False])
def test_a_job_that_is_no_json_is_refused_alike(redis_port: int, client: redis.Redis, with_redis: bool) -> None:
    """Nothing is written then."""
    with pytest.raises(AlgorithmError, match=r"job\.cost: must be a number, not nan"):
        begun(redis_port, Wrong, **{"dynamic-jobs-enabled": True, "redis-enabled": with_redis})
    assert client.keys() == []


def test_a_session_without_a_store_says_so() -> None:
    """Batsim with Redis, a session without."""
    with pytest.raises(StoreError, match="this session was given no way to read them"):
        Session(Fcfs).answer(message(0, ("SIMULATION_BEGINS", begins_data(config={"redis-enabled": True}))))


def test_a_missing_extra_is_one_line_that_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As for all other extras; exit code 2."""
    monkeypatch.setattr("batsched_py.metadata.redis_store.redis", None)
    with pytest.raises(
        ExtraError, match=r'^Batsim\'s jobs in Redis: needs redis: pip install "\.\[redis\]" in a clone$'
    ):
        RedisStore("127.0.0.1", 1, "x")
