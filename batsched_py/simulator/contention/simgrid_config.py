"""Items of SimGrid's configuration that affect transfer times, from the command line and platform files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

from batsched_py.errors import OptionError, PlatformError
from batsched_py.model.platform import Platform
from batsched_py.model.zone import LOOPBACK, Link
from batsched_py.simulator.contention.simgrid_items import is_known, plain_item
from batsched_py.text.display import displayed

#: SimGrid's default TCP window in bytes; its quotient by twice the route's latency limits the rate of a transfer.
TCP_WINDOW: Final = 4_194_304.0

_WINDOW: Final = "network/tcp-gamma"
_BANDWIDTH: Final = "network/loopback-bw"
_LATENCY: Final = "network/loopback-lat"
_SOLVER: Final = "host/solver"
#: Items that may change times in SimGrid's model of parallel tasks through precision or limits, but have no effect
#: here.
_PRECISIONS: Final = frozenset(
    {"maxmin/precision", "maxmin/concurrency-limit", "surf/precision", "precision/timing", "precision/work-amount"}
)
IGNORED: Final = "config: items of SimGrid's precision and limits have no effect here: "
#: The only supported solver, SimGrid's default.
_FAIR_BOTTLENECK: Final = "fairbottleneck"
#: Prefix of the items of SMPI.
_SMPI: Final = "smpi/"


class SimgridConfig(Struct, frozen=True):
    """The items that have an effect.

    Attributes:
        tcp_window: in bytes (network/TCP-gamma).
        loopback: the link from a host to itself where none is declared (network/loopback-bw, network/loopback-lat).
    """

    tcp_window: float = TCP_WINDOW
    loopback: Link = LOOPBACK


def read_simgrid_config(items: Iterable[tuple[str, str]], platform: Platform) -> SimgridConfig:
    """Parse the items (name, value) of the command line and of the platform file.

    As in SimGrid, the command line has precedence. OptionError or PlatformError for an invalid value or another solver;
    OptionError for an item unknown to SimGrid. All other items have no effect.
    """
    values: dict[str, float] = {}
    for item, value in platform.config:
        _read(item, value, values, _platform_error(platform, item))
    for item, value in items:
        error = _option_error(item, value)
        if not is_known(item):
            raise error("is not an item of SimGrid's configuration")
        _read(item, value, values, error)
    loopback = Link(
        LOOPBACK.name, values.get(_BANDWIDTH, LOOPBACK.bandwidth), values.get(_LATENCY, LOOPBACK.latency), shared=False
    )
    return SimgridConfig(values.get(_WINDOW, TCP_WINDOW), loopback)


def ignored_items(items: Iterable[tuple[str, str]], platform: Platform) -> str:
    """Return a line on items that are set, and have an effect in SimGrid but not here; "" if there are none."""
    ignored = dict.fromkeys(item for item, _ in (*platform.config, *items) if plain_item(item) in _PRECISIONS)
    return IGNORED + ", ".join(map(displayed, ignored)) if ignored else ""


def refuse_smpi_items(items: Iterable[tuple[str, str]], platform: Platform) -> None:
    """Raise OptionError or PlatformError for an item of SMPI, where a workload has profiles of that type."""
    rule = "is not simulated: profiles of type smpi are replayed with the defaults of SMPI"
    for item, _ in items:
        if plain_item(item).startswith(_SMPI):
            raise OptionError(f"--sg-cfg {displayed(item)} {rule}")
    for item, _ in platform.config:
        if plain_item(item).startswith(_SMPI):
            raise PlatformError(platform.source, f"config {displayed(item)}", rule)


def _read(item: str, value: str, values: dict[str, float], error: Callable[[str], Exception]) -> None:
    plain = plain_item(item)
    if plain == _SOLVER and value != _FAIR_BOTTLENECK:
        raise error(f"must be {_FAIR_BOTTLENECK}, the only solver that is simulated, not {displayed(value)}")
    if plain not in {_WINDOW, _BANDWIDTH, _LATENCY}:
        return
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf or (number == 0 and plain != _LATENCY):
        least = "from 0" if plain == _LATENCY else "more than 0"
        raise error(f"must be a number, {least}, not {displayed(value)}")
    values[plain] = number


def _option_error(item: str, value: str) -> Callable[[str], OptionError]:
    return lambda rule: OptionError(f"--sg-cfg {displayed(item)}:{displayed(value)}: {rule}")


def _platform_error(platform: Platform, item: str) -> Callable[[str], PlatformError]:
    return lambda rule: PlatformError(platform.source, f"config {item}", rule)
