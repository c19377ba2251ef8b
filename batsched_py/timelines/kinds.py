"""Kinds of programs: models of the duration and the exit code of each run of a program (F30).

Files name kinds, which are built in or given by the user with an option; files cannot define kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from batsched_py.errors import PlanError
from batsched_py.named import Named, failed
from batsched_py.reading.limits import LONGEST
from batsched_py.reading.objects import members_of
from batsched_py.reading.values import number
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown
from batsched_py.timelines.entries import FIXED, Drop, Program, ScheduleEntry, Timelines, VmTimeline


class Work(NamedTuple):
    """One run of a program: its duration in seconds, and its exit code."""

    takes: float
    exit: int = 0


class Kind(Protocol):
    """A program of a kind, created from the arguments in its entry; ValueError if they are invalid."""

    def run(self, number: int) -> Work:
        """Return the work of a run; there may be several after reboots, numbered from 0."""


#: Creates a program of a kind.
KindMaker = Callable[[Mapping[str, Any]], Kind]


class Amount:
    """Work of an amount at a rate, after a delay: `amount` / `rate` + `delay` seconds."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        known = _numbers(arguments, {"amount": None, "rate": 1.0, "delay": 0.0})
        if known["rate"] == 0:
            raise ValueError("rate must be greater than 0")
        self._work = Work(known["amount"] / known["rate"] + known["delay"])

    def run(self, number: int) -> Work:  # noqa: ARG002  # each run is the same
        """Return the same work each time."""
        return self._work


class Flaky:
    """A program that exits with `exit` in its first `fails` runs, and with 0 then; each takes `takes` seconds."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        known = _numbers(arguments, {"takes": 0.0, "fails": 1.0, "exit": 10.0})
        self._takes, self._fails, self._exit = known["takes"], known["fails"], int(known["exit"])

    def run(self, number: int) -> Work:
        """Return a failure in the first runs."""
        return Work(self._takes, self._exit if number < self._fails else 0)


BUILT_IN: Final[Mapping[str, KindMaker]] = {"amount": Amount, "flaky": Flaky}


class Kinds(NamedTuple):
    """The available kinds of programs: name -> maker."""

    name: str
    makers: Mapping[str, KindMaker]


def _with_class(text: str, make: Callable[..., Any]) -> Kinds:
    return Kinds(text, {**BUILT_IN, text.rpartition(":")[2]: make})


#: Sets of kinds: the built-in ones, or these with a class of the user, by its name.
KINDS: Final = Named[Kinds](
    "kind of program", {"built-in": Kinds("built-in", BUILT_IN)}, ("arguments",), _with_class, notation="module:Class"
)


class Works:
    """The work of the runs of all programs.

    Args:
        timelines: the timelines with the programs.
        kinds: name -> maker.

    Raises ValueError, naming VM and entry, for an unknown kind or invalid arguments.
    """

    def __init__(self, timelines: Timelines, kinds: Mapping[str, KindMaker] = BUILT_IN) -> None:
        self._kinds = kinds
        #: VM and entry -> its program, of those that are not of the kind FIXED.
        self._made: dict[tuple[str, str], Kind] = {}
        for vm in timelines.vms:
            self.add(vm)

    def add(self, vm: VmTimeline) -> None:
        """Add the programs of a VM; ValueError as above."""
        for entry in vm.entries:
            self.add_entry(vm.name, entry)

    def add_entry(self, vm: str, entry: ScheduleEntry) -> None:
        """Add an entry; ValueError as above."""
        if isinstance(entry.action, Program) and entry.action.kind != FIXED:
            self._made[vm, entry.name] = self._make(vm, entry.name, entry.action)

    def of(self, vm: str, entry: ScheduleEntry, number: int) -> Work:
        """Return the work of a run of a program or drop; PlanError if a user's kind raises or returns no Work."""
        action = entry.action
        assert isinstance(action, Program | Drop)  # noqa: S101
        kind = self._made.get((vm, entry.name))
        if kind is None:
            return Work(action.takes, action.exit_code(number) if isinstance(action, Program) else 0)
        what = f"run {number} of {vm}: {entry.name}"
        try:
            takes, code = kind.run(number)
        except Exception as error:
            raise failed(what, error) from error
        if not 0 <= takes <= LONGEST or type(code) is not int or not 0 <= code <= 255:
            raise PlanError(f"{what}: its kind returned {shown((takes, code))}, not Work(seconds, exit code)")
        return Work(float(takes), code)

    def _make(self, vm: str, name: str, program: Program) -> Kind:
        make = self._kinds.get(program.kind)
        if make is None:
            raise ValueError(
                f"{vm}: {name}: kind {shown(program.kind)}: {unknown(program.kind, (FIXED, *self._kinds))}"
            )
        try:
            return make(program.arguments)
        except ValueError as error:
            raise ValueError(f"{vm}: {name}: with: {error}") from error
        except Exception as error:
            raise ValueError(str(failed(f"{vm}: {name}: kind {program.kind}", error))) from error


_AMOUNT: Final = number(least=0, most=LONGEST)


def _numbers(arguments: Mapping[str, Any], known: Mapping[str, float | None]) -> dict[str, float]:
    """Return arguments, which must be non-negative numbers, with defaults for missing ones; ValueError."""
    required = [name for name, usual in known.items() if usual is None]
    found = members_of(dict.fromkeys(known, _AMOUNT), required)(arguments)
    return {name: found[name] if name in found else float(usual or 0.0) for name, usual in known.items()}
