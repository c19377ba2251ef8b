"""Parser of seeds: "20" for the seeds 1 to 20, or lists like "1-20" and "1,2,5-9"."""

from __future__ import annotations

import re
from typing import Final

from batsched_py.text.display import shown

#: Maximum number of seeds: more are taken for a typing error.
_MOST: Final = 10_000
_COUNT: Final = re.compile(r"\d{1,9}")
_PART: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def parse_seeds(text: str, *, counted: bool = True) -> tuple[int, ...]:
    """Return seeds, each once, in the order given; if `counted`, a number alone is a number of seeds, from 1 on.

    ValueError names the rule that the text breaks.
    """
    if counted and _COUNT.fullmatch(text):
        if not int(text):
            raise ValueError("must be at least 1 seed, or 0-0 for the seed 0")
        text = f"1-{text}"
    seeds: dict[int, None] = {}
    for part in text.split(","):
        found = _PART.fullmatch(part)
        if found is None or (found[2] and int(found[2]) < int(found[1])):
            raise ValueError(f"must be like 1-20 or 1,2,5-9, not {shown(text)}")
        some = range(int(found[1]), int(found[2] or found[1]) + 1)
        if len(seeds) + len(some) > _MOST:
            raise ValueError(f"must be at most {_MOST} seeds")
        seeds |= dict.fromkeys(some)
    return tuple(seeds)
