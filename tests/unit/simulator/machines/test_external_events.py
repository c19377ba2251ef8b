"""Event files, and what they must not say."""

from pathlib import Path

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.hostset import HostSet
from batsched_py.simulator.machines.external_events import read_events
from batsched_py.simulator.settings import Settings
from tests.unit.simulator.scenario import job, platform, play, reject, workload


def test_events_are_read_in_order_of_time(tmp_path: Path) -> None:
    """One JSON object a line; unknown types and members are kept."""
    file = tmp_path / "events.txt"
    file.write_text(
        '{"type": "price", "timestamp": 7.5, "value": 0.12}\n\n'
        '{"type": "machine_unavailable", "resources": "0-1 3", "timestamp": 2}\n'
    )
    first, second = read_events(file)
    assert (first.timestamp, first.type, first.hosts) == (2, "machine_unavailable", HostSet.of(0, 1, 3))
    assert (second.type, second.members["value"]) == ("price", 0.12)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("nonsense", "must be a JSON object"),
        ("[1]", "must be a JSON object"),
        ('{"type": "x", "timestamp": -1}', "timestamp: must be a number of seconds from 0"),
        ('{"type": "x"}', "timestamp: must be a number"),
        ('{"timestamp": 1}', "type: must be a string"),
        ('{"type": "machine_available", "timestamp": 1}', "resources: must be a string of intervals"),
        ('{"type": "machine_available", "timestamp": 1, "resources": "x"}', "resources: must be a string"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, rule: str) -> None:
    """With the file, the line's number, the member and the rule."""
    file = tmp_path / "events.txt"
    file.write_text(f"\n{line}\n")
    with pytest.raises(WorkloadError) as caught:
        read_events(file)
    assert f"{file}:2" in str(caught.value)
    assert rule in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """Like any wrong input."""
    with pytest.raises(WorkloadError, match="No such file"):
        read_events(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("lines", "rule"),
    [
        ([("machine_unavailable", "9")], "host 9 does not exist"),
        ([("machine_unavailable", "0-1"), ("machine_unavailable", "1")], "host 1 is unavailable already"),
        ([("machine_available", "1")], "host 1 is not unavailable"),
    ],
)
def test_contradictions_are_found_before_the_simulation(
    tmp_path: Path, lines: list[tuple[str, str]], rule: str
) -> None:
    """Batsim would abort in the middle of the run."""
    file = tmp_path / "events.txt"
    file.write_text("".join(f'{{"type": "{kind}", "resources": "{hosts}", "timestamp": 1}}\n' for kind, hosts in lines))
    with pytest.raises(WorkloadError, match=rule):
        play(workload(job("a")), {}, settings=Settings(external_events=read_events(file)))


def test_unknown_events_are_forwarded_if_so_asked(tmp_path: Path) -> None:
    """The event object itself is the data of a NOTIFY."""
    file = tmp_path / "events.txt"
    file.write_text('{"type": "price", "timestamp": 7.5, "value": 0.12}\n')
    events = read_events(file)
    jobs = workload(job("a", at=1))
    for forward in (True, False):
        settings = Settings(external_events=events, forward_unknown_events=forward)
        _, peer = play(jobs, {1.0: [reject("a")]}, on=platform(), settings=settings)
        price = {"type": "price", "timestamp": 7.5, "value": 0.12}
        assert ((7.5, price) in peer.told("NOTIFY")) is forward
        assert (7.5, {"type": "no_more_external_event_to_occur"}) in peer.told("NOTIFY")
