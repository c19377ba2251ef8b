"""Event files, and what they must not say."""

from pathlib import Path

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.hostset import HostSet
from batsched_py.traces.event_file import read_events


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
        ("[1]", "must be an object, not [1]"),
        ('{"type": "x", "timestamp": -1}', "timestamp: must be a number of seconds from 0"),
        ('{"type": "x"}', "timestamp: is missing"),
        ('{"timestamp": 1}', "type: is missing"),
        ('{"type": "machine_available", "timestamp": 1}', "resources: is missing"),
        ('{"type": "x", "timestamp": 1, "timestamp": 2}', "has the member 'timestamp' twice"),
        ('{"type": "x", "timestamp": 1, "a": {"b": 1, "b": 2}}', "a: has the member 'b' twice"),
        ('{"type": "machine_available", "timestamp": 1, "resources": "x"}', "resources: must be a text"),
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
