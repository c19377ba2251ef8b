"""Memory that something takes, as Python counts it: the same on any machine, however loaded."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct


class Memory(Struct):
    """Bytes that were taken at most, and those that are kept afterwards; 0 until it is over."""

    peak: int = 0
    kept: int = 0


@contextmanager
def measured() -> Iterator[Memory]:
    """Measure what is done inside."""
    memory = Memory()
    tracemalloc.start()
    try:
        yield memory
    finally:
        memory.kept, memory.peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
