"""The simulator as Batsim 1.4: what it says and does otherwise than Batsim 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from batsched_py.errors import DeadlockError, OptionError, RefusedError, RemoteProtocolError
from batsched_py.model.external_event import ExternalEvent
from batsched_py.model.platform import Platform, PlatformHost
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.model.zone import TableZone
from batsched_py.protocol.dialects import DIALECTS
from batsched_py.results.records import Result
from batsched_py.simulator.generation import (
    FORMER_IN_V4,
    GENERATIONS,
    NAMED_JOBS,
    PRESENT_IN_V14,
    Batsim14,
    workload_names,
)
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import (
    SLEEPER,
    SLEEPER_SPEEDS,
    Command,
    Script,
    call,
    execute,
    job,
    kill,
    platform,
    play,
    reject,
    shape,
    workload,
)

V14 = Settings(protocol="v1.4", workload_names=("w0",))
DYNAMIC = replace(V14, dynamic_jobs=True)
FINISHED: Command = ("NOTIFY", {"type": "submission_finished"})
DELAY_7 = {"type": "delay", "delay": 7}


def play_v14(
    what: Workload, script: Mapping[float, Sequence[Command]], settings: Settings = V14, on: Platform | None = None
) -> tuple[Result, Script]:
    """Simulate as Batsim 1.4; the workload is w0."""
    return play(what, script, on=on, settings=settings)


def submit(job_id: str = "dyn!1", profile: dict[str, Any] | None = None, **members: Any) -> Command:
    """SUBMIT_JOB, with its profile or without."""
    described = {"id": job_id, "subtime": 0, "res": 1, "profile": "p", **members}
    data = {"job_id": job_id, "job": described}
    return "SUBMIT_JOB", data if profile is None else {**data, "profile": profile}


def test_the_opening_is_batsim_1s() -> None:
    """Members and order as recorded; properties as in the platform file, without a role of ours."""
    settings = replace(V14, forward_profiles=True, compute_sharing=True)
    _, peer = play_v14(workload(job("a", at=1)), {1.0: [reject("a")]}, settings, platform(1, rack="r1"))
    data = peer.heard[0]["events"][0]["data"]
    assert data == {
        "nb_resources": 1,
        "allow_time_sharing": True,
        "config": {
            "redis": {"enabled": False, "hostname": "127.0.0.1", "port": 6379, "prefix": "default"},
            "job_submission": {"forward_profiles": True, "from_scheduler": {"enabled": False, "acknowledge": True}},
        },
        "resources_data": [{"id": 0, "name": "h0", "state": "idle", "properties": {"rack": "r1"}}],
    }
    assert list(data) == ["nb_resources", "allow_time_sharing", "config", "resources_data"]


def test_hosts_are_in_the_order_of_their_numbers() -> None:
    """host2 before host10, as recorded; Batsim 4 has them in the order of texts, and the first N differ too."""
    names = ["h1", "h10", "h2", "master_host"]
    hosts = tuple(PlatformHost(name, (1e9,)) for name in names)
    many = Platform("test", hosts, {"zone": TableZone("zone", "", {})}, dict.fromkeys(names, "zone"))
    for settings, expected in ((V14, ["h1", "h2"]), (Settings(), ["h1", "h10"])):
        peer = Script({1.0: [reject("a")]})
        Simulation(many, [workload(job("a", at=1))], replace(settings, machines=2)).run(peer)
        data = peer.heard[0]["events"][0]["data"]
        listed = data.get("resources_data") or data["compute_resources"]
        assert [resource["name"] for resource in listed] == expected


def test_names_are_ordered_by_the_numbers_in_them() -> None:
    """Equal numbers in other spellings are still told apart."""
    names = ["b", "10", "a10b2", "2", "a2", "02", "a10b10"]
    assert sorted(names, key=Batsim14().name_key) == ["02", "2", "10", "a2", "a10b2", "a10b10", "b"]


def test_jobs_of_one_time_come_in_the_order_of_their_numbers() -> None:
    """Batsim 1 knows ids as integers."""
    jobs = workload(*(job(name, at=1) for name in ("1", "2", "10")))
    _, peer = play_v14(jobs, {1.0: [reject("1"), reject("2"), reject("10")]})
    assert [data["job_id"] for _, data in peer.told("JOB_SUBMITTED")] == ["w0!1", "w0!2", "w0!10"]


def test_a_workload_is_named_by_its_file_wherever_it_lies() -> None:
    """Six hexadecimal digits; a second file of the same name gets others."""
    here, there = replace(workload(), source="a/w.json"), replace(workload(), source="b/w.json")
    other = replace(workload(), source="x.json")
    settings = Settings(protocol="v1.4")
    (name,) = workload_names([here], settings)
    assert name == workload_names([there], settings)[0] == "2fe8de"
    assert len(set(workload_names([here, there, here, other], settings))) == 4
    assert workload_names([here, there], Settings()) == ("w0", "w1")


@pytest.mark.parametrize("protocol", ["v4", "v1.4"])
def test_workloads_may_be_named(protocol: str) -> None:
    """In ids, in records and where a scheduler adds profiles."""
    settings = Settings(protocol=protocol, workload_names=("d4cace", "mine"))
    peer = Script({1.0: [("REJECT_JOB", {"job_id": "d4cace!a"}), ("EXECUTE_JOB", {"job_id": "mine!a", "alloc": "0"})]})
    result = Simulation(platform(), [workload(job("a", at=1)), workload(job("a", at=1))], settings).run(peer)
    assert [record.job.id for record in result.jobs] == ["d4cace!a", "mine!a"]


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        (Settings(protocol="v3"), "the protocol must be v4 or v1.4 or v5, not 'v3'"),
        (Settings(workload_names=()), "a name for each workload .1., not 0"),
        (Settings(workload_names=("a!b",)), "must not be empty, have no '!', and must have no comma"),
        (Settings(workload_names=("a,b",)), "not 'a,b'"),
        (Settings(workload_names=("",)), "not ''"),
        (replace(V14, external_events=(ExternalEvent(1.0, "machine_available"),)), r"external events .* v1\.4"),
        (replace(V14, forward_unknown_events=True), r"--forward-unknown-events does not exist in protocol v1\.4"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: Settings, rule: str) -> None:
    """Before anything is said."""
    with pytest.raises(OptionError, match=rule):
        Simulation(platform(), [workload(job("a"))], settings)


def test_two_workloads_of_one_name_are_refused() -> None:
    """Their jobs could not be told apart."""
    with pytest.raises(OptionError, match="two workloads are named 'a'"):
        Simulation(platform(), [workload(), workload()], Settings(workload_names=("a", "a")))


def test_an_end_is_told_with_a_status_and_without_the_hosts() -> None:
    """SUCCESS, TIMEOUT with its reason, FAILED; nothing says that no job will come."""
    profiles = {"d10": {"type": "delay", "delay": 10}, "bad": {"type": "delay", "delay": 20, "ret": 3}}
    jobs = workload(job("a", at=1), job("b", at=1, walltime=5), job("c", "bad", at=1), profiles=profiles)
    _, peer = play_v14(jobs, {1.0: [execute("a", "0"), execute("b", "1"), execute("c", "2")]})
    success = {"status": "SUCCESS", "job_state": "COMPLETED_SUCCESSFULLY", "return_code": 0, "kill_reason": ""}
    timeout = {"status": "TIMEOUT", "job_state": "COMPLETED_WALLTIME_REACHED", "return_code": -1}
    failure = {"status": "FAILED", "job_state": "COMPLETED_FAILED", "return_code": 3, "kill_reason": ""}
    assert peer.told("JOB_COMPLETED") == [
        (6.0, {"job_id": "w0!b", **timeout, "kill_reason": "Walltime reached"}),
        (11.0, {"job_id": "w0!a", **success}),
        (21.0, {"job_id": "w0!c", **failure}),
    ]
    assert list(peer.told("JOB_COMPLETED")[0][1]) == ["job_id", "status", "job_state", "return_code", "kill_reason"]
    assert peer.told("NOTIFY") == []


def test_a_killed_job_is_told_by_job_killed_alone() -> None:
    """With the members that v1.4 has; the record is the same as in v4."""
    result, peer = play_v14(workload(job("a", at=1)), {1.0: [execute("a", "0"), call(6)], 6.0: [kill("a")]})
    assert shape(peer)[2:] == [(6.0, ["REQUESTED_CALL"]), (6.0, ["JOB_KILLED", "SIMULATION_ENDS"])]
    progress = {"w0!a": {"profile": "d10", "progress": 0.5}}
    assert peer.told("JOB_KILLED") == [(6.0, {"job_ids": ["w0!a"], "job_progress": progress})]
    assert [(record.state, record.finish) for record in result.jobs] == [("COMPLETED_KILLED", 6.0)]


@pytest.mark.parametrize(("at", "index", "progress"), [(4.0, 0, 0.8), (5.0, 1, 0.0), (15.0, 3, 0.0)])
def test_between_two_steps_the_next_one_is_killed(at: float, index: int, progress: float) -> None:
    """Real Batsim 1.4 tells the step that begins, 4.2.1 the one that ends."""
    profiles = {"d5": {"type": "delay", "delay": 5}, "seq": {"type": "composed", "nb": 4, "seq": ["d5"]}}
    jobs = workload(job("a", "seq", at=1), profiles=profiles)
    _, peer = play_v14(jobs, {1.0: [execute("a", "0"), ("KILL_JOB", {"job_ids": ["w0!a"]}, 1.0 + at)]})
    told = peer.told("JOB_KILLED")[0][1]["job_progress"]["w0!a"]
    leaf = {"profile": "d5", "progress": progress}
    assert told == {"profile": "seq", "current_task_index": index, "current_task": leaf}


def test_the_end_stands_in_the_message_of_the_last_event() -> None:
    """A pending call does not delay it."""
    result, peer = play_v14(workload(job("a", at=1)), {1.0: [execute("a", "0"), call(500)]})
    assert shape(peer)[-1] == (11.0, ["JOB_COMPLETED", "SIMULATION_ENDS"])
    assert (result.end, result.messages) == (11.0, 3)


def test_the_end_stands_alone_after_a_last_decision() -> None:
    """A rejection is not answered, and no call is waited for."""
    _, peer = play_v14(workload(job("a", at=1)), {1.0: [reject("a"), call(500)]})
    assert shape(peer)[-1] == (1.0, ["SIMULATION_ENDS"])


def test_an_empty_workload_ends_at_once() -> None:
    """With one message for each of the two."""
    _, peer = play_v14(workload(), {})
    assert shape(peer) == [(0.0, ["SIMULATION_BEGINS"]), (0.0, ["SIMULATION_ENDS"])]


def test_events_in_the_last_reply_are_accepted() -> None:
    """Nobody hears of them, whatever they are; v4 refuses them."""
    last: dict[float, list[Command]] = {1.0: [execute("a", "0")], 11.0: [call(20), kill("nobody")]}
    result, peer = play_v14(workload(job("a", at=1)), last)
    assert (result.end, peer.left) == (11.0, {})


def test_hosts_are_still_switched_by_the_last_reply() -> None:
    """As the recorded power states and joules show; the run ends when they are done."""
    powered = platform(2, SLEEPER_SPEEDS, **SLEEPER)
    sleep: Command = ("SET_RESOURCE_STATE", {"resources": "0-1", "state": "2"})
    script: dict[float, list[Command]] = {1.0: [execute("a", "0")], 11.0: [sleep]}
    result, peer = play_v14(workload(job("a", at=1)), script, replace(V14, energy=True), powered)
    assert shape(peer)[-1] == (11.0, ["JOB_COMPLETED", "SIMULATION_ENDS"])
    assert (result.end, result.makespan, result.host_switches) == (13.0, 11.0, 2)
    assert result.host_seconds["switching_off"] == 4.0


def test_hosts_that_are_switching_delay_the_end() -> None:
    """It comes with their acknowledgement."""
    powered = platform(2, SLEEPER_SPEEDS, **SLEEPER)
    sleep: Command = ("SET_RESOURCE_STATE", {"resources": "1", "state": "2"})
    jobs, script = workload(job("a", at=1)), {1.0: [reject("a"), sleep]}
    _, peer = play_v14(jobs, script, replace(V14, energy=True), powered)
    assert shape(peer)[-1] == (3.0, ["RESOURCE_STATE_CHANGED", "SIMULATION_ENDS"])


def test_energy_is_answered_under_the_swapped_name() -> None:
    """A number, as recorded."""
    ask: Command = ("QUERY_REQUEST", {"consumed_energy": {}})
    powered = platform(1, SLEEPER_SPEEDS, **SLEEPER)
    jobs, script = workload(job("a", at=2)), {2.0: [ask, execute("a", "0")]}
    _, peer = play_v14(jobs, script, replace(V14, energy=True), powered)
    assert peer.told("QUERY_REPLY") == [(2.0, {"energy_consumed": 200.0})]


def test_a_submitted_job_brings_its_profile() -> None:
    """It is kept under the name that the job gives it, in a workload that may be new; the job is acknowledged."""
    script = {1.0: [reject("a"), submit(profile=DELAY_7), FINISHED, call(2)], 2.0: [execute("dyn!1", "0")]}
    result, peer = play_v14(workload(job("a", at=1)), script, DYNAMIC)
    assert [(record.job.id, record.finish) for record in result.jobs] == [("w0!a", 0.0), ("dyn!1", 9.0)]
    assert peer.told("JOB_SUBMITTED")[1] == (1.0, {"job_id": "dyn!1", "job": submit()[1]["job"]})


def test_acknowledgements_can_be_switched_off() -> None:
    """Then the job may be executed at once; the opening says so."""
    settings = replace(DYNAMIC, acknowledge_dynamic_jobs=False)
    script = {1.0: [reject("a"), submit(profile=DELAY_7), FINISHED, execute("dyn!1", "0")]}
    result, peer = play_v14(workload(job("a", at=1)), script, settings)
    assert (result.end, len(peer.told("JOB_SUBMITTED"))) == (8.0, 1)
    config = peer.heard[0]["events"][0]["data"]["config"]["job_submission"]
    assert config["from_scheduler"] == {"enabled": True, "acknowledge": False}


def test_a_profile_that_exists_stays() -> None:
    """The one that travels along is looked at only if its name is new; profiles outlive their jobs."""
    script = {
        1.0: [reject("a"), submit(profile=DELAY_7), call(2)],
        2.0: [execute("dyn!1", "0"), call(20)],
        20.0: [submit("dyn!2", {"type": "delay", "delay": 1000}), FINISHED, call(21)],
        21.0: [execute("dyn!2", "0")],
    }
    result, _ = play_v14(workload(job("a", at=1)), script, DYNAMIC)
    assert result.end == 28.0


def test_a_profile_may_be_submitted_first() -> None:
    """SUBMIT_PROFILE, then jobs that name it."""
    profile: Command = ("SUBMIT_PROFILE", {"workload_name": "dyn", "profile_name": "p", "profile": DELAY_7})
    script = {1.0: [reject("a"), profile, submit(), FINISHED, call(2)], 2.0: [execute("dyn!1", "0")]}
    result, _ = play_v14(workload(job("a", at=1)), script, DYNAMIC)
    assert result.end == 9.0


def test_ids_may_be_numbers() -> None:
    """In the description of a job."""
    described = {"id": 1, "subtime": 1, "res": 1, "profile": "d5"}
    command: Command = ("SUBMIT_JOB", {"job_id": "w0!1", "job": described})
    result, _ = play_v14(
        workload(job("a", at=1)), {1.0: [reject("a"), command, FINISHED, call(3)], 3.0: [execute("1", "0")]}, DYNAMIC
    )
    assert [(record.job.id, record.job.submit_time, record.waiting) for record in result.jobs[1:]] == [("w0!1", 1, 2)]


def test_submission_may_be_finished_and_go_on() -> None:
    """The simulation ends when the last word is finished."""
    script = {
        1.0: [reject("a"), FINISHED, ("NOTIFY", {"type": "continue_submission"}), call(20)],
        20.0: [FINISHED],
    }
    result, _ = play_v14(workload(job("a", at=1)), script, DYNAMIC)
    assert result.end == 20.0


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        (submit(), r"SUBMIT_JOB: job dyn!1 belongs to the workload dyn, which does not exist"),
        (submit("w0!2"), r"SUBMIT_JOB: job w0!2 cannot run its profile: .* does not exist"),
        (submit("w0!1", DELAY_7), r"SUBMIT_JOB: job w0!1 has an id that was used before"),
        (submit("dyn!my_new_job", DELAY_7), r"job dyn!my_new_job must be named by a whole number, not 'my_new_job'"),
        (submit("w0!1#1", DELAY_7), r"SUBMIT_JOB: job w0!1#1 must be named by a whole number, not '1#1'"),
        (submit("w0!01", DELAY_7), r"SUBMIT_JOB: job w0!01 must be named by a whole number, not '01'"),
        (submit(f"w0!{2**31}", DELAY_7), r"must be named by a whole number, not '2147483648'"),
        (
            submit(profile={"type": "delay", "delay": 0}),
            r"SUBMIT_JOB: profile dyn!p: delay must be a number",
        ),
        (
            submit(profile={"type": "parallel_homogeneous", "cpu": 1}),
            r"type 'parallel_homogeneous' is called 'msg_par_hg' in protocol v1\.4",
        ),
    ],
)
def test_what_batsim_1_would_abort_on_is_refused(command: Command, rule: str) -> None:
    """By the name of the command in v1.4."""
    with pytest.raises(RefusedError, match=rule):
        play_v14(workload(job("1", at=1)), {1.0: [reject("1"), command]}, DYNAMIC)


@pytest.mark.parametrize(
    "command",
    [
        ("REGISTER_JOB", {"job_id": "w0!1"}),
        ("REGISTER_PROFILE", {}),
        ("SET_JOB_METADATA", {"job_id": "w0!a", "metadata": "x"}),
        ("QUERY", {"requests": {"consumed_energy": {}}}),
        ("ANSWER", {}),
    ],
)
def test_names_of_v4_are_unknown_in_v14(command: Command) -> None:
    """The error says which protocol is spoken."""
    with pytest.raises(RemoteProtocolError, match=rf"must be a known event, not '{command[0]}' in protocol v1\.4"):
        play_v14(workload(job("a", at=1)), {1.0: [command]}, DYNAMIC)


@pytest.mark.parametrize("kind", ["registration_finished", "continue_registration"])
def test_notices_of_v4_are_unknown_in_v14(kind: str) -> None:
    """Each protocol has its own."""
    with pytest.raises(RemoteProtocolError, match="must be continue_submission or submission_finished"):
        play_v14(workload(job("a", at=1)), {1.0: [("NOTIFY", {"type": kind})]}, DYNAMIC)


def test_ended_jobs_are_remembered() -> None:
    """A kill of one is answered, without progress; v4 refuses it."""
    jobs = workload(job("a", at=1), job("b", "d20", at=1))
    script = {1.0: [execute("a", "0"), execute("b", "1")], 11.0: [kill("a")]}
    _, peer = play_v14(jobs, script)
    assert peer.told("JOB_KILLED") == [(11.0, {"job_ids": ["w0!a"], "job_progress": {}})]
    with pytest.raises(RefusedError, match=r"job w0!a is unknown: .* its end was reported"):
        play(jobs, script)


def change(name: str, state: str, **members: str) -> Command:
    """CHANGE_JOB_STATE."""
    return "CHANGE_JOB_STATE", {"job_id": f"w0!{name}", "job_state": state, **members}


@pytest.mark.parametrize(("state", "code"), [("COMPLETED_SUCCESSFULLY", 0), ("COMPLETED_KILLED", -1)])
def test_the_books_of_a_control_job_can_be_changed(state: str, code: int) -> None:
    """SUBMITTED, RUNNING and the end, without hosts; nothing is told."""
    script = {1.0: [change("a", "RUNNING"), call(5)], 5.0: [change("a", state)]}
    result, peer = play_v14(workload(job("a", at=1)), script)
    (record,) = result.jobs
    assert (record.state, record.return_code, record.start, record.finish) == (state, code, 1.0, 5.0)
    assert (bool(record.hosts), peer.told("JOB_COMPLETED")) == (False, [])
    assert shape(peer)[-1] == (5.0, ["SIMULATION_ENDS"])


def test_a_job_can_be_rejected_in_the_books() -> None:
    """As REJECT_JOB does."""
    result, _ = play_v14(workload(job("a", at=1)), {1.0: [change("a", "REJECTED")]})
    assert [record.state for record in result.jobs] == ["REJECTED"]


@pytest.mark.parametrize(
    ("commands", "rule"),
    [
        ([change("a", "COMPLETED_KILLED")], "is SUBMITTED, it cannot be set to COMPLETED_KILLED"),
        ([execute("a", "0"), change("a", "COMPLETED_KILLED")], "is RUNNING, it cannot be set to COMPLETED_KILLED"),
        ([change("a", "RUNNING", kill_reason="x")], "has a kill_reason, which goes with COMPLETED_KILLED alone"),
        ([change("a", "NOT_SUBMITTED")], "is SUBMITTED, it cannot be set to NOT_SUBMITTED"),
    ],
)
def test_other_changes_of_the_books_are_refused(commands: list[Command], rule: str) -> None:
    """The legal ones are a table."""
    with pytest.raises(RefusedError, match=rf"CHANGE_JOB_STATE: job w0!a {rule}"):
        play_v14(workload(job("a", at=1)), {1.0: commands})


@pytest.mark.parametrize("state", ["COMPLETED_WALLTIME_REACHED", "COMPLETED_FAILED", "SUBMITTED"])
def test_states_that_batsim_1_does_not_know_are_refused(state: str) -> None:
    """It has five that may be set."""
    rule = "must be one of COMPLETED_KILLED, COMPLETED_SUCCESSFULLY, NOT_SUBMITTED, REJECTED, RUNNING"
    with pytest.raises(RemoteProtocolError, match=rule):
        play_v14(workload(job("a", at=1)), {1.0: [change("a", "RUNNING"), change("a", state)]})


def test_a_standstill_is_one_in_v14_too() -> None:
    """A job that nobody decides about."""
    with pytest.raises(DeadlockError, match="1 job waits for a decision"):
        play_v14(workload(job("a", at=1)), {})


FORMER: dict[str, dict[str, Any]] = {
    "m": {"type": "msg_par", "cpu": [2e9, 4e9], "com": [0, 0, 0, 0]},
    "h": {"type": "msg_par_hg", "cpu": 3e9, "com": 0},
    "t": {"type": "msg_par_hg_tot", "cpu": 3e9, "com": 0},
    "c": {"type": "composed", "nb": 2, "seq": ["m", "t"]},
}
PRESENT: dict[str, dict[str, Any]] = {
    "m": {**FORMER["m"], "type": "parallel"},
    "h": {**FORMER["h"], "type": "parallel_homogeneous"},
    "t": {**FORMER["t"], "type": "parallel_homogeneous_total"},
    "c": {"type": "composed", "repeat": 2, "seq": ["m", "t"]},
}


@pytest.mark.parametrize(
    ("settings", "profiles", "line"),
    [
        (V14, FORMER, ()),
        (V14, PRESENT, (PRESENT_IN_V14,)),
        (Settings(), FORMER, (FORMER_IN_V4,)),
        (Settings(), PRESENT, ()),
    ],
    ids=["v1.4-former", "v1.4-present", "v4-former", "v4-present"],
)
def test_profiles_run_alike_under_either_name(
    settings: Settings, profiles: dict[str, dict[str, Any]], line: tuple[str, ...]
) -> None:
    """They are forwarded as they are written; where the real Batsim would refuse them, a line says so."""
    jobs = workload(*(job(str(n), name, res=2, at=10 * n + 1) for n, name in enumerate("mhtc")), profiles=profiles)
    script = {10.0 * n + 1: [execute(str(n), "0-1")] for n in range(4)}
    result, peer = play(jobs, script, settings=replace(settings, forward_profiles=True))
    assert [record.execution for record in result.jobs] == pytest.approx([4.0, 3.0, 1.5, 11.0])
    assert [data["profile"] for _, data in peer.told("JOB_SUBMITTED")] == [profiles[name] for name in "mhtc"]
    assert result.approximations == line


@pytest.mark.parametrize(
    ("settings", "name", "lines"), [(V14, "a", (NAMED_JOBS,)), (V14, "1", ()), (Settings(), "a", ())]
)
def test_jobs_of_a_file_whose_names_are_no_integers_are_listed(
    settings: Settings, name: str, lines: tuple[str, ...]
) -> None:
    """Batsim 1 reads an integer from the name; they run here."""
    result, _ = play(workload(job(name, at=1)), {1.0: [execute(name, "0")]}, settings=settings)
    assert result.approximations == lines


def test_a_former_name_is_refused_from_a_scheduler_of_v4() -> None:
    """As real Batsim 4 does."""
    profile: Command = (
        "REGISTER_PROFILE",
        {"workload_name": "dyn", "profile_name": "p", "profile": {"type": "msg_par_hg", "cpu": 1}},
    )
    with pytest.raises(RefusedError, match="type 'msg_par_hg' is called 'parallel_homogeneous' in protocol v4"):
        play(workload(job("a", at=1)), {1.0: [profile]}, settings=Settings(dynamic_jobs=True))


def test_each_dialect_has_its_generation() -> None:
    """Each Batsim that can be a peer can be simulated."""
    assert list(GENERATIONS) == list(DIALECTS)
