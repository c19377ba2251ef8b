"""Reading one member, and showing a wrong one; the job object and job ids of messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from batsched_py.hostset import HostSet
from batsched_py.model.demand import TaskDemand
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.protocol import fields
from batsched_py.protocol.fields import check_finite, check_job_id, read_job
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown
from tests.unit.protocol.strategies import json_values

Reader = Callable[[dict[str, Any], str], Any]

EMPTY: dict[str, Any] = {}
#: A value of each JSON type, and which readers take it.
SAMPLES: list[tuple[Any, set[str]]] = [
    (None, set()),
    (True, {"boolean"}),
    (3, {"integer", "number"}),
    (2.5, {"number"}),
    ("1-2", {"text", "hosts"}),
    ([], {"array", "texts"}),
    (EMPTY, {"mapping", "optional_mapping"}),
]
#: A job object.
MEMBERS: dict[str, Any] = {"id": "w0!1", "subtime": 3, "res": 2, "profile": "p"}
READERS = sorted(set().union(*(names for _, names in SAMPLES)))


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(("value", "taken"), SAMPLES, ids=[repr(value) for value, _ in SAMPLES])
def test_a_reader_takes_its_own_type_and_no_other(name: str, value: Any, taken: set[str]) -> None:
    """True is no number here, and a number is no text."""
    reader: Reader = getattr(fields, name)
    if name in taken:
        expected = {"hosts": HostSet.of(1, 2), "texts": ()}.get(name, value)
        assert reader({"m": value}, "m") == expected
    else:
        with pytest.raises(FieldError, match=r"^m: must be "):
            reader({"m": value}, "m")


@pytest.mark.parametrize("name", sorted(set(READERS) - {"optional_mapping"}))
def test_a_missing_member_is_said_to_be_missing(name: str) -> None:
    """A member of null is not the same as none."""
    reader: Reader = getattr(fields, name)
    with pytest.raises(FieldError, match=r"^a\.b: is missing; it must be "):
        reader({}, "a.b")


def test_an_optional_object_may_be_missing() -> None:
    """Then it is None."""
    assert fields.optional_mapping({}, "m") is None


def test_a_list_of_texts_holds_nothing_else() -> None:
    """One wrong entry spoils it."""
    with pytest.raises(FieldError, match="must be a list of texts"):
        fields.texts({"m": ["a", 1]}, "m")


def test_hosts_say_which_piece_is_wrong() -> None:
    """The reason is that of the host set."""
    with pytest.raises(FieldError, match=r"^m: 'x' is not a host number"):
        fields.hosts({"m": "0 x"}, "m")


@given(json_values)
def test_any_value_is_shown_on_one_short_line(value: Any) -> None:
    """The peer may have sent anything."""
    line = shown(value)
    assert len(line) <= 60
    assert "\n" not in line


def test_a_small_value_is_shown_whole() -> None:
    """An error quotes what was sent."""
    assert shown({"a": [1, "x"]}) == "{'a': [1, 'x']}"


def deep(levels: int) -> Any:
    """A list in a list in a list..."""
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [deep(100_000), 10**5000, "x" * 10**6], ids=["deep", "huge", "long"])
def test_a_hostile_value_is_shown_too(value: Any) -> None:
    """An error message must never be the thing that fails."""
    assert len(shown(value)) <= 60


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_lacks_is_found_at_any_depth(number: float) -> None:
    """It would be written as null."""
    with pytest.raises(FieldError, match=r"^profile\.cpu\[1\]\.x: must be a number"):
        check_finite({"cpu": [1, {"x": number}]}, "profile")


@given(json_values)
def test_whatever_was_read_from_json_is_finite(value: Any) -> None:
    """JSON has no other numbers."""
    check_finite(value, "value")


@pytest.mark.parametrize("job_id", ["w0!1", "d4cace!1", "w0!a!b", "wf0!étape 1", "w12!lease!resume-2"])
def test_an_id_is_workload_and_name(job_id: str) -> None:
    """The first mark separates them; names are any text."""
    check_job_id(job_id)


@pytest.mark.parametrize("job_id", ["", "!", "1", "w0", "w0!", "!1"])
def test_an_id_without_workload_or_name_is_refused(job_id: str) -> None:
    """E7."""
    with pytest.raises(FieldError, match="must be workload!name"):
        check_job_id(job_id)


def test_the_members_are_attributes_and_kept() -> None:
    """Unknown members are kept, too."""
    members = {**MEMBERS, "walltime": 10.5, "user": "ann"}
    assert read_job("w0!1", members) == Job("w0!1", 3, 2, 10.5, "p", members)


@pytest.mark.parametrize("walltime", [None, -1, -1.0])
def test_no_walltime_is_written_in_several_ways(walltime: float | None) -> None:
    """Absent is the fourth."""
    assert read_job("w0!1", {**MEMBERS, "walltime": walltime}).walltime is None


def test_an_absent_walltime_is_none() -> None:
    """The usual way."""
    assert read_job("w0!1", MEMBERS).walltime is None


def test_a_job_may_need_no_host() -> None:
    """Batsim reads it, and then cannot run it (E17)."""
    assert read_job("w0!1", {**MEMBERS, "res": 0}).size == 0


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("res", None), ("res", -1), ("res", 1.0), ("res", "1"), ("res", True), ("res", [1]),
        ("profile", None), ("profile", 5), ("profile", {"type": "delay"}),
        ("subtime", "0"), ("subtime", -0.5), ("subtime", None), ("subtime", True),
        ("walltime", 0), ("walltime", -2), ("walltime", -0.5), ("walltime", "10"), ("walltime", False),
    ],
)  # fmt: skip
def test_a_wrong_member_is_named(member: str, value: Any) -> None:
    """By its path in the event's data."""
    with pytest.raises(FieldError) as caught:
        read_job("w0!1", {**MEMBERS, member: value})
    assert caught.value.path == f"job.{member}"


def test_the_demand_of_a_job_is_read() -> None:
    """It is a member like others, and has an attribute."""
    members = {**MEMBERS, "demand": {"gpus": 1, "gpu_share": 0.5}}
    read = read_job("w0!1", members)
    assert read.demand == JobDemand(tasks=2, task=TaskDemand(gpus=1, share=500))
    assert read.members == members


def test_a_wrong_demand_is_refused_with_its_path() -> None:
    """Amounts out of proportion, too."""
    with pytest.raises(
        FieldError, match=r"^job\.demand\.memory: must be a whole number of MiB from 0 to 1000000000000,"
    ):
        read_job("w0!1", {**MEMBERS, "demand": {"memory": 10**13}})
