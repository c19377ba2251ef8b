"""Profiles: typed where the type is known, kept whole where it is not."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from batsched_py.model.profile import (
    Composed,
    DataStaging,
    Delay,
    Parallel,
    ParallelHomogeneous,
    ParallelHomogeneousPfs,
    ParallelHomogeneousTotal,
    Profile,
    Receive,
    Send,
    parse_profile,
)
from batsched_py.reading.faults import FieldError
from tests.unit.protocol.strategies import objects

DELAY = {"type": "delay", "delay": 5}
PARALLEL = {"type": "parallel", "cpu": [1, 2.5], "com": [0, 1, 2, 3]}
HOMOGENEOUS = {"type": "parallel_homogeneous", "cpu": 5e6, "com": 1}
TOTAL = {"type": "parallel_homogeneous_total", "cpu": 5e6, "com": 1}
COMPOSED = {"type": "composed", "seq": ["p", "q", "p"], "repeat": 2}
PFS = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 5, "bytes_to_write": 6, "storage": "disk"}
OLD_PFS = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 5, "host": "disk"}
STAGING = {"type": "data_staging", "nb_bytes": 7, "from": "pfs", "to": "disk"}
SEND: dict[str, Any] = {"type": "send", "msg": {"a": 1}, "sleeptime": 2}
RECV = {"type": "recv", "regex": "a|b", "success": "p", "failure": "q", "timeout": "r", "polltime": 3}


@pytest.mark.parametrize(
    ("members", "profile"),
    [
        (DELAY, Delay("n", "delay", DELAY, 5.0)),
        (PARALLEL, Parallel("n", "parallel", PARALLEL, (1.0, 2.5), (0.0, 1.0, 2.0, 3.0))),
        (HOMOGENEOUS, ParallelHomogeneous("n", "parallel_homogeneous", HOMOGENEOUS, 5e6, 1.0)),
        (TOTAL, ParallelHomogeneousTotal("n", "parallel_homogeneous_total", TOTAL, 5e6, 1.0)),
        (COMPOSED, Composed("n", "composed", COMPOSED, ("p", "q", "p"), 2)),
        (PFS, ParallelHomogeneousPfs("n", "parallel_homogeneous_pfs", PFS, 5.0, 6.0, "disk")),
        (OLD_PFS, ParallelHomogeneousPfs("n", "parallel_homogeneous_pfs", OLD_PFS, 5.0, 0.0, "disk")),
        (STAGING, DataStaging("n", "data_staging", STAGING, 7.0, "pfs", "disk")),
        (SEND, Send("n", "send", SEND, {"a": 1}, 2.0)),
        (RECV, Receive("n", "recv", RECV, "a|b", "p", "q", "r", 3.0)),
    ],
)
def test_a_known_type_has_its_class(members: dict[str, Any], profile: Profile) -> None:
    """With its numbers as attributes and all members as written."""
    assert parse_profile("n", members) == profile


@pytest.mark.parametrize(
    ("former", "members"), [("msg_par", PARALLEL), ("msg_par_hg", HOMOGENEOUS), ("msg_par_hg_tot", TOTAL)]
)
def test_batsim_1s_names_of_types_have_the_same_classes(former: str, members: dict[str, Any]) -> None:
    """The type stays as it was written, and so do the members."""
    old, new = parse_profile("n", {**members, "type": former}), parse_profile("n", members)
    assert type(old) is type(new)
    assert replace(old, type=new.type, members=new.members) == new
    assert (old.type, old.members) == (former, {**members, "type": former})


@given(objects)
def test_a_profile_of_another_type_is_kept_whole(members: dict[str, Any]) -> None:
    """It may be Batsim's alone (smpi, send...) or a type of the user's."""
    whole = {**members, "type": "my_own", "ret": 0}
    assert parse_profile("n", whole) == Profile("n", "my_own", whole)


def test_what_a_profile_of_storages_or_messages_leaves_out() -> None:
    """Batsim's defaults: nothing is read, the storage is "pfs", a recv takes any text and looks each 5 ms."""
    pfs: dict[str, Any] = {"type": "parallel_homogeneous_pfs", "bytes_to_write": 3}
    assert parse_profile("n", pfs) == ParallelHomogeneousPfs("n", pfs["type"], pfs, 0.0, 3.0, "pfs")
    send: dict[str, Any] = {"type": "send", "msg": {}}
    assert parse_profile("n", send) == Send("n", "send", send, {}, 1e-7)
    recv = {"type": "recv"}
    assert parse_profile("n", recv) == Receive("n", "recv", recv, ".*", "", "", "", 0.005)


def test_the_profiles_that_may_follow_a_text() -> None:
    """By member; an empty name is none."""
    receive = parse_profile("n", {"type": "recv", "success": "a", "failure": "", "timeout": "c"})
    assert isinstance(receive, Receive)
    assert receive.continuations == {"success": "a", "timeout": "c"}


@pytest.mark.parametrize("kind", ["parallel_homogeneous", "parallel_homogeneous_total"])
def test_communication_may_be_left_out_of_a_homogeneous_profile(kind: str) -> None:
    """Then there is none."""
    profile = parse_profile("n", {"type": kind, "cpu": 1})
    assert isinstance(profile, (ParallelHomogeneous, ParallelHomogeneousTotal))
    assert profile.com == 0.0


def test_communication_may_be_left_out_of_a_parallel_profile() -> None:
    """Then there is none."""
    profile = parse_profile("n", {"type": "parallel", "cpu": [1, 2]})
    assert isinstance(profile, Parallel)
    assert profile.com == ()


@pytest.mark.parametrize(("key", "repeat"), [("repeat", 3), ("nb", 3), ("neither", 1)])
def test_a_sequence_is_repeated_under_both_names(key: str, repeat: int) -> None:
    """v1.4 says `nb`; once if nothing is said."""
    profile = parse_profile("n", {"type": "composed", "seq": ["p"], key: 3})
    assert isinstance(profile, Composed)
    assert profile.repeat == repeat


def test_a_return_code_is_zero_unless_said_otherwise() -> None:
    """The job succeeds."""
    assert parse_profile("n", DELAY).return_code == 0


def test_a_return_code_is_that_of_ret() -> None:
    """More than 0 makes the job fail."""
    assert parse_profile("n", {**DELAY, "ret": 3}).return_code == 3


NO_NUMBERS: list[Any] = [None, "5", True, [], {}, -1, -0.5, math.nan, math.inf, -math.inf, 10**400]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize(
    ("members", "field"), [(DELAY, "delay"), (HOMOGENEOUS, "cpu"), (HOMOGENEOUS, "com"), (TOTAL, "cpu"), (TOTAL, "com")]
)
def test_a_number_is_finite_and_not_negative(members: dict[str, Any], field: str, value: Any) -> None:
    """Any other value is named."""
    with pytest.raises(FieldError) as caught:
        parse_profile("n", {**members, field: value})
    assert caught.value.path == field


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({}, "type"),
        ({"type": 5}, "type"),
        ({"type": ["delay"]}, "type"),
        ({**DELAY, "delay": 0}, "delay"),
        ({"type": "delay"}, "delay"),
        ({**DELAY, "ret": "1"}, "ret"),
        ({**DELAY, "ret": 1.0}, "ret"),
        ({**DELAY, "ret": True}, "ret"),
        ({**PARALLEL, "cpu": []}, "cpu"),
        ({**PARALLEL, "cpu": 5}, "cpu"),
        ({**PARALLEL, "cpu": [1, "2"]}, "cpu[1]"),
        ({**PARALLEL, "cpu": [1, math.nan]}, "cpu[1]"),
        ({**PARALLEL, "com": [1, 2]}, "com"),
        ({**PARALLEL, "com": {}}, "com"),
        ({"type": "parallel", "com": []}, "cpu"),
        ({"type": "composed"}, "seq"),
        ({**COMPOSED, "seq": []}, "seq"),
        ({**COMPOSED, "seq": "p"}, "seq"),
        ({**COMPOSED, "seq": ["p", 1]}, "seq[1]"),
        ({**COMPOSED, "repeat": 0}, "repeat"),
        ({**COMPOSED, "repeat": 1.5}, "repeat"),
        ({**COMPOSED, "repeat": True}, "repeat"),
        ({"type": "parallel_homogeneous_pfs"}, "bytes_to_read"),
        ({**PFS, "bytes_to_read": -1}, "bytes_to_read"),
        ({**PFS, "bytes_to_write": "1"}, "bytes_to_write"),
        ({**PFS, "storage": 3}, "storage"),
        ({**OLD_PFS, "host": None}, "host"),
        ({**STAGING, "nb_bytes": None}, "nb_bytes"),
        ({**STAGING, "from": 3}, "from"),
        ({"type": "data_staging", "nb_bytes": 1, "from": "a"}, "to"),
        ({**SEND, "msg": "hello"}, "msg"),
        ({"type": "send"}, "msg"),
        ({**SEND, "sleeptime": 0}, "sleeptime"),
        ({**RECV, "regex": "("}, "regex"),
        ({**RECV, "regex": 3}, "regex"),
        ({**RECV, "success": ["p"]}, "success"),
        ({**RECV, "polltime": 0}, "polltime"),
    ],
)
def test_a_wrong_member_is_named(members: dict[str, Any], field: str) -> None:
    """With the rule that it breaks."""
    with pytest.raises(FieldError) as caught:
        parse_profile("n", members)
    assert caught.value.path == field
    missing = field.partition("[")[0] not in members and field != "bytes_to_read"
    assert str(caught.value).startswith(f"{field}: is missing" if missing else f"{field}: must ")


@given(objects)
def test_any_object_is_a_profile_or_a_profile_error(members: dict[str, Any]) -> None:
    """Profiles of each type with any members are read or refused."""
    typed = ("delay", "parallel", "parallel_homogeneous", "composed", "parallel_homogeneous_pfs", "data_staging")
    for kind in (*typed, "send", "recv", "smpi"):
        try:
            profile = parse_profile("n", {**members, "type": kind})
        except FieldError:
            continue
        assert profile.type == kind


def test_a_member_that_nests_deep_is_a_profile_error() -> None:
    """The error message is cut before it is written."""
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(FieldError, match="must be a number"):
        parse_profile("n", {"type": "delay", "delay": deep})
