"""Schedules that FIREWHEEL prints, as timelines."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.timelines.firewheel import ScheduleConverter
from batsched_py.timelines.parsing import parse_timelines
from batsched_py.timelines.playing import ResumeRequest, play
from batsched_py.traces.firewheel_file import read_schedule
from tests.unit.timelines.fa_cases import times


def converted(schedule: Any) -> list[dict[str, Any]]:
    """The entries of a schedule."""
    return ScheduleConverter("s.json", "vm").convert(schedule)


def program(name: str, **more: Any) -> dict[str, Any]:
    """An entry with a program, as it is printed."""
    return {"name": name, "executable": f"/bin/{name}", "arguments": None, "data": [], "pause": False, **more}


def pausing(duration: float) -> dict[str, Any]:
    """An entry with a pause."""
    return {"name": None, "executable": None, "data": [{"pause_duration": duration}], "pause": True}


def test_a_printed_schedule_keeps_its_times(tmp_path: Path) -> None:
    """F35: FA-1, with a break that is written as Infinity."""
    schedule = {"50.0": [program("P3")], "10.0": [program("P1")], "15": [pausing(float("inf"))], "30": [program("P2")]}
    path = tmp_path / "vm.json"
    path.write_text(json.dumps(schedule))
    assert "Infinity" in path.read_text()
    document = {"vms": {"vm": ScheduleConverter(str(path), "vm").convert(read_schedule(path))}}
    json.loads(json.dumps(document), parse_constant=pytest.fail)
    ended = play(parse_timelines("t.json", document), [ResumeRequest(1000)])[0]
    assert times(ended) == {"vm": {"P1": 10, "P2": 1015, "P3": 1035}}


def test_what_an_entry_becomes() -> None:
    """Programs with arguments and flags, files that are put or pulled, pauses at 0 and at -infinity."""
    assert converted(
        {
            "-5": [program("a", arguments=["-x", "a b"], ignore_failure=True, on_host=True)],
            "3": [{"data": [{"location": "/a", "content": "text"}, {"location": "/b", "interval": 60}]}],
            "4": [{"data": [{"location": "/c", "interval": None}]}, {"pause": {"pause_duration": 7}}, {"pause": 8}],
            str(sys.float_info.min): [pausing(9)],
            "-inf": [pausing(2)],
        }
    ) == [
        {"at": "-inf", "pause": 2},
        {"at": -5, "run": "/bin/a -x 'a b'", "name": "a", "ignore_failure": True, "on_host": True},
        {"at": 0, "pause": 9},
        {"at": 3, "drop": "/a"},
        {"at": 3, "transfer": "/b", "interval": 60},
        {"at": 4, "transfer": "/c"},
        {"at": 4, "pause": 7},
        {"at": 4, "pause": 8},
    ]


def test_what_has_no_counterpart_is_told() -> None:
    """Files of programs, and members that nobody knows."""
    converter = ScheduleConverter("s.json", "vm")
    converter.convert({"1": [program("a", data=[{"location": "/a"}, {"location": "/b"}], colour="red")]})
    assert converter.notes == [
        "vm: 1[0]: 'colour' has no counterpart",
        "vm: 2 files of programs: loaded before they begin",
    ]


@pytest.mark.parametrize(
    ("schedule", "told"),
    [
        ({"soon": []}, "s.json: soon: must be a time: seconds, or -inf"),
        ({"1": {}}, "s.json: 1: must be a list of entries, not {}"),
        ({"1": ["a"]}, "s.json: 1[0]: must be an object, not 'a'"),
        ({"1": [{"data": "x"}]}, "s.json: 1[0].data: must be a list of objects, not 'x'"),
        ({"1": [{"data": [{}]}]}, "s.json: 1[0].data: each must have a location, which is a text, not None"),
        ({"1": [{"pause": True}]}, "s.json: 1[0].pause: has no pause_duration"),
        ({"1": [{"pause": "long"}]}, "s.json: 1[0].pause: a pause_duration must be a number, not 'long'"),
        ({"1": [pausing(-1)]}, "s.json: 1[0].pause: a pause_duration must be at least 0, not -1"),
        ({"1": [program("a", arguments=7)]}, "s.json: 1[0].executable: and its arguments must be texts"),
    ],
)
def test_what_is_refused(schedule: Any, told: str) -> None:
    """One line with file, place and rule."""
    with pytest.raises(WorkloadError) as error:
        converted(schedule)
    assert str(error.value) == told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        *((pickle.dumps([], protocol), "is a pickle, which is never opened") for protocol in (0, 2, 5)),
        (b"{", "line 1, column 2: is not JSON"),
        (b"[]", "must be an object, not []"),
        (b'{"1": [], "1": []}', "an object has the member '1' twice"),
        (b'{"1": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", ""),
        (b'{"1": ' + b"9" * 10_000 + b"}", ""),
    ],
    ids=["pickle 0", "pickle 2", "pickle 5", "cut off", "list", "twice", "deep", "digits"],
)
def test_which_files_are_refused(content: bytes, told: str, tmp_path: Path) -> None:
    """A pickle is not opened; wrong JSON is one line."""
    path = tmp_path / "s.json"
    path.write_bytes(content)
    with pytest.raises(WorkloadError) as error:
        read_schedule(path)
    assert str(error.value).startswith(f"{path}: {told}")
    assert "\n" not in str(error.value)
