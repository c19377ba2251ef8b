"""Jobs that are described in a store: what the simulator writes, says, reads and refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pytest

from batsched_py.errors import RefusedError
from batsched_py.metadata.memory_store import MemoryStore
from batsched_py.model.settings import Settings
from batsched_py.results.records import Result
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import Command, Script, execute, job, platform, workload

DYNAMIC = Settings(dynamic_jobs=True, redis_prefix="lab")
FINISHED: Command = ("NOTIFY", {"type": "registration_finished"})
REGISTERED: Command = ("REGISTER_JOB", {"job_id": "dyn!1"})
PROFILE: Command = (
    "REGISTER_PROFILE",
    {"workload_name": "dyn", "profile_name": "d", "profile": {"type": "delay", "delay": 3}},
)


class Storing(MemoryStore):
    """Also counts how often it is asked."""

    def __init__(self) -> None:
        super().__init__("lab")
        self.read: list[Sequence[str]] = []
        self.written: list[list[str]] = []

    def jobs(self, job_ids: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        self.read.append(job_ids)
        return super().jobs(job_ids)

    def put(self, jobs: Mapping[str, Any], profiles: Mapping[tuple[str, str], Any] | None = None) -> None:
        self.written.append([*jobs, *("!".join(name) for name in profiles or {})])
        super().put(jobs, profiles or {})


def play(
    store: Storing, script: Mapping[float, Sequence[Command]], *jobs: Any, settings: Settings = DYNAMIC
) -> tuple[Result, Script]:
    peer = Script(script)
    return Simulation(platform(), [workload(*jobs)], settings, store=store).run(peer, clock=lambda: 0.0), peer


def test_a_job_is_written_when_it_is_submitted_and_only_named() -> None:
    """Jobs of one instant at once; times with six decimals, as in a message."""
    store = Storing()
    jobs = [job("1", at=1 / 3, walltime=20), job("2", at=1 / 3), job("3", at=2)]
    script = {0.333333: [execute("1", "0"), execute("2", "1")], 2.0: [execute("3", "2")]}
    _, peer = play(store, script, *jobs, settings=Settings(redis_prefix="lab"))
    assert store.written == [["w0!1", "w0!2"], ["w0!3"]]
    assert [data for _, data in peer.told("JOB_SUBMITTED")] == [{"job_id": f"w0!{name}"} for name in "123"]
    assert store.values == {
        "lab:nb_res": b"4",
        "lab:job_w0!1": b'{"id":"w0!1","subtime":0.333333,"res":1,"profile":"d10","walltime":20}',
        "lab:job_w0!2": b'{"id":"w0!2","subtime":0.333333,"res":1,"profile":"d10"}',
        "lab:job_w0!3": b'{"id":"w0!3","subtime":2,"res":1,"profile":"d10"}',
    }


def test_profiles_are_written_once_and_only_if_they_are_forwarded() -> None:
    """Not in the message either."""
    store = Storing()
    settings = Settings(forward_profiles=True, redis_prefix="lab")
    script = {1.0: [execute("1", "0"), execute("2", "1")], 2.0: [execute("3", "2")]}
    _, peer = play(store, script, job("1", at=1), job("2", at=1), job("3", at=2), settings=settings)
    assert store.written == [["w0!1", "w0!2", "w0!d10"], ["w0!3"]]
    assert store.values["lab:profile_w0!d10"] == b'{"type":"delay","delay":10}'
    assert peer.told("JOB_SUBMITTED")[0][1] == {"job_id": "w0!1"}


def test_simulation_begins_says_where_the_store_is() -> None:
    """As Batsim's options were."""
    settings = Settings(redis_hostname="db", redis_port=7000, redis_prefix="lab")
    _, peer = play(Storing(), {1.0: [execute("1", "0")]}, job("1", at=1), settings=settings)
    config = peer.heard[0]["events"][0]["data"]["config"]
    assert [config[f"redis-{key}"] for key in ("enabled", "hostname", "port", "prefix")] == [True, "db", 7000, "lab"]


def test_without_a_store_nothing_is_enabled() -> None:
    """The keys of the configuration stand there all the same, as Batsim writes them."""
    peer = Script({1.0: [execute("1", "0")]})
    Simulation(platform(), [workload(job("1", at=1))]).run(peer, clock=lambda: 0.0)
    config = peer.heard[0]["events"][0]["data"]["config"]
    assert [config[f"redis-{key}"] for key in ("enabled", "hostname", "port", "prefix")] == [
        False, "127.0.0.1", 6379, "default",
    ]  # fmt: skip


def described(**changes: Any) -> Storing:
    store = Storing()
    store.put({"dyn!1": {"id": "dyn!1", "subtime": 0, "res": 2, "profile": "d", **changes}})
    store.written.clear()
    return store


def test_a_registered_job_is_read_from_the_store() -> None:
    """REGISTER_JOB only names it; all of a reply are read at once."""
    store = described()
    store.put({"dyn!2": {"id": "dyn!2", "subtime": 0, "res": 1, "profile": "d"}})
    second: Command = ("REGISTER_JOB", {"job_id": "dyn!2"})
    script = {
        0.0: [PROFILE, REGISTERED, second, execute("dyn!1", "0-1"), execute("dyn!2", "2"), FINISHED],
        1.0: [execute("1", "3")],
    }
    result, _ = play(store, script, job("1", at=1))
    assert [(record.job.id, record.finish) for record in result.jobs] == [
        ("dyn!1", 3.0),
        ("dyn!2", 3.0),
        ("w0!1", 11.0),
    ]
    assert store.read == [["dyn!1", "dyn!2"]]


def test_an_acknowledged_job_is_only_named() -> None:
    """Nothing is written for it: its key is there."""
    store = described()
    script = {0.0: [PROFILE, REGISTERED, FINISHED], 1.0: [execute("dyn!1", "0-1"), execute("1", "3")]}
    settings = Settings(dynamic_jobs=True, acknowledge_dynamic_jobs=True, redis_prefix="lab")
    _, peer = play(store, script, job("1", at=1), settings=settings)
    assert [data for _, data in peer.told("JOB_SUBMITTED")] == [{"job_id": "dyn!1"}, {"job_id": "w0!1"}]
    assert store.written == [["w0!1"]]


@pytest.mark.parametrize(
    ("store", "data", "rule"),
    [
        (Storing(), {}, "job dyn!1 is not described: memory: key lab:job_dyn!1: is missing"),
        (
            described(),
            {"job": {"id": "dyn!1", "subtime": 0, "res": 1, "profile": "d"}},
            "job dyn!1 is described in the message, but with Redis its key is read",
        ),
        (
            described(res="2"),
            {},
            "job dyn!1 is not described: memory: key lab:job_dyn!1: res must be a whole number from 0, not '2'",
        ),
        (described(id="dyn!2"), {}, "job dyn!1 has another id in its description: 'dyn!2'"),
        (
            described(profile="e"),
            {},
            "job dyn!1 cannot run its profile: profiles.e names the profile 'e', which does not exist",
        ),
    ],
)
def test_what_batsim_would_abort_on_is_refused(store: Storing, data: dict[str, Any], rule: str) -> None:
    """The event and the key are named."""
    script = {0.0: [PROFILE, ("REGISTER_JOB", {"job_id": "dyn!1", **data})]}
    with pytest.raises(RefusedError) as caught:
        play(store, script, job("1", at=1))
    assert str(caught.value) == f"t=0.000000: events[1] REGISTER_JOB: {rule}"


def test_a_registered_job_needs_its_subtime_in_the_store_too() -> None:
    """As in the message."""
    store = Storing()
    store.values["lab:job_dyn!1"] = orjson.dumps({"id": "dyn!1", "res": 2, "profile": "d"})
    with pytest.raises(RefusedError, match=r"REGISTER_JOB: job dyn!1 has no subtime, which Batsim needs: memory: key"):
        play(store, {0.0: [PROFILE, REGISTERED]}, job("1", at=1))


V14 = Settings(protocol="v1.4", workload_names=("abc",), dynamic_jobs=True, redis_prefix="lab")
SUBMITTED: Command = ("SUBMIT_JOB", {"job_id": "dyn!1"})
SUBMISSION_FINISHED: Command = ("NOTIFY", {"type": "submission_finished"})


def test_in_v14_profiles_are_written_with_their_jobs() -> None:
    """Without being asked to: SIMULATION_BEGINS does not tell them."""
    store = Storing()
    script = {0.0: [SUBMISSION_FINISHED], 1.0: [execute("abc!1", "0")]}
    _, peer = play(store, script, job("1", at=1), settings=V14)
    assert store.written == [["abc!1", "abc!d10"]]
    assert peer.told("JOB_SUBMITTED") == [(1.0, {"job_id": "abc!1"})]
    assert peer.heard[0]["events"][0]["data"]["config"]["redis"] == {
        "enabled": True,
        "hostname": "127.0.0.1",
        "port": 6379,
        "prefix": "lab",
    }


def test_in_v14_the_profile_of_a_submitted_job_is_read_too() -> None:
    """Under profile_WORKLOAD!NAME, when its job is submitted."""
    store = Storing()
    store.values["lab:job_dyn!1"] = b'{"id": 1, "subtime": 0, "res": 2, "profile": "d"}'
    store.values["lab:profile_dyn!d"] = b'{"type": "delay", "delay": 3}'
    script = {0.0: [SUBMITTED, SUBMISSION_FINISHED], 1.0: [execute("abc!1", "0"), execute("dyn!1", "2-3")]}
    result, peer = play(store, script, job("1", at=1), settings=V14)
    assert [(record.job.id, record.finish) for record in result.jobs] == [("dyn!1", 4.0), ("abc!1", 11.0)]
    assert peer.told("JOB_SUBMITTED") == [(0.0, {"job_id": "dyn!1"}), (1.0, {"job_id": "abc!1"})]


def test_in_v14_a_profile_that_is_nowhere_is_refused() -> None:
    """Neither in the store nor submitted."""
    store = Storing()
    store.values["lab:job_dyn!1"] = b'{"id": "1", "subtime": 0, "res": 2, "profile": "d"}'
    with pytest.raises(RefusedError, match=r"SUBMIT_JOB: job dyn!1 belongs to the workload dyn, which does not exist"):
        play(store, {0.0: [SUBMITTED]}, job("1", at=1), settings=V14)


def test_in_v14_a_profile_may_not_travel_along() -> None:
    """With Redis nothing is described in messages."""
    data = {"job_id": "dyn!1", "profile": {"type": "delay", "delay": 3}}
    with pytest.raises(RefusedError, match="is described in the message, but with Redis its key is read"):
        play(described(), {0.0: [("SUBMIT_JOB", data)]}, job("1", at=1), settings=V14)
