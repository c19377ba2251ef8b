"""The form in which timelines are written: what is read, what is refused, and the schema that says the same."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from batsched_py.errors import WorkloadError
from batsched_py.results.timeline_rows import KINDS, LOAD, REBOOT
from batsched_py.timelines.api import Drop, PauseEntry, Program, Resume, Transfer, timelines_schema
from tests.unit.timelines.fa_cases import CASES, one, pause, read, run

VALIDATOR = Draft202012Validator(timelines_schema())


def test_results_have_rows_of_all_kinds_of_entries() -> None:
    """They also have rows of reboots and loads, which are no entries."""
    entries = timelines_schema()["properties"]["vms"]["properties"]["*"]["items"]["oneOf"]
    assert (*(entry["required"][-1] for entry in entries), REBOOT, LOAD) == KINDS


def test_entries_of_all_kinds_are_read() -> None:
    """With all members."""
    (vm,) = read(
        one(
            run("p", -5, takes=3, exit=[10, 0], ignore_failure=True, on_host=True),
            {"at": 1, "drop": "f", "takes": 2},
            {"at": 2, "transfer": "/log", "interval": 60, "name": "log"},
            {"at": 3, "resume": ["vm"], "added": 1},
            pause(5, 4),
            pause("inf", 0),
            {"at": 6, "resume": "all"},
        )
    ).vms
    assert [entry.action for entry in vm.entries] == [
        Program("p", 3, (10, 0), ignore_failure=True, on_host=True),
        Drop("f", 2),
        Transfer("/log", 60),
        Resume(("vm",)),
        PauseEntry(5),
        PauseEntry(math.inf),
        Resume(None),
    ]
    names = ["p", "f", "log", "resume@3", "pause@4", "break@0", "resume@6"]
    assert [entry.name for entry in vm.entries] == names
    assert [entry.added for entry in vm.entries] == [None, None, None, 1, None, None, None]


def test_repeated_names_are_numbered() -> None:
    """Each entry of a VM has a name of its own, with those for every VM."""
    vms = read({"vms": {"a": [run("x", 1), run("x#2", 2), run("x", 3)], "b": [], "*": [run("x", 4)]}}).vms
    assert [[entry.name for entry in vm.entries] for vm in vms] == [["x", "x#2", "x#3", "x#4"], ["x"]]


#: What is wrong -> what is told.
WRONG: Mapping[str, tuple[Any, str]] = {
    "no VMs": ({}, "vms: is missing"),
    "a list of VMs": ({"vms": []}, "vms: must be an object of VMs, not []"),
    "unknown member": ({"vms": {}, "bufer": 1}, "bufer: unknown; did you mean buffer?"),
    "wrong rule": ({"vms": {}, "on_exit": "die"}, "on_exit: must be one of log, fail, not 'die'"),
    "wrong limit": ({"vms": {}, "reboot_limit": 1.5}, "reboot_limit: must be a whole number from 0, not 1.5"),
    "negative buffer": ({"vms": {}, "buffer": -1}, "buffer: must be a number of seconds from 0, not -1"),
    "name": ({"vms": {"a,b": []}}, "vms.a,b: must have no comma"),
    "no name": ({"vms": {"": []}}, 'vms."": must not be empty'),
    "a VM that is a number": ({"vms": {"a": 3}}, "vms.a: must be a list of entries, or an object with them, not 3"),
    "member of a VM": ({"vms": {"a": {"start": 3}}}, "vms.a.start: unknown; "),
    "managed": ({"vms": {"a": {"managed": 1}}}, "vms.a.managed: must be true or false, not 1"),
    "lease": ({"vms": {"a": {"lease": -1}}}, "vms.a.lease: must be null or a number of seconds from 0, not -1"),
    "entries": ({"vms": {"a": {"entries": 1}}}, "vms.a.entries: must be a list of entries, not 1"),
    "for every VM": ({"vms": {"*": {}}}, "vms.*: must be a list of entries, not {}"),
    "an entry of every VM": ({"vms": {"a": [], "*": [1]}}, "vms.*[0]: must be an object, not 1"),
    "a bad entry for no VM": ({"vms": {"*": [1]}}, "vms.*[0]: must be an object, not 1"),
    "an entry that is a text": (one("run"), "vms.vm[0]: must be an object, not 'run'"),  # type: ignore[arg-type]
    "nothing to do": (one({"at": 1}), "vms.vm[0]: must have one of run, drop, transfer, pause, break, resume"),
    "two things to do": (
        one({"at": 1, "run": "a", "break": True}),
        "vms.vm[0]: must have one of run, drop, transfer, pause, break, resume, not run and break",
    ),
    "member of another kind": (one(pause(1, 1, takes=3)), "vms.vm[0].takes: unknown; "),
    "no time": (one({"run": "a"}), "vms.vm[0].at: is missing"),
    "a false break": (one({"at": 1, "break": False}), "vms.vm[0].break: must be true, not False"),
    "an exit code": (one(run("a", 1, exit=256)), "vms.vm[0].exit: must be a whole number from 0 to 255, not 256"),
    "exit codes": (
        one(run("a", 1, exit=[0, True])),
        "vms.vm[0].exit[1]: must be a whole number from 0 to 255",
    ),
    "an interval": (
        one({"at": 1, "transfer": "a", "interval": 0}),
        "vms.vm[0].interval: must be null or a number",
    ),
    "who is resumed": (
        one({"at": 1, "resume": []}),
        "vms.vm[0].resume: must not be empty",
    ),
    "an empty program": (one(run("", 1)), "vms.vm[0].run: must not be empty"),
    "too late": (one(run("a", 1e11)), "vms.vm[0].at: must be at most 60000000000 s"),
    "too early": (one(run("a", -1e11)), "vms.vm[0].at: must be at most 60000000000 s"),
    "a huge number": (one(run("a", 10**400)), "vms.vm[0].at: must be at most 60000000000 s"),
}


@pytest.mark.parametrize(("document", "rule"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_one_line(document: Any, rule: str) -> None:
    """File, field, rule; the schema refuses it, too."""
    with pytest.raises(WorkloadError) as told:
        read(document)
    assert str(told.value).startswith(f"t.json: {rule}")
    assert not VALIDATOR.is_valid(document)


def test_all_faults_are_in_one_error() -> None:
    """In the order of the document; the text has the first one and counts the others."""
    with pytest.raises(WorkloadError) as told:
        read({"vms": {"a": [run("p", 0), {"at": "x", "pause": -1}], "*": [1], "b": 3}, "buffer": -1})
    assert str(told.value) == ("t.json: vms.a[0].at: must not be 0: that is the global barrier (and 5 other errors)")
    assert [str(fault) for fault in told.value.others] == [
        "vms.a[1].at: must be \"-inf\" or a number of seconds from 0, not 'x'",
        'vms.a[1].pause: must be "inf" or a number of seconds from 0, not -1',
        "vms.*[0]: must be an object, not 1",
        "vms.b: must be a list of entries, or an object with them, not 3",
        "buffer: must be a number of seconds from 0, not -1",
    ]


@pytest.mark.parametrize("name", CASES)
def test_the_schema_admits_the_acceptance_cases(name: str) -> None:
    """It is a valid schema itself."""
    Draft202012Validator.check_schema(timelines_schema())
    assert list(VALIDATOR.iter_errors(CASES[name].document)) == []


_ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "x", "-inf", "inf", "all", [], ["x"], {}, 10, 1e12]
)
_ENTRY = st.dictionaries(st.sampled_from(["run", "pause", "break", "takes", "name", "added", "exit"]), _ODD, max_size=3)
_DOCUMENT = st.builds(
    lambda entry, at, more: {"vms": {"x": [{"at": at, **entry}]}, **more},
    _ENTRY,
    _ODD,
    st.dictionaries(st.sampled_from(["buffer", "on_exit", "reboot_limit"]), _ODD, max_size=1),
)


@given(_DOCUMENT)
def test_the_schema_admits_what_is_read(document: dict[str, Any]) -> None:
    """No more and no less."""
    try:
        read(document)
    except WorkloadError:
        assert not VALIDATOR.is_valid(document)
    else:
        assert VALIDATOR.is_valid(document)


def test_faults_of_many_unknown_names_stay_small() -> None:
    """Each fault lists the VMs that there are, but not thousands of them."""
    document = {"vms": {f"vm{number}" + "y" * 1_000: [{"at": 1, "resume": ["none"]}] for number in range(1_000)}}
    with pytest.raises(WorkloadError) as caught:
        read(document)
    assert len(caught.value.faults) == 100
    assert all(fault.rule.endswith(" and 900 others") and len(fault.rule) < 30_000 for fault in caught.value.faults)
