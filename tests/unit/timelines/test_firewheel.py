"""Schedules that FIREWHEEL prints, as timelines."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.timelines.api import ExternalResume, ScheduleConverter, parse_timelines, play
from batsched_py.traces.firewheel_file import read_schedule
from tests.unit.timelines.fa_cases import times


def converted(schedule: Any) -> list[dict[str, Any]]:
    """The entries of the only VM of a schedule."""
    [entries] = ScheduleConverter("s.json", "vm").convert(schedule).values()
    return entries


def program(name: str, vm: str = "vm", **more: Any) -> dict[str, Any]:
    """An entry with a program, as it is printed."""
    written: dict[str, Any] = {
        "executable": f"/bin/{name}",
        "arguments": "",
        "data": [],
        "pause": None,
        "on_host": False,
    }
    return {"name": vm, **written, **more}


def pausing(duration: float, vm: str = "vm") -> dict[str, Any]:
    """An entry with a pause."""
    data = [{"pause_duration": duration}]
    return {"name": vm, "executable": None, "arguments": "", "data": data, "pause": True, "on_host": False}


VM = {"name": "vm"}


def test_the_schedule_of_an_experiment_has_all_vms() -> None:
    """Each entry belongs to the VM that it names: a pause of one delays nothing of the other."""
    schedule = {
        "-Infinity": [pausing(2, "client")],
        "-100": [program("install", "server"), program("setup", "client")],
        str(sys.float_info.min): [pausing(60, "client")],
        "10": [program("serve", "server"), program("load", "client")],
    }
    assert ScheduleConverter("s.json", "s").convert(schedule) == {
        "client": [
            {"at": "-inf", "pause": 2},
            {"at": -100, "run": "/bin/setup"},
            {"at": 0, "pause": 60},
            {"at": 10, "run": "/bin/load"},
        ],
        "server": [{"at": -100, "run": "/bin/install"}, {"at": 10, "run": "/bin/serve"}],
    }


def test_a_file_is_a_vm_if_no_entry_names_one() -> None:
    """All of it."""
    schedule = {"1": [program("a", vm="")], "2": [{"executable": "/bin/b"}]}
    del schedule["1"][0]["name"]
    assert list(ScheduleConverter("web.json", "web").convert(schedule)) == ["web"]


def test_a_printed_schedule_keeps_its_times(tmp_path: Path) -> None:
    """F35: FA-1, with a break that is written as Infinity."""
    schedule = {"50.0": [program("P3")], "10.0": [program("P1")], "15": [pausing(float("inf"))], "30": [program("P2")]}
    path = tmp_path / "vm.json"
    path.write_text(json.dumps(schedule))
    assert "Infinity" in path.read_text()
    document = {"vms": ScheduleConverter(str(path), "file").convert(read_schedule(path))}
    json.loads(json.dumps(document), parse_constant=pytest.fail)
    ended = play(parse_timelines("t.json", document), [ExternalResume(1000)])[0]
    assert times(ended) == {"vm": {"/bin/P1": 10, "/bin/P2": 1015, "/bin/P3": 1035}}


def test_what_an_entry_becomes() -> None:
    """Programs with arguments and flags, files that are put or pulled, pauses at 0 and at -infinity."""
    assert converted(
        {
            "-5": [program("a", arguments=["-x", "a b"], ignore_failure=True, on_host=True)],
            "3": [{**VM, "data": [{"location": "/a", "content": "text"}, {"location": "/b", "interval": 60}]}],
            "4": [
                {**VM, "data": [{"location": "/c", "interval": None}]},
                {**VM, "pause": {"pause_duration": 7}},
                {**VM, "pause": 8},
            ],
            str(sys.float_info.min): [pausing(9)],
            "-inf": [pausing(2)],
        }
    ) == [
        {"at": "-inf", "pause": 2},
        {"at": -5, "run": "/bin/a -x 'a b'", "ignore_failure": True, "on_host": True},
        {"at": 0, "pause": 9},
        {"at": 3, "drop": "/a"},
        {"at": 3, "transfer": "/b", "interval": 60},
        {"at": 4, "transfer": "/c"},
        {"at": 4, "pause": 7},
        {"at": 4, "pause": 8},
    ]


def test_what_has_no_counterpart_is_told() -> None:
    """Files of programs, what files contain, and members that nobody knows; not what is null, false or empty."""
    converter = ScheduleConverter("s.json", "s")
    files = [
        {"location": "/a", "content": "x", "executable": False},
        {"location": "/b", "filename": "b.sh", "executable": True, "mode": 7},
    ]
    pulled = {"location": "/log", "interval": 30, "destination": None}
    converter.convert({"1": [program("a", data=files, colour="red", reboot=True)], "2": [{**VM, "data": [pulled]}]})
    assert converter.notes() == [
        "s.json: member colour of an entry is unknown and has no effect (1[0])",
        "s.json: member reboot of an entry is not obeyed: a program requests a reboot by its exit code, the member exit"
        " (1[0])",
        "s.json: member content of a data item is not obeyed: files have no content here (1[0].data)",
        "s.json: member filename of a data item is not obeyed: files have no content here (1[0].data)",
        "s.json: member executable of a data item is not obeyed: any file can be run (1[0].data)",
        "s.json: member mode of a data item is unknown and has no effect (1[0].data)",
        "vm: 2 files of programs: loaded before they begin",
    ]


@pytest.mark.parametrize(
    ("schedule", "told"),
    [
        ({"soon": []}, "s.json: soon: must be a time: seconds, or -Infinity"),
        ({"NaN": []}, "s.json: NaN: must be a time: seconds, or -Infinity"),
        ({"Infinity": []}, "s.json: Infinity: must be a time: seconds, or -Infinity"),
        (
            {"1": [program("a"), {"executable": "b"}]},
            "s.json: 1[1].name: must be the name of a VM, as other entries have it, not None",
        ),
        ({"1": [program("a", vm="")]}, "s.json: 1[0].name: must be the name of a VM, as other entries have it, not ''"),
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
