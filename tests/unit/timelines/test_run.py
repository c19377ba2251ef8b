"""A run step by step: questions about VMs, leases that are suspended, hosts that fail, reboots, orders."""

from __future__ import annotations

import math

from batsched_py.timelines.api import (
    TRANSITIONS,
    Begin,
    Drop,
    Kill,
    PauseEntry,
    Program,
    Reboot,
    ScheduleEntry,
    TimelineRun,
    VmState,
    play,
)
from tests.unit.timelines.fa_cases import FA_1, hold, one, pause, played, read, run


def launched(*entries: dict[str, object], **rules: object) -> TimelineRun:
    """A run whose only VM is there at 0."""
    begun = TimelineRun(read(one(*entries, **rules)))
    begun.launch("vm", 0)
    return begun


def test_each_state_has_a_row_and_none_comes_after_the_last() -> None:
    """F6: once configured only failed may follow."""
    assert set(TRANSITIONS) == set(VmState)
    assert TRANSITIONS[VmState.CONFIGURED] == {VmState.FAILED}
    assert {state for state, after in TRANSITIONS.items() if not after} == {VmState.NOT_MANAGED, VmState.FAILED}


def test_questions_are_answered() -> None:
    """F18, F32: where a VM stands, what holds it and since when, what comes next."""
    begun = launched(run("n", -5), pause(60, 5), run("B", 10), hold(12), run("C", 20), buffer=30)
    assert begun.experiment_time(0) is None
    begun.advance(0)
    assert (begun.status("vm", 0).state, begun.status("vm", 0).current) == ("configuring", -5)
    assert begun.closed_by == ["vm"]
    begun.ended("vm", "n", 7)
    begun.advance(7)
    assert (begun.start, begun.launch_to_start, begun.closed_by) == (37, 37, [])
    assert (begun.experiment_time(7), begun.next_time()) == (-30, 37 + 5)
    begun.advance(42)
    paused = begun.status("vm", 42)
    assert (paused.paused_until, paused.held_by, paused.next_time) == (65, None, 70)
    begun.advance(37 + 72)
    held = begun.status("vm", 37 + 80)
    assert (held.held_by, held.held_since, held.paused_until) == ("break@12", 72, None)
    assert (held.next_entry, held.next_scheduled, held.next_time, begun.next_time()) == ("C", 20, None, math.inf)


def test_orders_come_in_their_order() -> None:
    """Begin, reboot, begin again; the number of the run is told."""
    begun = launched(run("a", -2), run("b", 5), reboot_delay=30, buffer=0)
    (first,) = begun.advance(0)
    assert isinstance(first, Begin)
    assert (first.entry.name, first.number) == ("a", 0)
    begun.ended("vm", "a", 5, reboot=True)
    assert begun.advance(5) == [Reboot("vm", 35)]
    assert begun.next_time() == 35
    (again,) = begun.advance(35)
    assert isinstance(again, Begin)
    assert again.number == 1


def test_reboots_have_a_limit() -> None:
    """F23: more than that, and the VM has failed; what only stands at the end of a list is run again."""
    ended = played(one(run("a", -1, takes=1, exit=10), reboot_limit=2))
    assert ended.vms["vm"].failure == "it requested more than 2 reboots"
    assert len(ended.vms["vm"].records["a"].spans) == 3


def test_no_reboot_on_the_host_or_in_positive_time() -> None:
    """F23, F29: there exit code 10 is one like others, here it is logged, and never fails the VM."""
    ended = played(one(run("h", -1, exit=10, on_host=True), run("p", 5, exit=10)))
    records = ended.vms["vm"].records
    assert [len(record.spans) for record in records.values()] == [1, 1]
    assert records["p"].reason == "its request for a reboot is only logged: the VM is configured"
    assert played(one(run("h", -1, exit=10, on_host=True), on_exit="fail")).vms["vm"].state is VmState.FAILED
    assert played(one(run("p", 5, exit=10), on_exit="fail")).vms["vm"].state is VmState.CONFIGURED


def test_entries_on_the_host_count_at_the_local_barrier() -> None:
    """F29: the next time waits for them as for those in the VM."""
    ended = played(one(run("h", -5, takes=30, on_host=True), run("a", -5, takes=10), run("b", -4, takes=1)))
    assert [span.begin for span in ended.vms["vm"].records["b"].spans] == [30]
    assert ended.vms["vm"].configured == 31


def test_files_that_cannot_be_loaded_fail_the_vm() -> None:
    """F7, F22: whatever `on_exit` is, unless ignored."""
    for ignored, state in ((False, VmState.FAILED), (True, VmState.CONFIGURED)):
        begun = launched(run("a", -1, ignore_failure=ignored))
        begun.advance(0)
        begun.not_loaded("vm", "a", 3)
        begun.advance(3)
        assert begun.vms["vm"].state is state


def test_entries_of_a_suspended_lease_begin_late() -> None:
    """F24: they wait and are flagged; the clock goes on, and pauses count from their own time."""
    begun = launched(run("A", 10), pause(60, 20), run("B", 30), buffer=0)
    begun.advance(0)
    begun.suspend("vm")
    assert begun.advance(10) == []
    assert begun.advance(20) == []
    begun.wake("vm")
    assert [order.entry.name for order in begun.advance(40) if isinstance(order, Begin)] == ["A"]
    begun.advance(90)
    records = begun.vms["vm"].records
    assert [(records[name].time, records[name].late) for name in "AB"] == [(40, 30), (90, 0)]


def test_local_barriers_of_a_suspended_lease_wait() -> None:
    """Nothing begins while the VM is suspended, and nothing is due."""
    begun = launched(run("a", -2), run("b", -1))
    begun.advance(0)
    begun.suspend("vm")
    begun.ended("vm", "a", 5)
    assert begun.advance(5) == []
    assert begun.next_time() == math.inf
    begun.wake("vm")
    (order,) = begun.advance(9)
    assert isinstance(order, Begin)


def test_a_vm_that_is_lost_has_failed() -> None:
    """F24: what runs is killed, what is to come is not run."""
    begun = launched(run("A", 10), run("B", 30), buffer=0)
    begun.advance(0)
    begun.advance(10)
    begun.lose("vm", 15, "its host failed")
    (order,) = begun.advance(15)
    assert isinstance(order, Kill)
    records = begun.vms["vm"].records
    assert (records["A"].outcome, records["B"].outcome) == ("killed", "not run")
    assert (begun.vms["vm"].state, begun.next_time()) == (VmState.FAILED, math.inf)


def test_a_vm_that_is_lost_before_its_launch_is_never_launched() -> None:
    """It keeps the barrier closed."""
    begun = TimelineRun(read(FA_1))
    begun.lose("vm", 3, "its lease was rejected")
    begun.launch("vm", 5)
    begun.advance(5)
    assert (begun.vms["vm"].state, begun.closed_by) == (VmState.FAILED, ["vm"])


def test_no_start_without_any_vm() -> None:
    """All are excluded: the experiment has failed."""
    ended, notes = play(read({**one(run("a", -1, exit=1)), "on_exit": "fail", "on_failed": "exclude"}))
    assert (ended.start, ended.failed, notes) == (None, "every VM failed", ["every VM failed"])


def test_a_lease_that_ends_before_its_vm_is_configured_fails_it() -> None:
    """The barrier would wait for nobody."""
    ended = played({"vms": {"vm": {"lease": 10, "entries": [run("a", -1, takes=10), run("b", -1, takes=11)]}}})
    assert ended.vms["vm"].failure == "lease ended"
    outcomes = [record.outcome for record in ended.vms["vm"].records.values()]
    assert outcomes == ["done", "killed"]


def test_a_pause_ends_with_the_lease() -> None:
    """Nothing of a VM goes on when its hosts are taken back."""
    ended = played({"buffer": 0, "vms": {"vm": {"lease": 300, "entries": [pause(400, 50), run("B", 100)]}}})
    (cut,) = ended.vms["vm"].records["pause@50"].spans
    assert (cut.begin, cut.end, ended.vms["vm"].records["pause@50"].reason) == (50, 300, "lease ended")


def test_a_pause_stops_no_program() -> None:
    """F15: what runs goes on, and its end is not moved; the clock goes on, too."""
    ended = played(one(run("A", 1, takes=100), pause(60, 5), run("B", 10), buffer=0))
    records = ended.vms["vm"].records
    assert [(span.begin, span.end) for span in records["A"].spans] == [(1, 101)]
    assert (records["B"].time, records["B"].spans[0].begin) == (70, 70)


def test_a_late_pause_whose_time_has_passed_is_refused() -> None:
    """F21; a late entry comes at once, and that is not late."""
    ended = played(one(run("A", 10), pause(5, 20, added=30), hold("-inf", added=30), run("B", 20, added=30)))
    records = ended.vms["vm"].records
    assert [records[name].outcome for name in ("pause@20", "break@-inf")] == ["refused", "refused"]
    assert (records["B"].time, records["B"].late) == (30, 0)


def test_a_late_negative_entry_waits_for_its_turn_while_the_vm_is_configured() -> None:
    """It is none of a time that has passed."""
    begun = launched(run("a", -5), run("c", -1))
    begun.advance(0)
    begun.add("vm", ScheduleEntry(-3, 9, "b", Drop("f")), 2)
    assert begun.advance(2) == []
    begun.ended("vm", "a", 4)
    (order,) = begun.advance(4)
    assert isinstance(order, Begin)
    assert order.entry.name == "b"


def test_an_entry_that_is_added_to_a_held_vm_is_held() -> None:
    """F16, unless it stands before the break."""
    begun = launched(hold(5), run("B", 10), buffer=0)
    begun.advance(0)
    begun.advance(5)
    begun.add("vm", ScheduleEntry(3, 8, "before", Program("p")), 50)
    begun.add("vm", ScheduleEntry(8, 9, "behind", Program("p")), 50)
    begun.add("vm", ScheduleEntry(7, 10, "pause", PauseEntry(1)), 50)
    assert [order.entry.name for order in begun.advance(50) if isinstance(order, Begin)] == ["before"]
    assert begun.resume(None, 100) == ["vm"]
    begun.advance(100)
    begun.advance(103)
    begun.advance(104)
    assert begun.vms["vm"].records["behind"].time == 104


def test_moved_entries_tell_by_what() -> None:
    """F33."""
    ended = played(one(pause(60, 5), pause(0, 6), hold(15), run("A", 20)), 500)
    assert ended.vms["vm"].records["A"].moved_by == ("pause@5", "break@15")


def test_a_vm_is_launched_once() -> None:
    """A configured VM is not configured again."""
    begun = TimelineRun(read(FA_1))
    begun.launch("vm", 0)
    begun.launch("vm", 1)
    assert begun.vms["vm"].configured == 0


def test_a_vm_that_is_never_created_has_failed_without_effect_on_others() -> None:
    """M39: the barrier opens without it, whatever `on_failed` is, unless the others have failed."""
    vms = {"a": [run("p", 5)], "b": [run("q", 5)]}
    begun = TimelineRun(read({"vms": vms, "on_failed": "abort", "buffer": 0}))
    begun.launch("a", 10)
    begun.leave_out("b", 10, "no host")
    begun.advance(10)
    assert (begun.failed, begun.start, begun.vms["a"].state) == ("", 10, VmState.CONFIGURED)
    assert (begun.status("b", 10).state, begun.status("b", 10).why) == ("failed", "no host")
    alone = TimelineRun(read({"vms": {"a": [run("n", -5, exit=1)], "b": []}, "on_failed": "exclude"}))
    alone.launch("a", 0)
    alone.leave_out("b", 0, "no host")
    alone.lose("a", 1, "its host failed")
    alone.advance(1)
    assert (alone.failed, alone.start) == ("every VM failed", None)
