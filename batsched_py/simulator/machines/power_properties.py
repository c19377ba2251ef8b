"""Power properties: a reader of a host's power model from its properties in a platform file."""

from __future__ import annotations

import re
from typing import Final, NoReturn

from batsched_py.errors import PlatformError
from batsched_py.model.platform import PlatformHost
from batsched_py.simulator.machines.power_model import PowerModel, SleepTransitions, Watts
from batsched_py.text.display import shown

_PSTATE: Final = re.compile(r"[0-9]{1,9}")
#: Upper limit of watts: above any real machine, and low enough to keep the total joules of any run finite.
MOST_WATTS: Final = 1e15


def read_power_model(source: str, host: PlatformHost) -> PowerModel:
    """Read the host's properties `wattage_per_state` (once `watt_per_state`) and `sleep_pstates`; PlatformError.

    A storage host may lack them; then its draw is 0.
    """
    name = "wattage_per_state" if "wattage_per_state" in host.properties else "watt_per_state"
    text = host.properties.get(name)
    if text is None and host.role == "storage":
        return PowerModel((Watts(0.0, 0.0, 0.0),) * len(host.speeds), {}, frozenset())
    if text is None:
        raise PlatformError(source, f"host {host.name}", "needs the property wattage_per_state to count energy")
    watts = tuple(_read_watts(source, host, name, piece) for piece in text.split(","))
    if len(watts) != len(host.speeds):
        _wrong(source, host, name, f"must have one entry for each pstate ({len(host.speeds)}), not {len(watts)}")
    sleeps: dict[int, SleepTransitions] = {}
    for piece in host.properties.get("sleep_pstates", "").split(","):
        if piece.strip():
            sleep, off, on = _read_sleep(source, host, piece)
            sleeps[sleep] = SleepTransitions(off, on)
    virtual = frozenset(pstate for sleep in sleeps.values() for pstate in (sleep.off, sleep.on))
    _read_watts_off(source, host)
    return PowerModel(watts, sleeps, virtual, host.cores)


def _read_watts(source: str, host: PlatformHost, name: str, piece: str) -> Watts:
    try:
        values = [float(value) for value in piece.split(":")]
    except ValueError:
        _wrong(source, host, name, f"must hold watts like 95:190, not {shown(piece.strip())}")
    if not all(0 <= value <= MOST_WATTS for value in values):
        _wrong(source, host, name, f"must hold watts from 0 to {MOST_WATTS:g}, not {shown(piece.strip())}")
    if len(values) == 2:
        return Watts(values[0], values[0], values[1])
    if len(values) != 3:
        _wrong(
            source, host, name, f"must be idle:full or idle:epsilon:full for each pstate, not {shown(piece.strip())}"
        )
    return Watts(*values)


def _read_watts_off(source: str, host: PlatformHost) -> None:
    """Check the draw of a host in shutdown, as SimGrid does, although Batsim never shuts down hosts."""
    for name in ("wattage_off", "watt_off"):
        text = host.properties.get(name, "0")
        try:
            float(text)
        except ValueError:
            _wrong(source, host, name, f"must be a number of watts, not {text!r}")


def _read_sleep(source: str, host: PlatformHost, piece: str) -> tuple[int, int, int]:
    parts = piece.strip().split(":")
    if len(parts) != 3 or not all(_PSTATE.fullmatch(part) and int(part) < len(host.speeds) for part in parts):
        _wrong(source, host, "sleep_pstates", f"must be sleep:off:on, numbers of pstates, not {shown(piece.strip())}")
    sleep, off, on = (int(part) for part in parts)
    return sleep, off, on


def _wrong(source: str, host: PlatformHost, name: str, rule: str) -> NoReturn:
    raise PlatformError(source, f"host {host.name}.{name}", rule)
