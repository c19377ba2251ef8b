"""Acceptance cases of leases: by the scheduler alone, and the same instants through real messages of both dialects."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from batsched_py.cli.main import run
from batsched_py.leases.accounting.ledger import Ledger
from batsched_py.leases.observer import Observers
from batsched_py.model.platform import DEFAULT_MASTER, Platform, PlatformHost
from batsched_py.model.settings import Settings
from batsched_py.model.zone import Link, Segment, TableZone
from batsched_py.results.records import JobRecord
from batsched_py.schedulers.leases import Leases
from tests.clone import ROOT
from tests.ha_cases import CASES, HaCase, Span, driver, expected, options_of, told, workload
from tests.lease_checks import Checks
from tests.recorded_run import RecordedRun, recording

#: Conversations that were recorded.
RECORDINGS = sorted((ROOT / "tests" / "data" / "leases").glob("*.jsonl"))
#: Seconds that a message between Batsim's parts takes, and by which a job may begin or end otherwise than planned then.
LATENCY, TOLERANCE = 2e-5, 1e-3
#: In these a lease must come at 0, and not a moment later, to run as long as it must before it is suspended.
TO_THE_MOMENT = {"HA-23-F1-64", "HA-49-180"}

SETTINGS = {
    "v4": Settings(dynamic_jobs=True, compute_sharing=True, allow_oversized=True),
    "v1.4": Settings(
        protocol="v1.4", dynamic_jobs=True, compute_sharing=True, allow_oversized=True, forward_profiles=True
    ),
    "latency": Settings(dynamic_jobs=True, compute_sharing=True, allow_oversized=True, message_latency=True),
}


def same(span: Span, other: Span, tolerance: float) -> bool:
    """Return True if two spans are equal within a tolerance; hosts are compared if the second span has some."""
    near = abs(span.start - other.start) <= tolerance and abs(span.end - other.end) <= tolerance
    return near and span[:1] + span[3:4] == other[:1] + other[3:4] and other.hosts in ("", span.hosts)


def check(ledger: Ledger, case: HaCase, tolerance: float = 0.0) -> None:
    """Assert that each lease became what the case tells."""
    found = told(ledger.reservation_rows(), len(case.leases))
    states = ["Rejected" if outcome == "rejected" else "Done" for outcome in case.becomes]
    assert [row.state for row in ledger.lease_rows()] == states
    for number, (ours, required) in enumerate(zip(found, expected(case), strict=True), 1):
        alike = len(ours) == len(required) and all(same(*pair, tolerance) for pair in zip(ours, required, strict=True))
        assert alike, f"lease {number}: {ours}, but must have {required}"


def platform(hosts: int, latency: float = LATENCY) -> Platform:
    """Like hosts and a master, to which their messages take so long."""
    names = [*(f"h{number}" for number in range(hosts)), DEFAULT_MASTER]
    table = {(name, DEFAULT_MASTER): Segment((Link(f"link {name}", 1e12, latency),)) for name in names}
    machines = tuple(PlatformHost(name, (1e9,)) for name in names)
    return Platform("the case", machines, {"zone": TableZone("zone", "", table)}, dict.fromkeys(names, "zone"))


class Simulated(RecordedRun):
    """A run of a case through the messages of a simulation."""

    def __init__(self, case: HaCase, settings: Settings, latency: float = LATENCY) -> None:
        super().__init__(Leases, options_of(case))
        self.run([workload(case)], settings, platform(case.hosts, latency))
        self.session.tables()

    @property
    def ledger(self) -> Ledger:
        """The ledger of the algorithm."""
        return self.algorithm(Leases).ledger

    def ran(self) -> list[JobRecord]:
        """Jobs that have run, in order of their starts."""
        ran = [job for job in self.jobs if not job.rejected]
        return sorted(ran, key=lambda job: (round(job.start), round(job.finish)))


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_its_outcome(name: str) -> None:
    """By the scheduler alone, checked at each instant."""
    case, ledger = CASES[name], Ledger()
    driver(case, Observers(ledger, Checks())).run()
    check(ledger, case)


@pytest.mark.parametrize(
    ("name", "peer"),
    [(name, peer) for name in CASES for peer in SETTINGS if peer != "latency" or name not in TO_THE_MOMENT],
)
def test_a_case_has_the_same_instants_through_messages(name: str, peer: str) -> None:
    """Also by Batsim's own records of the jobs that are its leases' segments."""
    case, tolerance = CASES[name], TOLERANCE if peer == "latency" else 0.0
    simulated = Simulated(case, SETTINGS[peer])
    check(simulated.ledger, case, tolerance)
    runs = sorted((one.start, one.end) for spans in expected(case) for one in spans if one.kind == "vm")
    segments = [(job.start, job.finish) for job in simulated.ran()]
    assert len(segments) == len(runs)
    for segment, planned in zip(segments, runs, strict=True):
        assert segment == pytest.approx(planned, rel=0, abs=max(tolerance, 1e-6))


@pytest.mark.parametrize(("mode", "count"), [("off", 1), ("aggressive", 2), ("intermediate", 4), ("conservative", 8)])
def test_backfilling_decides_how_many_are_planned_ahead(mode: str, count: int) -> None:
    """HA-20: of eight leases in a queue one runs at once, and so many in all have a start."""
    queue = driver(CASES[f"HA-20-{mode}"], Checks()).run(until=0)
    assert len([lease for lease in queue.leases if lease.runs]) == count


def test_a_queue_behind_a_reservation_has_one_lease_planned() -> None:
    """HA-55: the reservation runs at 200, the first lease has a start, the other four wait."""
    leases = driver(CASES["HA-55"], Checks()).run(until=200).leases
    assert [lease.state.label for lease in leases] == ["Active", "Ready", *["Queued"] * 4]


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recorded_conversation_has_the_same_bytes(path: Path) -> None:
    """These are the messages of the simulator in Batsim's place, and the replies."""
    name, _, dialect = path.stem.rpartition("-")
    assert Simulated(CASES[name], SETTINGS[dialect]).exchanges == recording(path)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recorded_conversation_is_replayed_alone(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its header, without a simulator: each decision is the recorded one."""
    assert run(["replay", str(path)]) == 0
    assert f"{len(recording(path))} exchanges" in capsys.readouterr().out


def test_ha_2_and_ha_22_are_recorded_in_both_dialects() -> None:
    """Suspension and resumption, and backfilling."""
    assert [path.stem for path in RECORDINGS] == [
        f"{name}-{dialect}" for name in ("HA-2", "HA-22-B1-aggressive", "HA-22-B5") for dialect in ("v1.4", "v4")
    ]


def test_jobs_of_batsim_1_are_named_by_integers() -> None:
    """HA-59: Batsim 1.4 reads the name of a job as an integer, also that of a segment."""
    told = Simulated(CASES["HA-2"], SETTINGS["v1.4"]).told("JOB_SUBMITTED")
    names = [data["job_id"].partition("!")[2] for _, _, data in told]
    assert len(names) == 3
    assert all(name.isdecimal() for name in names)


def test_batsim_1_without_profiles_has_no_suspension() -> None:
    """HA-59: what a job had left to do is not known, so nobody gives way."""
    simulated = Simulated(CASES["HA-2"], replace(SETTINGS["v1.4"], forward_profiles=False))
    assert told(simulated.ledger.reservation_rows(), 2) == [[Span("vm", 0, 3600, hosts="0")], []]


def test_a_reservation_that_comes_late_is_reported_and_does_not_fail() -> None:
    """H111: messages take 2 s, so its hosts are free 2 s too late; others wait for it as well, and none fails."""
    case = HaCase(("BE 4 1800 @0", "AR 4 600 @100 start 1800", "BE 4 300 @200"))
    simulated = Simulated(case, SETTINGS["latency"], latency=2.0)
    assert [row.state for row in simulated.ledger.lease_rows()] == ["Done"] * 3
    _, reserved, *others = simulated.ran()
    assert reserved.start > 1801
    assert reserved.finish - reserved.start == pytest.approx(600)
    assert all(other.start >= reserved.finish for other in others)
    (warning,) = [text for text in simulated.warnings if "its hosts were not free" in text]
    assert " s after 1800: " in warning
