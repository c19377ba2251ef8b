"""Configuration items of SimGrid 3.32 that the `config` element of a platform file may contain."""

from __future__ import annotations

from typing import Final

#: Prefixes of item families that are too large to list, and depend on the build of SimGrid.
_FAMILIES: Final = ("smpi/", "tracing/", "model-check/", "viva/", "ns3/")

_ITEMS: Final = frozenset(
    {
        *("bmf/max-iterations", "bmf/precision", "bmf/selective-update"),
        *("contexts/factory", "contexts/guard-size", "contexts/nthreads", "contexts/parallel-threshold"),
        *("contexts/stack-size", "contexts/synchro"),
        *("cpu/maxmin-selective-update", "cpu/model", "cpu/optim", "cpu/solver"),
        *("debug/breakpoint", "debug/clean-atexit", "debug/verbose-exit"),
        *("disk/model", "disk/solver", "exception/cutpath", "host/model", "host/solver"),
        *("maxmin/concurrency-limit", "maxmin/precision", "model-check", "msg/debug-multiple-use"),
        *("network/TCP-gamma", "network/bandwidth-factor", "network/crosstraffic", "network/latency-factor"),
        *("network/loopback-bw", "network/loopback-lat", "network/maxmin-selective-update", "network/model"),
        *("network/optim", "network/sender-gap", "network/solver", "network/weight-S"),
        *("path", "plugin", "precision/timing", "precision/work-amount", "surf/precision"),
        *("storage/max_file_descriptors", "storage/model", "tracing", "vm/model"),
        *("clean-atexit", "coordinates", "maxmin-selective-update", "verbose-exit"),  # former names
    }
)
#: Former names of items, which SimGrid still accepts, have underscores in place of hyphens.
_ALIKE: Final = str.maketrans("_", "-")
_KNOWN: Final = frozenset(item.translate(_ALIKE) for item in _ITEMS)


def is_known(item: str) -> bool:
    """Return whether SimGrid accepts this item; at an unknown item it stops."""
    plain = item.translate(_ALIKE)
    return plain in _KNOWN or plain.startswith(_FAMILIES)


def plain_item(item: str) -> str:
    """Return the item in lower case and in its current spelling, for comparisons."""
    return item.translate(_ALIKE).lower()
