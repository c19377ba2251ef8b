"""The cyclic garbage collector, suspended while a command makes millions of objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Suspend searches for cycles: jobs and records contain none, and each search visits all of them.

    `Limits` bounds their number, and thereby the memory of cycles that errors in rows leave behind.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
