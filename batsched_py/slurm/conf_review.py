"""The effect of each parameter in a configuration: obeyed, approximated, ignored or refused, with the reason."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

Effect = Literal["obeyed", "approximated", "ignored", "refused"]
EFFECTS: Final[tuple[Effect, ...]] = ("obeyed", "approximated", "ignored", "refused")


class ParameterUse(Struct, frozen=True):
    """A parameter in a file: its line (0 for a rule on the whole file), name and value, and the effect with a reason.

    Names and values are as in the file, and may hold any character.
    """

    file: str
    line: int
    name: str
    value: str
    effect: Effect
    reason: str
