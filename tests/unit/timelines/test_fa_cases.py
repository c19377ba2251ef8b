"""The acceptance cases FA of the specification of timelines that need no Batsim."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from batsched_py.errors import OptionError, WorkloadError
from batsched_py.timelines.api import ExternalResume, TimelineRun, VmState, find_warnings, play
from tests.unit.timelines.fa_cases import CASES, FA_1, FaCase, hold, one, pause, played, read, requested, run, times


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_entries_begin_when_they_must(case: FaCase) -> None:
    """Experiment times of all entries; where a case tells them, the start and when VMs are configured."""
    ended = play(read(case.document), [requested(resume) for resume in case.resumes])[0]
    assert times(ended) == case.times
    if case.start is not None:
        assert ended.start == case.start
    assert {name: ended.vms[name].configured for name in case.configured} == case.configured


def begins(ended: TimelineRun, vm: str) -> dict[str, list[float]]:
    """Wall times at which the runs of each entry began."""
    return {name: [span.begin for span in record.spans] for name, record in ended.vms[vm].records.items()}


@pytest.mark.parametrize("order", list(permutations(range(4))), ids=str)
def test_a_pause_comes_after_all_that_stands_at_its_time(order: tuple[int, ...]) -> None:
    """FA-4, in any order of the list."""
    entries = [run("A", 10), run("B", 10), pause(60, 10), run("C", 11)]
    assert times(played(one(*(entries[index] for index in order))))["vm"] == {"A": 10, "B": 10, "C": 71}


def test_local_barriers_in_wall_time() -> None:
    """FA-15: entries of one time together, the next time after the last of them; all VMs share the start."""
    ended = played(CASES["FA-15"].document)
    assert begins(ended, "vm1") == {"a": [0], "b": [0], "c": [50], "p": [290]}
    assert begins(ended, "vm2") == {"d": [0], "p": [290]}


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        (run("A", 0), "vms.vm[0].at: must not be 0: that is the global barrier"),
        (pause(-1, 5), 'vms.vm[0].pause: must be "inf" or a number of seconds from 0, not -1'),
        (run("A", "-inf"), "vms.vm[0].at: must be a number of seconds, not '-inf'"),
        (pause(1, -1), 'vms.vm[0].at: must be "-inf" or a number of seconds from 0, not -1'),
        (hold(-1), 'vms.vm[0].at: must be "-inf" or a number of seconds from 0, not -1'),
        (pause(float("nan"), 5), 'vms.vm[0].pause: must be "inf" or a number of seconds from 0, not nan'),
        (pause("60", 5), "vms.vm[0].pause: must be \"inf\" or a number of seconds from 0, not '60'"),
        (pause(True, 5), 'vms.vm[0].pause: must be "inf" or a number of seconds from 0, not True'),
        (run("A", float("inf")), "vms.vm[0].at: must be at most 60000000000 s, beyond which"),
        (hold(float("nan")), 'vms.vm[0].at: must be "-inf" or a number of seconds from 0, not nan'),
        (hold("inf"), "vms.vm[0].at: must be \"-inf\" or a number of seconds from 0, not 'inf'"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_is_refused(entry: dict[str, Any], rule: str) -> None:
    """FA-18, FA-52: one line with file, field and rule."""
    with pytest.raises(WorkloadError) as told:
        read(one(entry))
    assert str(told.value).startswith(f"t.json: {rule}")


def test_what_is_accepted() -> None:
    """FA-53: a duration of 0 with a warning, an infinite one as a break, finite floats, a pause at 0."""
    document = one(pause(0, 5), pause("inf", 7.25), run("A", 7.5), pause(2, 0), run("B", 7.125))
    assert times(played(document))["vm"] == {"A": None, "B": 9.125}
    assert find_warnings(read(document)) == ["vm: pause@5: a duration of 0 has no effect"]


VMS_37 = {"vm1": [run("a", -10, takes=20, exit=1), run("p", 5)], "vm2": [run("d", -1, takes=50)]}
FA_37 = {"buffer": 60, "vms": VMS_37}


def test_a_failed_vm_is_excluded() -> None:
    """FA-37, exclude: the others start, its later entries are not run."""
    ended = played({**FA_37, "on_exit": "fail", "on_failed": "exclude"})
    assert ended.start == 110
    record = ended.vms["vm1"].records["p"]
    assert (record.time, record.outcome, record.reason) == (None, "not run", "vm1 failed: a exited with 1")


def test_a_failed_vm_aborts_the_experiment() -> None:
    """FA-37, abort: what runs is killed, and VMs that are not configured have failed, launched or not."""
    vms = {**VMS_37, "vm3": {"launch": 1000, "entries": [run("e", 5)]}}
    ended = played({**FA_37, "vms": vms, "on_exit": "fail", "on_failed": "abort"})
    assert (ended.failed, ended.failed_at, ended.start) == ("vm1 failed: a exited with 1", 20, None)
    record = ended.vms["vm2"].records["d"]
    assert (record.outcome, record.spans[0].end) == ("killed", 20)
    whole = "the experiment failed: vm1 failed: a exited with 1"
    assert [(one.state, one.failure) for one in ended.vms.values()] == [
        (VmState.FAILED, "a exited with 1"),
        (VmState.FAILED, whole),
        (VmState.FAILED, whole),
    ]


def test_a_failed_vm_keeps_the_barrier_closed() -> None:
    """FA-37, wait: the run ends, and names it."""
    ended, notes = play(read({**FA_37, "on_exit": "fail"}))
    assert ended.start is None
    assert ended.closed_by == ["vm1"]
    assert notes == ["no start: the barrier is kept closed by vm1 (a exited with 1)"]


def test_an_exit_code_is_logged() -> None:
    """FA-37, log: nobody fails; nor does who ignores it."""
    ended = played(FA_37)
    assert (ended.start, ended.vms["vm1"].state) == (110, VmState.CONFIGURED)
    assert ended.vms["vm1"].records["a"].spans[0].exit == 1
    vms = {"vm": [run("a", -10, exit=1, ignore_failure=True)]}
    assert played({"vms": vms, "on_exit": "fail"}).vms["vm"].state is VmState.CONFIGURED


def test_who_asks_is_run_again_after_a_reboot() -> None:
    """FA-38: a 0-5, b 0-20, reboot 20-50, a 50-55, c 55-56."""
    ended = played(CASES["FA-38"].document)
    assert begins(ended, "vm") == {"a": [0, 50], "b": [0], "c": [55]}
    assert [span.end for span in ended.vms["vm"].records["a"].spans] == [5, 55]


def test_several_requests_are_one_reboot() -> None:
    """FA-39."""
    again = [10, 0]
    ended = played(one(run("a", -10, takes=5, exit=again), run("b", -10, takes=20, exit=again), reboot_delay=30))
    assert begins(ended, "vm") == {"a": [0, 50], "b": [0, 50]}


def test_entries_past_the_lease_are_not_run() -> None:
    """FA-41: a warning before, and the reason afterwards."""
    entries = [run("A", 10), pause(400, 50), run("B", 100)]
    document = {"buffer": 0, "vms": {"vm": {"lease": 300, "entries": entries}}}
    assert find_warnings(read(document)) == ["vm: B: would begin at 500 > 300, the end of its lease"]
    ended = played(document)
    assert times(ended)["vm"] == {"A": 10, "B": None}
    assert ended.vms["vm"].records["B"].reason == "lease ended"


def test_a_resume_in_its_own_held_part_never_comes() -> None:
    """FA-44: validation says so, and so does the run; not if another may resume it."""
    entries = [hold(5), {"at": 20, "resume": ["vm1"]}, run("B", 30)]
    document: dict[str, Any] = {"vms": {"vm1": entries}}
    assert find_warnings(read(document)) == [
        "vm1: break@5: it holds resume@20, which so never comes; nothing else resumes it"
    ]
    ended, notes = play(read(document))
    assert times(ended)["vm1"] == {"B": None}
    assert notes == ["vm1 is held by break@5 since 5: no resume comes"]
    document["vms"]["vm2"] = [{"at": 200, "resume": "all"}]
    assert find_warnings(read(document)) == []
    assert times(played(document))["vm1"] == {"B": 225}


def test_no_vm_is_resumed_if_one_is_unknown() -> None:
    """FA-46: in a run, from outside, and in a file."""
    ended = TimelineRun(read(FA_1))
    ended.launch("vm", 0)
    ended.advance(0)
    ended.advance(75)
    assert ended.status("vm", 80).held_by is not None
    with pytest.raises(OptionError, match=r"VM 'vm9': unknown; did you mean vm\?"):
        ended.resume(["vm", "vm9"], 80)
    assert ended.status("vm", 80).held_by is not None
    with pytest.raises(OptionError, match="VM 'vm9': unknown"):
        play(read(FA_1), [ExternalResume(1000, ("vm", "vm9"))])
    with pytest.raises(WorkloadError, match=r"t.json: vms.vm\[0\].resume\[1\]: VM 'vm9': unknown"):
        read(one({"at": 5, "resume": ["vm", "vm9"]}))


@pytest.mark.parametrize(("extra", "expected"), [([], [1, 61, 121, 181]), ([pause(30, 0)], [31, 91, 151])])
def test_a_transfer_is_repeated_until_the_vm_ends(extra: list[dict[str, Any]], expected: list[float]) -> None:
    """FA-49: a pause moves the first one only."""
    entries = [{"at": 1, "transfer": "/var/log", "interval": 60}, pause(5, 100), *extra]
    ended = played({"buffer": 0, "vms": {"vm": {"lease": 200, "entries": entries}}})
    assert list(ended.transfer_times("vm", "/var/log")) == expected


def test_a_run_goes_on_where_its_books_were_written() -> None:
    """FA-57: FA-1 is killed at 500, while it is held; one that is told the same again takes the resume at 1000."""
    told: list[tuple[str, float]] = [("launch", 0), ("advance", 0), ("advance", 70), ("P1", 70), ("advance", 75)]

    def begin() -> TimelineRun:
        made = TimelineRun(read(FA_1))
        for what, wall in told:
            if what == "launch":
                made.launch("vm", wall)
            elif what == "advance":
                made.advance(wall)
            else:
                made.ended("vm", what, wall)
        return made

    assert begin().status("vm", 560).held_by is not None
    again = begin()
    assert again.resume(None, 1060) == ["vm"]
    for wall in (1060, 1075, 1095):
        again.advance(wall)
    assert times(again)["vm"] == {"P1": 10, "P2": 1015, "P3": 1035}
