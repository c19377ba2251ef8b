"""Hosts of jobs: selections and constraints, simulated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import strategies as st

from batsched_py.api import Host, Job
from batsched_py.errors import OptionError
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.session.session import Session
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT
from tests.drawing import given_once
from tests.integration.variants import workload
from tests.recorded_run import RecordedRun

#: Four racks of four hosts in two rooms.
ROOMS = read_platform(ROOT / "platforms" / "rooms16.xml")
HOSTS = 16
#: As in variants.py, but larger.
SPECS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, HOSTS), st.integers(1, 9), st.integers(1, 12)), min_size=1, max_size=25
)
#: Algorithms that take a selection, with what they need for those that may find nothing.
ALGORITHMS: list[tuple[str, dict[str, str]]] = [
    ("filler", {}),
    ("priority", {"order": "asc_size"}),
    ("easy", {"reserve": "hosts"}),
    ("backfill", {"reserve": "hosts", "depth": "2", "backfill_order": "sjf"}),
    ("conservative", {"reserve": "hosts"}),
]


def room_b(job: Job, hosts: Mapping[int, Host]) -> Iterator[int]:
    """Jobs that end in 5 run in room b."""
    return (number for number, host in hosts.items() if job.name[-1] != "5" or host.zone_properties["room"] == "b")


def run(name: str, options: Mapping[str, str], jobs: Workload) -> RecordedRun:
    recorded = RecordedRun(name, options)
    recorded.run([jobs], on=ROOMS)
    return recorded


@pytest.mark.parametrize(("name", "options"), ALGORITHMS)
@given_once(SPECS)
def test_contiguous_jobs_have_consecutive_hosts(
    name: str, options: dict[str, str], specs: list[tuple[int, int, int, int]]
) -> None:
    """All of them run at last, each in one run."""
    records = run(name, {**options, "selection": "contiguous"}, workload(specs)).jobs
    assert len(records) == len(specs)
    assert all(len(list(record.hosts.intervals())) == 1 for record in records)


@pytest.mark.parametrize(("name", "options"), ALGORITHMS)
@given_once(SPECS)
def test_constrained_jobs_run_where_they_may_or_are_rejected(
    name: str, options: dict[str, str], specs: list[tuple[int, int, int, int]]
) -> None:
    """Room b has eight hosts; what is larger and must be there is rejected with the reason."""
    recorded = run(name, {**options, "constraint": "tests.integration.test_placement:room_b"}, workload(specs))
    assert len(recorded.jobs) == len(specs)
    for record in recorded.jobs:
        bound = record.job.name[-1] == "5"
        refused = bound and record.job.size > 8
        assert (record.state == "REJECTED") == refused
        if refused:
            assert recorded.session.rejections[f"w0!{record.job.name}"].endswith("room_b allows 8")
        elif bound:
            assert min(record.hosts) >= 8


def hosts_of(selection: str, *sizes: int, **options: str) -> list[str]:
    """The hosts of jobs of these sizes that are submitted one after the other and run together."""
    specs = [(number, size, 100, 200) for number, size in enumerate(sizes)]
    records = run("filler", {"selection": selection, **options}, workload(specs)).jobs
    return [str(record.hosts) for record in sorted(records, key=lambda record: record.job.name)]


def test_topology_follows_the_zones_of_the_platform() -> None:
    """Racks, as their zones say; a job larger than a rack gets one room if the algorithm knows of rooms."""
    assert hosts_of("topology", 3, 2, 2, 8) == ["0-2", "4-5", "6-7", "8-15"]
    assert hosts_of("topology", 1, 5, zone="rack") == ["0", "1 4-7"]
    assert hosts_of("topology", 1, 8, zone="rack/room") == ["0", "8-15"]
    assert hosts_of("topology", 1, 8, zone="room") == ["0", "8-15"]


def test_spread_uses_all_racks() -> None:
    """One host of each."""
    assert hosts_of("spread", 4, 2) == ["0 4 8 12", "1 5"]


def test_a_zone_that_the_platform_does_not_have_is_an_option_error() -> None:
    """Told when the run begins."""
    with pytest.raises(OptionError, match="option zone: no host of the platform has a property 'aisle'"):
        hosts_of("topology", 1, zone="aisle")


def starts(name: str, specs: list[tuple[int, int, int, int]], **options: str) -> list[tuple[float, str]]:
    """(start, hosts) of the jobs, in the order of the list."""
    records = run(name, options, workload(specs)).jobs
    return [(record.start, str(record.hosts)) for record in sorted(records, key=lambda record: record.job.name)]


def test_the_first_of_easy_waits_for_a_run_and_nobody_takes_it() -> None:
    """At 10 eight hosts are free, no six in a row; at 20 they are. Until then only the short job may have 0-2."""
    machine = [(0, 3, 10, 10), (0, 3, 20, 20), (0, 1, 99, 99), (0, 5, 10, 10), (0, 4, 99, 99)]
    six, long, short = (1, 6, 9, 9), (2, 3, 40, 40), (3, 3, 5, 5)
    assert starts("easy", [*machine, six, long, short], reserve="hosts", selection="contiguous") == [
        (0, "0-2"),
        (0, "3-5"),
        (0, "6"),
        (0, "7-11"),
        (0, "12-15"),
        (20, "0-5"),
        (10, "7-9"),
        (10, "0-2"),
    ]


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_a_promise_is_on_hosts_where_the_job_may_run(name: str) -> None:
    """Job 5 must run in room b: room a is free at 4, but it waits for 9; a long job may not have b, and goes to a."""
    specs = [(0, 8, 4, 4), (0, 7, 9, 9), (9, 1, 1, 1), (9, 1, 1, 1), (9, 1, 1, 1), (1, 8, 5, 5), (2, 8, 60, 60)]
    found = starts(name, specs, reserve="hosts", constraint="tests.integration.test_placement:room_b")
    assert found[5] == (9, "8-15")
    assert found[6] == (4, "0-7")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"selection": "contiguous"}, "options of easy: selection contiguous needs reserve=hosts"),
        ({"constraint": "tests.integration.test_placement:room_b"}, "constraint .*:room_b needs reserve=hosts"),
    ],
)
def test_counts_promise_nothing_that_depends_on_which_hosts(options: dict[str, str], words: str) -> None:
    """One line that says what to add."""
    with pytest.raises(OptionError, match=words):
        Session(load("easy"), {**options, "reserve": "counts"})
    Session(load("easy"), options)  # where it is not said, hosts are promised


@given_once(SPECS)
def test_selections_that_always_find_hosts_change_no_start_under_counts(
    specs: list[tuple[int, int, int, int]],
) -> None:
    """Delays take as long on any hosts: who starts when is a matter of numbers."""
    plain = [start for start, _ in starts("easy", specs)]
    for selection in ("best_effort_contiguous", "topology", "spread", "cheapest"):
        assert [start for start, _ in starts("easy", specs, selection=selection)] == plain


@pytest.mark.parametrize(
    ("name", "selection", "words"),
    [
        ("easy_idle_sleeper", "contiguous", "selection contiguous is not for hosts that sleep"),
        ("easy_subpart_sleeper", "contiguous", "selection contiguous is not for hosts that sleep"),
        ("energy_budget", "spread", "selection spread is not for energy_budget"),
        ("ar_preempt", "spread", "selection spread is not for ar_preempt"),
    ],
)
def test_algorithms_that_take_hosts_their_own_way_say_so(name: str, selection: str, words: str) -> None:
    """Rather than to leave an option out of account, or to wait for hosts that nobody wakes."""
    with pytest.raises(OptionError, match=words):
        Session(load(name), {"selection": selection, "reserve": "hosts"})
    with pytest.raises(OptionError, match=r"constraint .*:room_b is not for"):
        Session(load(name), {"constraint": "tests.integration.test_placement:room_b", "reserve": "hosts"})
