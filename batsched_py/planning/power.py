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
    """Power of a host in one pstate in watts: idle, and fully loaded."""

    idle: float
    full: float


class SwitchTimes(Struct, frozen=True):
    """Seconds to fall asleep and to wake up. Batsim does not send them: they are given or learned."""

    off: float
    on: float


class SleepState(Struct, frozen=True):
    """A pstate in which a host sleeps.

    Attributes:
        pstate: its number.
        off: number of the virtual pstate that models falling asleep; it cannot be requested.
        on: number of the virtual pstate that models waking up.
        watts: power while asleep.
        off_watts: power while falling asleep.
        on_watts: power while waking up.
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
        """Return the break-even idle time in seconds, for a host that draws `idle` watts awake.

        It includes falling asleep and waking up; infinity if sleeping does not draw less.
        """
        switching = times.off + times.on
        if self.watts >= idle:
            return math.inf
        spent = self.off_joules(times) + self.on_joules(times) - self.watts * switching
        return max(switching, spent / (idle - self.watts))


class HostPower(Struct, frozen=True):
    """The power of a host; two hosts with the same properties are equal.

    Attributes:
        draws: watts in each pstate.
        sleeps: its sleep states, in the order of the platform file.
        computing: the pstates in which it can run jobs, ascending.
        speeds: flop/s in each pstate, from the property `speed_per_state`; empty without it, because Batsim does not
            send them.
    """

    draws: tuple[Draw, ...]
    sleeps: tuple[SleepState, ...]
    computing: tuple[int, ...]
    speeds: tuple[float, ...] = ()

    def sleep_state(self, pstate: int | None) -> SleepState | None:
        """Return the sleep state of this pstate; None if it is not one."""
        return next((sleep for sleep in self.sleeps if sleep.pstate == pstate), None)

    @property
    def deepest(self) -> SleepState | None:
        """The sleep state with the lowest power; the first among equals."""
        return min(self.sleeps, key=lambda sleep: sleep.watts, default=None)


def read_power(host: str, properties: Mapping[str, Any]) -> HostPower | None:
    """Read `wattage_per_state` (formerly `watt_per_state`), `sleep_pstates` and `speed_per_state`.

    None if the host does not describe its power. PlatformError if the description cannot be read.
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
    """Return a sort key: joules of waking (infinity if times are unknown), then watts while waking."""
    return math.inf if times is None else sleep.on_joules(times), sleep.on_watts


def positive_numbers(text: str) -> tuple[float, ...]:
    """Parse finite numbers separated by commas; return () if one of them is not positive or not a number."""
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
