"""Profiles of hosts and links: what changes, and what is refused because SimGrid stops at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import PlatformError
from batsched_py.model.changes import Changing
from tests.unit.traces.test_xml_rules import HOSTS, LINK, read, zone

TRACE = '<trace id="t" periodicity="10">0 1\n5 0.5\n</trace>'


def connected(kind: str, element: str, trace: str = "t") -> str:
    """A platform with a trace that is connected to this."""
    return zone(f'{HOSTS}{LINK}{TRACE}<trace_connect kind="{kind}" trace="{trace}" element="{element}"/>')


@pytest.mark.parametrize(
    ("kind", "element", "quantity"),
    [("SPEED", "a", Changing.SPEED), ("HOST_AVAIL", "b", Changing.STATE), ("LINK_AVAIL", "l", Changing.STATE)],
)
def test_a_trace_is_connected_to_what_its_kind_says(
    tmp_path: Path, kind: str, element: str, quantity: Changing
) -> None:
    """With its period."""
    found = read(tmp_path, connected(kind, element))
    (changes,) = found.changes
    assert (changes.quantity, changes.targets, changes.of_link, changes.period) == (
        quantity, (element,), kind == "LINK_AVAIL", 10.0,
    )  # fmt: skip
    assert found.notes == ()


def test_a_trace_that_is_connected_twice_belongs_to_the_first_element(tmp_path: Path) -> None:
    """The second connection is reported."""
    twice = "".join(f'<trace_connect kind="SPEED" trace="t" element="{element}"/>' for element in "ab")
    found = read(tmp_path, zone(f"{HOSTS}{TRACE}{twice}"))
    assert [changes.targets for changes in found.changes] == [("a",)]
    assert "only the first element has it" in found.notes[0]


def test_both_halves_of_a_link_change(tmp_path: Path) -> None:
    """Attributes name files, each for one quantity."""
    link = '<link id="l" bandwidth="1Bps" sharing_policy="SPLITDUPLEX" bandwidth_file="changes.txt"/>'
    (changes,) = read(tmp_path, zone(f"{HOSTS}{link}")).changes
    assert (changes.quantity, changes.targets) == (Changing.BANDWIDTH, ("l_UP", "l_DOWN"))


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
    """Before anything runs."""
    with pytest.raises(PlatformError, match=message):
        read(tmp_path, inside.replace("{0}", "changes.txt"))
