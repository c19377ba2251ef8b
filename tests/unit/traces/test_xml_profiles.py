"""Changes over time of hosts and links: told, and refused where SimGrid stops at them."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import PlatformError
from tests.unit.traces.test_xml_rules import HOSTS, LINK, read, zone

TRACE = '<trace id="t" periodicity="10">0 1\n5 0.5\n</trace>'


def connected(kind: str, element: str, trace: str = "t") -> str:
    """A platform with a trace that is connected to this."""
    return zone(f'{HOSTS}{LINK}{TRACE}<trace_connect kind="{kind}" trace="{trace}" element="{element}"/>')


@pytest.mark.parametrize(("kind", "element"), [("SPEED", "a"), ("HOST_AVAIL", "b"), ("LINK_AVAIL", "l")])
def test_a_trace_is_connected_to_what_its_kind_says(tmp_path: Path, kind: str, element: str) -> None:
    """It is told that nothing changes."""
    told = [note.partition(": ")[2].partition(":")[0] for note in read(tmp_path, connected(kind, element)).notes]
    assert told == ["element trace is not obeyed", "element trace_connect is not obeyed"]


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        (connected("BANDWIDTH", "l"), r"trace_connect\.kind: cannot be BANDWIDTH: .* use the attribute bandwidth_file"),
        (connected("LATENCY", "l"), r"trace_connect\.kind: cannot be LATENCY: .* use the attribute latency_file"),
        (connected("POWER", "a"), r"trace_connect\.kind: must be one of HOST_AVAIL, SPEED,"),
        (connected("SPEED", "h9"), r"trace_connect\.element: names 'h9', which is not a host"),
        (connected("SPEED", "l"), r"trace_connect\.element: names 'l', which is not a host"),
        (connected("LINK_AVAIL", "a"), r"trace_connect\.element: names 'a', which is not a link"),
        (connected("SPEED", "a", "u"), r"trace_connect\.trace: names 'u', which is not defined before"),
        (zone(f'{HOSTS}<trace id="t" periodicity="0"> </trace>'), "trace t: must have either contents or a file"),
        (zone(f'{HOSTS}<trace id="t" periodicity="often">0 1</trace>'), r"trace t\.periodicity: must be a number"),
        (zone('<host id="a" speed="1f" speed_file="no.txt"/>'), r"host a\.speed_file: names 'no\.txt', which"),
        (zone('<host id="a" speed="1f" speed_file="{0}"/><host id="b" speed="1f" state_file="{0}"/>'),
         r"host b\.state_file: names 'changes\.txt', which another element names"),
        (zone(HOSTS + '<trace id="t" periodicity="0" file="{0}"/><trace id="u" periodicity="0" file="{0}"/>'),
         r"trace u\.file: names 'changes\.txt', which another element names"),
    ],
)  # fmt: skip
def test_what_stops_simgrid_is_refused(tmp_path: Path, inside: str, message: str) -> None:
    """Though the changes are not simulated: the same file would not run in Batsim."""
    with pytest.raises(PlatformError, match=message):
        read(tmp_path, inside.replace("{0}", "changes.txt"))
