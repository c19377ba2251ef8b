"""Power states of hosts in generated platforms: parser of the user's notation, and Batsim's properties."""

from __future__ import annotations

import math
from typing import Final, Self

from msgspec import Struct

from batsched_py.errors import OptionError
from batsched_py.text.display import shown
from batsched_py.traces.quantity import SPEED, TIME, parse_quantity

_SLEEP: Final = "sleep="
#: The rule for the power of a state that computes, and of one that sleeps.
_COMPUTES: Final = "must be IDLE:EPSILON:FULL in watts, then @SPEED unless it is the first"
_SLEEPS: Final = "must be sleep=WATTS:OFF_TIME:OFF_WATTS:ON_TIME:ON_WATTS"


class PowerState(Struct, frozen=True):
    """A pstate: its speed in flop/s, and its power in watts when idle, at minimum load, and at full load."""

    speed: float
    watts: tuple[float, float, float]


class PowerStates(Struct, frozen=True):
    """The pstates of a host.

    Attributes:
        states: all pstates, computing ones first.
        sleeps: numbers of the pstates (asleep, switching off, switching on).
    """

    states: tuple[PowerState, ...]
    sleeps: tuple[tuple[int, int, int], ...] = ()

    @classmethod
    def parse(cls, text: str, speed: float) -> Self:
        """Parse states like "100:120:220,95:110:170@0.75Gf,sleep=8:5:110:100:150"; OptionError with the rule.

        Computing states come first; the first one has the given speed, in flop/s. A sleep state lists its power, then
        the seconds and the power of switching off and of switching on.
        """
        states: list[PowerState] = []
        sleeps: list[tuple[int, int, int]] = []
        for part in map(str.strip, text.split(",")):
            if part.startswith(_SLEEP) and states:
                first = len(states)
                sleeps.append((first, first + 1, first + 2))
                states += _asleep(part)
            elif part.startswith(_SLEEP) or sleeps:
                raise OptionError(f"power: states that compute come first, and there must be one, in {shown(text)}")
            else:
                states.append(_computing(part, None if states else speed))
        return cls(tuple(states), tuple(sleeps))

    @property
    def speeds(self) -> str:
        """The attribute `speed` of SimGrid."""
        return ", ".join(f"{_number(state.speed)}f" for state in self.states)

    @property
    def properties(self) -> dict[str, str]:
        """The properties of SimGrid and Batsim, and one with the speeds, which Batsim does not send to schedulers."""
        found = {
            "speed_per_state": ", ".join(_number(state.speed) for state in self.states),
            "wattage_per_state": ", ".join(":".join(map(_number, state.watts)) for state in self.states),
        }
        if self.sleeps:
            found["sleep_pstates"] = ", ".join(":".join(map(str, numbers)) for numbers in self.sleeps)
        return found


def _computing(part: str, speed: float | None) -> PowerState:
    power, at, own = part.partition("@")
    if bool(at) == (speed is not None):
        raise OptionError(f"power: {_COMPUTES}, not {shown(part)}")
    watts = _watts(power, 3, _COMPUTES, part)
    if not watts[0] <= watts[1] <= watts[2]:
        raise OptionError(f"power: IDLE, EPSILON and FULL must not fall, as they do in {shown(part)}")
    return PowerState(read_speed(own) if speed is None else speed, (watts[0], watts[1], watts[2]))


def _asleep(part: str) -> list[PowerState]:
    texts = part.removeprefix(_SLEEP).split(":")
    if len(texts) != 5:
        raise OptionError(f"power: {_SLEEPS}, not {shown(part)}")
    asleep, off, on = _watts(":".join(texts[::2]), 3, _SLEEPS, part)
    off_time, on_time = (_seconds(text, part) for text in texts[1::2])
    # A sleeping host computes almost nothing; a switch lasts as long as one flop.
    return [
        PowerState(speed, (watts,) * 3) for speed, watts in ((1e-3, asleep), (1 / off_time, off), (1 / on_time, on))
    ]


def read_speed(text: str) -> float:
    """Parse a speed like "1Gf", in flop/s. OptionError."""
    try:
        value = parse_quantity(text, SPEED)
    except ValueError as error:
        raise OptionError(f"speed: {error}") from None
    if not value > 0:
        raise OptionError(f"speed: must be greater than 0 flop/s, not {shown(text)}")
    return value


def _watts(text: str, count: int, rule: str, part: str) -> list[float]:
    try:
        values = [float(piece) for piece in text.split(":")]
    except ValueError:
        values = []
    if len(values) != count or not all(0 <= value < math.inf for value in values):
        raise OptionError(f"power: {rule}, not {shown(part)}")
    return values


def _seconds(text: str, part: str) -> float:
    try:
        value = parse_quantity(text, TIME)
    except ValueError:
        value = 0.0
    if not value >= 1e-3:
        raise OptionError(f"power: a switch must take at least 0.001 s, in {shown(part)}")
    return value


def _number(value: float) -> str:
    """Format a number, without a decimal point if it is whole."""
    return str(int(value)) if value.is_integer() and value < 1e15 else repr(value)
