"""The kinds of figures of a comparison."""

from __future__ import annotations

from typing import Final, Literal

Kind = Literal["forest", "boxes", "curve"]
#: Kinds of figures: ratios with intervals, values over workloads, means over the values of an option.
KINDS: Final[tuple[Kind, ...]] = ("forest", "boxes", "curve")
