"""Numbers of the cases that tests draw: few with `make test`, more with `make test THOROUGH=10`."""

from __future__ import annotations

import os

#: Factor of all these numbers.
FACTOR = float(os.environ.get("THOROUGH") or 1)


def thorough(number: int) -> int:
    """Return the number of cases to draw where this many suffice for each run of the tests."""
    return max(1, round(number * FACTOR))
