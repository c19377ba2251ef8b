"""Messages between Batsim's parts: at once, or one after the other over the network."""

from pathlib import Path

import pytest

from batsched_py.errors import DeadlockError
from batsched_py.model.settings import Settings
from batsched_py.plugins import load
from batsched_py.session.session import Session
from batsched_py.simulator.contention import messages
from batsched_py.simulator.contention.messages import MessageDemands, message_seconds
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.platform_writer import write_homogeneous
from batsched_py.traces.simgrid_xml import read_platform
from tests.unit.simulator.scenario import DELAYS, Script, call, execute, job, platform, reject, workload

#: A master beside two hosts: 1 ms to itself, 10 ms to the first host, 20 ms to the second.
NETWORK = """<?xml version='1.0'?>
<platform version="4.1">
  <zone id="world" routing="Full">
    <host id="h0" speed="1Gf"/><host id="h1" speed="1Gf"/><host id="master_host" speed="1Gf"/>
    <link id="loop" bandwidth="1e12" latency="1ms"/>
    <link id="near" bandwidth="1e12" latency="10ms"/>
    <link id="far" bandwidth="1e12" latency="20ms"/>
    <route src="master_host" dst="master_host"><link_ctn id="loop"/></route>
    <route src="master_host" dst="h0"><link_ctn id="near"/></route>
    <route src="master_host" dst="h1"><link_ctn id="far"/></route>
  </zone>
</platform>
"""
LATE = Settings(message_latency=True)


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "network.xml"
    path.write_text(NETWORK)
    return path


def heard(peer: Script) -> list[tuple[float, list[tuple[float, str]]]]:
    """`now` of each message, and time and type of its events."""
    return [
        (message["now"], [(event["timestamp"], event["type"]) for event in message["events"]]) for message in peer.heard
    ]


def test_the_latency_is_that_of_the_way_to_the_master(network: Path) -> None:
    """From each host, and last from the master to itself; all 0 without a master."""
    read = read_platform(network)
    hosts = read.compute_hosts()
    seconds = [message_seconds(demand) for demand in MessageDemands(read, hosts, "master_host")]
    assert seconds == pytest.approx([0.01, 0.02, 0.001], abs=1e-8)
    assert [message_seconds(demand) for demand in MessageDemands(read, hosts, "nobody")] == [0.0, 0.0, 0.0]


def test_demands_that_are_not_kept_are_computed_again(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large torus, those of all hosts have too many links."""
    read = read_platform(network)
    whole = MessageDemands(read, read.compute_hosts(), "master_host")
    monkeypatch.setattr(messages, "MAX_CACHED", 2)
    some = MessageDemands(read, read.compute_hosts(), "master_host")
    assert [some[host] for host in (0, 1, -1)] == [whole[host] for host in (0, 1, -1)] == list(some)


def test_each_message_takes_its_turn(network: Path) -> None:
    """A greeting, a submission, the submitter's farewell and commands, one millisecond each; an end from its host."""
    jobs = workload(job("a", at=1, profile="d5"), profiles=DELAYS)
    peer = Script({0.0: [call(0.5), call(0.5)], 1.001: [execute("a", "1")]})
    result = Simulation(read_platform(network), [jobs], LATE).run(peer)
    assert heard(peer) == [
        (0.0, [(0.0, "SIMULATION_BEGINS")]),
        # Both calls came due while nothing was on its way: the first is told alone only if the second was not posted.
        (0.502, [(0.501, "REQUESTED_CALL"), (0.502, "REQUESTED_CALL")]),
        (1.001, [(1.001, "JOB_SUBMITTED")]),
        # The farewell was posted before the command; the scheduler is ready again one message later.
        (1.004, [(1.002, "NOTIFY")]),
        (6.023, [(6.023, "JOB_COMPLETED")]),
        (6.024, [(6.024, "SIMULATION_ENDS")]),
    ]
    assert (result.jobs[0].start, result.jobs[0].finish) == pytest.approx((1.003, 6.003))


def test_a_submitter_comes_late_by_what_sending_took(network: Path) -> None:
    """It knew how long to sleep before it sent the jobs of the time before."""
    jobs = workload(*(job(str(time), at=time) for time in (1, 2, 3)), profiles=DELAYS)
    peer = Script({3.002: [("REJECT_JOB", {"job_id": f"w0!{time}"}) for time in (1, 2, 3)]})
    Simulation(read_platform(network), [jobs], LATE).run(peer)
    assert [time for time, _ in peer.told("JOB_SUBMITTED")] == [1.001, 2.002, 3.002]


def test_a_kill_is_told_after_the_scheduler_is_ready_again(network: Path) -> None:
    """Its completions come with it, in one message."""
    jobs = workload(job("a", profile="d100"), profiles=DELAYS)
    peer = Script({0.003: [execute("a", "0")], 0.006: [("KILL_JOB", {"job_ids": ["w0!a"]}, 0.006)]})
    Simulation(read_platform(network), [jobs], LATE).run(peer)
    (killed,) = peer.told("JOB_KILLED")
    (completed,) = peer.told("JOB_COMPLETED")
    assert killed[0] == completed[0] == pytest.approx(0.009)


def test_without_a_network_an_instant_is_still_split_as_batsim_does() -> None:
    """The submission is told before the submitter has said that it was the last."""
    jobs = workload(job("a", at=1, profile="d5"))
    peer = Script({1.0: [("REJECT_JOB", {"job_id": "w0!a"})]})
    Simulation(platform(), [jobs], LATE).run(peer)
    assert [kinds for _, kinds in heard(peer)][1:3] == [[(1.0, "JOB_SUBMITTED")], [(1.0, "NOTIFY")]]


@pytest.mark.parametrize("name", ["fcfs", "filler", "easy"])
def test_our_algorithms_finish_although_messages_are_late(name: str) -> None:
    """Each job that is not rejected runs, on a platform whose messages take 250 us from the hosts."""
    jobs = read_workload(Path("workloads/mixed.json"))
    session = Session(load(name))
    result = Simulation(read_platform(Path("platforms/cluster32.xml")), [jobs], LATE).run(session.answer)
    session.check()
    assert len(result.jobs) == len(jobs.jobs)


def test_jobs_of_one_time_are_told_in_two_messages_where_rounding_wakes_their_submitter_early(tmp_path: Path) -> None:
    """Jobs later than its clock are still to come: Batsim submits the job that it slept for, and then the others."""
    assert 1.1 + (5.7 - 1.1) < 5.7
    jobs = workload(job("a", at=1.1), *(job(name, at=5.7) for name in "bcd"))
    peer = Script({1.1: [reject("a")], 5.7: [reject("b")]})
    write_homogeneous(tmp_path / "none.xml", 2)  # its messages take no time at all
    with pytest.raises(DeadlockError):
        Simulation(read_platform(tmp_path / "none.xml"), [jobs], LATE).run(peer)
    told = [[event["data"].get("job_id") for event in heard["events"]] for heard in peer.heard if heard["now"] == 5.7]
    assert told == [["w0!b"], ["w0!c", "w0!d"], [None]]
