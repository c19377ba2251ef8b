"""External events in the simulator: contradictions are found first, unknown ones are forwarded if asked."""

from pathlib import Path

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.settings import Settings
from batsched_py.simulator.machines.external_events import unread_parts
from batsched_py.traces.event_file import read_events
from tests.unit.simulator.scenario import job, platform, play, reject, workload


@pytest.mark.parametrize(
    ("lines", "rule"),
    [
        ([("machine_unavailable", "9")], "host 9 does not exist"),
        ([("machine_unavailable", "0-1"), ("machine_unavailable", "1")], "host 1 is unavailable already"),
        ([("machine_available", "1")], "host 1 is not unavailable"),
    ],
)
def test_contradictions_are_found_before_the_simulation(
    tmp_path: Path, lines: list[tuple[str, str]], rule: str
) -> None:
    """Batsim would abort in the middle of the run."""
    file = tmp_path / "events.txt"
    file.write_text("".join(f'{{"type": "{kind}", "resources": "{hosts}", "timestamp": 1}}\n' for kind, hosts in lines))
    with pytest.raises(WorkloadError, match=rule):
        play(workload(job("a")), {}, settings=Settings(external_events=read_events(file)))


def test_unknown_events_are_forwarded_if_so_asked(tmp_path: Path) -> None:
    """The event object itself is the data of a NOTIFY."""
    file = tmp_path / "events.txt"
    file.write_text('{"type": "price", "timestamp": 7.5, "value": 0.12}\n')
    events = read_events(file)
    jobs = workload(job("a", at=1))
    for forward in (True, False):
        settings = Settings(external_events=events, forward_unknown_events=forward)
        _, peer = play(jobs, {1.0: [reject("a")]}, on=platform(), settings=settings)
        price = {"type": "price", "timestamp": 7.5, "value": 0.12}
        assert ((7.5, price) in peer.told("NOTIFY")) is forward
        assert (7.5, {"type": "no_more_external_event_to_occur"}) in peer.told("NOTIFY")


def test_what_a_machine_event_says_besides_is_told(tmp_path: Path) -> None:
    """Batsim 4 forwards the hosts only: a reason, or a misspelt member, would be lost without a word."""
    file = tmp_path / "e.txt"
    file.write_text(
        '{"type": "machine_unavailable", "timestamp": 1, "resources": "0", "why": "fan"}\n'
        '{"type": "machine_available", "timestamp": 2, "resources": "0", "why": "fan"}\n'
    )
    assert unread_parts(read_events(file), forwarded=True) == (
        f"{file}: member why of a machine event is unknown and has no effect (2 times, first in line 1)",
    )


def test_events_that_are_not_forwarded_are_told_by_type(tmp_path: Path) -> None:
    """They are skipped: a misspelt type would be lost without a word."""
    file = tmp_path / "e.txt"
    file.write_text(
        '{"type": "price", "timestamp": 1}\n'
        '{"type": "machine_unavailible", "timestamp": 2, "resources": "0"}\n'
        '{"type": "price", "timestamp": 3}\n'
    )
    assert unread_parts(read_events(file), forwarded=True) == ()
    assert unread_parts(read_events(file), forwarded=False) == (
        f"{file}: type price of an event has no effect without --forward-unknown-events (2 times, first in line 1)",
        f"{file}: type machine_unavailible of an event has no effect without --forward-unknown-events (line 2)",
    )
