"""Statistics of one algorithm against the baseline, as texts of a table."""

from __future__ import annotations

from typing import Final

from batsched_py.campaigns.comparison import Inference
from batsched_py.campaigns.pair_tests import MOST_PAIRS, PairTests
from batsched_py.text.wording import NOTHING

#: Smaller p values are not written out.
_LEAST_P: Final = 0.001


def test_texts(inference: Inference, tests: PairTests | None) -> list[str]:
    """Return cells for the statistics besides intervals that there are."""
    found, cells = PairTests() if tests is None else tests, []
    if inference.tests:
        cells = [
            NOTHING if found.effect is None else f"{found.effect:z.2f}",
            NOTHING if found.corrected is None else _p_text(found.corrected),
        ]
    if inference.precision is not None:
        cells.append(f"> {MOST_PAIRS}" if found.needed is None else str(found.needed))
    return cells


def _p_text(p: float) -> str:
    """Format a p value, of which more digits say nothing."""
    return f"{p:.3f}" if p >= _LEAST_P else f"< {_LEAST_P}"
