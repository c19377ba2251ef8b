"""Entries of timelines, their order, and the timelines of an experiment's VMs (F1, F11)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

#: The exit code with which a program asks for a reboot (F7).
REBOOT_CODE: Final = 10

#: The kind of a program whose entry gives its duration and its exit codes.
FIXED: Final = "fixed"

OnExit = Literal["log", "fail"]
OnFailed = Literal["wait", "abort", "exclude"]


class Program(Struct, frozen=True):
    """A program that runs in a VM.

    Attributes:
        program: the command.
        takes: its duration when a timeline is played.
        size: MB of its files, which are loaded before the VM's first entry.
        exits: its exit code in each run, or in all of them.
        ignore_failure: True if its failures do not fail the VM.
        on_host: True if it runs on the physical host.
        kind: name of the kind that gives its durations and exit codes (F30).
        arguments: arguments of the kind.
    """

    program: str
    takes: float = 0.0
    exits: int | tuple[int, ...] = 0
    ignore_failure: bool = False
    on_host: bool = False
    size: float = 0.0
    kind: str = FIXED
    arguments: Mapping[str, Any] = msgspec.field(default_factory=dict)

    def exit_code(self, number: int) -> int:
        """Return the exit code of a run, counted from 0; 0 after the end of a list."""
        if isinstance(self.exits, int):
            return self.exits
        return self.exits[number] if number < len(self.exits) else 0


class Drop(Struct, frozen=True):
    """A file of `size` MB that is copied to the VM; `takes` is the duration of the copy."""

    file: str
    takes: float = 0.0
    size: float = 0.0


class Transfer(Struct, frozen=True):
    """Files that are pulled from a VM, once or every `interval` seconds until it ends (F28)."""

    path: str
    interval: float | None = None


class PauseEntry(Struct, frozen=True):
    """A pause, or a break if the duration is infinite (F8, F9)."""

    duration: float

    @property
    def is_break(self) -> bool:
        """True if only a resume ends it."""
        return math.isinf(self.duration)


class Resume(Struct, frozen=True):
    """The end of breaks, on some VMs, or on all if `vms` is None (F12, F25)."""

    vms: tuple[str, ...] | None


Action = Program | Drop | Transfer | PauseEntry | Resume


class ScheduleEntry(Struct, frozen=True):
    """An event in a VM at a schedule time.

    Attributes:
        at: negative while it is configured, positive after the start; for pauses and breaks also 0 and -infinity.
        sequence: its place in the list, which orders entries of one time.
        name: unique in the VM.
        action: what happens.
        added: experiment time at which the entry becomes known; None if it is known from the beginning (F16).
    """

    at: float
    sequence: int
    name: str
    action: Action
    added: float | None = None

    @property
    def key(self) -> tuple[float, int, int]:
        """The order of entries: everything at a time happens before a pause or break at that time (F11)."""
        return self.at, int(isinstance(self.action, PauseEntry)), self.sequence

    @property
    def configures(self) -> bool:
        """True if it is before the global barrier (F2)."""
        return self.at < 0


class VmTimeline(Struct, frozen=True):
    """The timeline of one VM.

    Attributes:
        name: of the VM.
        entries: in the order of the list.
        launch: wall time at which the VM is there.
        managed: False for a VM that is not counted, and has no schedule (F4).
        lease: seconds from the launch to the end of its lease; None if it does not end.
    """

    name: str
    entries: tuple[ScheduleEntry, ...] = ()
    launch: float = 0.0
    managed: bool = True
    lease: float | None = None

    @property
    def preloaded(self) -> float:
        """MB of files that are loaded before the first entry: those of entries known by then, but not on the host."""
        actions = [entry.action for entry in self.entries if entry.added is None]
        return sum(
            action.size
            for action in actions
            if isinstance(action, Drop) or (isinstance(action, Program) and not action.on_host)
        )

    @property
    def end(self) -> float:
        """Wall time at which the lease ends, if the VM is launched when it should; infinity if never."""
        return math.inf if self.lease is None else self.launch + self.lease


class TimelineRules(Struct, frozen=True):
    """Options of an experiment's timelines (F4, F22, F23).

    Attributes:
        buffer: seconds from the last VM that is configured to the start.
        on_exit: effect of a program's exit code on its VM.
        on_failed: effect of a failed VM on the experiment.
        reboot_delay: seconds that a reboot takes.
        reboot_limit: reboots of one VM; more fail it.
        preload_rate: MB/s at which files are loaded before the first entry of a VM; None if that takes no time.
    """

    buffer: float = 60.0
    on_exit: OnExit = "log"
    on_failed: OnFailed = "wait"
    reboot_delay: float = 0.0
    reboot_limit: int = 5
    preload_rate: float | None = None


class Timelines(Struct, frozen=True):
    """The timelines of all VMs of an experiment, which share one global barrier."""

    vms: tuple[VmTimeline, ...]
    rules: TimelineRules = TimelineRules()
