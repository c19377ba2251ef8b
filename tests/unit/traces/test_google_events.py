"""Instance events of Google: the last run of each task, and that no event disappears unsaid."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.errors import WorkloadError
from batsched_py.traces.formats import GOOGLE, ReadOptions, find_format
from batsched_py.traces.swf_log import SwfLog
from tests.public_samples import GOOGLE as SAMPLE
from tests.thoroughness import thorough


def read(folder: Path, *files: Sequence[object], **options: Any) -> SwfLog:
    """The log of files of events."""
    paths = []
    for number, events in enumerate(files):
        paths.append(folder / f"e{number}")
        paths[-1].write_text("".join(f"{json.dumps(event)}\n" for event in events))
    log = GOOGLE.read(paths[0], ReadOptions(further=tuple(paths[1:]), **options))
    assert isinstance(log, SwfLog)
    return log


def test_a_task_is_its_last_run(tmp_path: Path) -> None:
    """By hand: submitted at 701 s after an eviction, started at 710 s, finished at 810.5 s."""
    log = read(tmp_path, SAMPLE, keep=("priority",))
    assert find_format(tmp_path / "e0") is GOOGLE
    found = {log.names[one.number]: (one.submit, one.wait, one.run, one.status) for one in log.records}
    assert found == {"7-0": (701, 9, 100.5, 1), "8-0": (-1, -1, -1, 1)}
    assert log.dropped == {"dropped_attempt": 1, "dropped_going_on": 1, "passed_over_events": 7}
    assert log.places["dropped_attempt"] == ("line 4",)
    assert log.members[1] == {"priority": 200}
    assert log.columns is not None
    assert "resource_request" in log.columns.unread


@pytest.mark.parametrize("cut", [1, 5, 9])
def test_files_may_be_in_any_order(cut: int, tmp_path: Path) -> None:
    """Events of one task are in several files, whose order is not that of time."""
    whole, cut_up = read(tmp_path, SAMPLE), read(tmp_path, SAMPLE[cut:], SAMPLE[:cut])
    assert sorted(one[1:] for one in cut_up.records) == sorted(one[1:] for one in whole.records)
    assert cut_up.dropped == whole.dropped


@pytest.mark.parametrize(
    ("event", "rule"),
    [
        (5, "must be an object, not 5"),
        ({"type": 99, "time": 1}, "type must be one of SUBMIT, "),
        ({"type": [], "time": 1}, "type must be one of SUBMIT, "),
        ({"type": 0, "time": -1}, "time must be a whole number, not -1"),
        ({"type": 0, "time": 1, "collection_id": "x"}, "collection_id must be a whole number"),
    ],
)
def test_wrong_events_are_dropped_or_refused(event: object, rule: str, tmp_path: Path) -> None:
    """With their line."""
    log = read(tmp_path, [*SAMPLE, event])
    assert log.dropped["dropped_row"] == 1
    assert any(rule in note and "line 12" in note for note in log.notes)
    with pytest.raises(WorkloadError, match="line 12: "):
        read(tmp_path, [*SAMPLE, event], strict=True)


def test_amounts_are_no_demands(tmp_path: Path) -> None:
    """They are parts of the largest machine, whose size is not published."""
    with pytest.raises(WorkloadError, match="--demands: has no effect"):
        read(tmp_path, SAMPLE, demands=True)


def test_unknown_fields_are_named(tmp_path: Path) -> None:
    """With their first line."""
    log = read(tmp_path, [{**SAMPLE[0], "colour": 1}])
    assert any("field colour of an event is unknown and has no effect (line 1)" in note for note in log.notes)


EVENTS = st.fixed_dictionaries(
    {"time": st.sampled_from(["0", "5000000", 9_000_000, str(2**63 - 1), "x"]), "type": st.integers(0, 11)},
    optional={"collection_id": st.integers(0, 1), "instance_index": st.integers(0, 1), "collection_type": st.just(1)},
)


@settings(max_examples=thorough(50), deadline=None)
@given(st.lists(EVENTS, min_size=1, max_size=8), st.integers(0, 8))
def test_no_event_disappears(tmp_path_factory: pytest.TempPathFactory, events: list[Any], cut: int) -> None:
    """Each is a job or counted, in one file or two."""
    log = read(tmp_path_factory.mktemp("g"), events[:cut], events[cut:])
    assert len(log.records) + sum(log.dropped.values()) == len(events)
