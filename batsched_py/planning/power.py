"""The power of hosts, read from their properties: watts in each pstate, and the costs and savings of sleep."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NoReturn

from msgspec import Struct

from batsched_py.errors import PlatformError
from batsched_py.text.display import shown

_PSTATE: Final = re.compile(r"[0-9]{1,9}")


class Draw(Struct, frozen=True):
    """Watts of a host in one pstate: doing nothing, and with all of it busy."""

    idle: float
    full: float


class SwitchTimes(Struct, frozen=True):
    """Seconds that it takes to fall asleep and to wake up. Batsim does not tell them: they are given or learned."""

    off: float
    on: float


class SleepState(Struct, frozen=True):
    """A pstate in which a host sleeps.

    Attributes:
        pstate: its number.
        off: number of the virtual pstate that models the way there; nobody may ask for it.
        on: that of the way back.
        watts: drawn asleep.
        off_watts: drawn on the way there.
        on_watts: drawn on the way back.
    """

    pstate: int
    off: int
    on: int
    watts: float
    off_watts: float
    on_watts: float

    def off_joules(self, times: SwitchTimes) -> float:
        """Return the energy of falling asleep."""
        return self.off_watts * times.off

    def on_joules(self, times: SwitchTimes) -> float:
        """Return the energy of waking up."""
        return self.on_watts * times.on

    def break_even(self, idle: float, times: SwitchTimes) -> float:
        """Return the seconds of idleness from which sleeping pays, for a host that draws `idle` watts awake.

        Both ways are part of them; infinite if the host draws no less asleep.
        """
        switching = times.off + times.on
        if self.watts >= idle:
            return math.inf
        spent = self.off_joules(times) + self.on_joules(times) - self.watts * switching
        return max(switching, spent / (idle - self.watts))


class HostPower(Struct, frozen=True):
    """One host; two hosts with the same properties are equal.

    Attributes:
        draws: watts in each pstate.
        sleeps: where it can sleep, in the order of the platform file.
        computing: the pstates in which it can run jobs, ascending.
        speeds: flop/s in each pstate, empty if nobody told: Batsim does not, the property `speed_per_state` may.
    """

    draws: tuple[Draw, ...]
    sleeps: tuple[SleepState, ...]
    computing: tuple[int, ...]
    speeds: tuple[float, ...] = ()

    def sleep_state(self, pstate: int | None) -> SleepState | None:
        """Return the sleep of this pstate, None if that does not sleep."""
        return next((sleep for sleep in self.sleeps if sleep.pstate == pstate), None)

    @property
    def deepest(self) -> SleepState | None:
        """The sleep that draws least; of equals the first."""
        return min(self.sleeps, key=lambda sleep: sleep.watts, default=None)


def read_power(host: str, properties: Mapping[str, Any]) -> HostPower | None:
    """Read `wattage_per_state` (once `watt_per_state`), `sleep_pstates` and `speed_per_state`.

    None if the host describes no power. PlatformError if it does, and nobody can read it.
    """
    name = "wattage_per_state" if "wattage_per_state" in properties else "watt_per_state"
    if name not in properties:
        return None
    texts = (str(properties.get(key, "")) for key in (name, "sleep_pstates", "speed_per_state"))
    try:
        return _read(name, *texts)
    except PlatformError as error:
        raise PlatformError("", f"host {host}.{error.field}", error.rule) from None


def wake_cost(sleep: SleepState, times: SwitchTimes | None) -> tuple[float, float]:
    """Return a key to sort by: joules (infinite if times are not known), then the watts that waking draws."""
    return math.inf if times is None else sleep.on_joules(times), sleep.on_watts


def positive_numbers(text: str) -> tuple[float, ...]:
    """Return finite numbers that are separated by commas; none if one of them is not positive, or no number."""
    try:
        numbers = tuple(float(piece) for piece in text.split(","))
    except ValueError:
        return ()
    return numbers if all(0 < number < math.inf for number in numbers) else ()


@lru_cache(maxsize=4096)  # most hosts of a platform are alike
def _read(name: str, watts: str, sleeps: str, speeds: str) -> HostPower:
    draws = tuple(_read_draw(name, piece) for piece in watts.split(","))
    states = tuple(_read_sleep(piece, draws) for piece in sleeps.split(",") if piece.strip())
    special = {pstate for sleep in states for pstate in (sleep.pstate, sleep.off, sleep.on)}
    computing = tuple(pstate for pstate in range(len(draws)) if pstate not in special)
    if not computing:
        _wrong("sleep_pstates", "must leave a pstate that computes")
    return HostPower(draws, states, computing, _read_speeds(speeds, len(draws)))


def _read_draw(name: str, piece: str) -> Draw:
    try:
        values = [float(value) for value in piece.split(":")]
    except ValueError:
        values = []
    if len(values) not in (2, 3) or not all(math.isfinite(value) for value in values):
        _wrong(name, f"must be watts, idle:full or idle:epsilon:full for each pstate, not {shown(piece.strip())}")
    return Draw(values[0], values[-1])


def _read_sleep(piece: str, draws: tuple[Draw, ...]) -> SleepState:
    parts = piece.strip().split(":")
    if len(parts) != 3 or not all(_PSTATE.fullmatch(part) and int(part) < len(draws) for part in parts):
        _wrong("sleep_pstates", f"must be sleep:off:on, numbers of pstates, not {shown(piece.strip())}")
    pstate, off, on = map(int, parts)
    return SleepState(pstate, off, on, draws[pstate].idle, draws[off].full, draws[on].full)


def _read_speeds(text: str, count: int) -> tuple[float, ...]:
    if not text:
        return ()
    speeds = positive_numbers(text)
    if len(speeds) != count:
        _wrong("speed_per_state", f"must be flop/s for each pstate ({count}), separated by commas, not {shown(text)}")
    return speeds


def _wrong(name: str, rule: str) -> NoReturn:
    raise PlatformError("", name, rule)
