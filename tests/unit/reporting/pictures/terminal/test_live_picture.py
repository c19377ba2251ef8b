"""The live view: its lines, its bars and its history."""

from __future__ import annotations

from io import StringIO

import pytest
from msgspec.structs import replace
from rich.console import Console, Group, RenderableType

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.planning.future.promises import Claim, Shadow, Slot
from batsched_py.reporting.pictures.terminal.live_picture import (
    COLUMNS,
    History,
    LiveFrame,
    LivePicture,
    LiveStatus,
    NextJob,
    next_lines,
    simulation_status,
)
from batsched_py.results.progress import RunStatus
from batsched_py.scheduling.plan import too_few
from tests.clone import ROOT
from tests.docs.pages import blocks

STATUS = LiveStatus(
    now=90061.0,
    total=28481,
    submitted=1200,
    waiting=150,
    running=20,
    ended=1000,
    rejected=30,
    hosts=100,
    busy=75,
    down=5,
    first=None,
)


def shown(renderable: RenderableType, *, no_color: bool = False) -> list[str]:
    """Its lines on a terminal of 120 columns."""
    console = Console(file=StringIO(), width=120, no_color=no_color)
    console.print(renderable)
    assert isinstance(console.file, StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_the_picture_has_all_numbers() -> None:
    """With groups of thousands, and sparklines as long as what they know."""
    frame = LiveFrame(STATUS, (0.0, 75.0, 150.0), (0.5, 1.0, 0.75), 41000, 3456.7, 0.34)
    lines = shown(LivePicture("easy", frame, 10.0, "simulating"))
    texts = (
        "easy  00:00:10 elapsed  simulating",
        "time   1 d 01:01:01                      9 006 times real time",
        "1 000 of 28 481 ended, 170 in, 30 rejected",
        "busy   ▄█▆                               75%: 75 of 100 hosts, 5 down",
        "queue   ▄█                               150 waiting, 20 running",
        "speed  3 457 decisions/s                 41 000 decisions; deciding 34%",
    )
    assert len(lines) == len(texts)
    assert all(text in line for text, line in zip(texts, lines, strict=True)), lines


@pytest.mark.parametrize("width", [80, 40])
def test_nothing_that_matters_is_cut(width: int) -> None:
    """Neither the algorithm's name, nor labels, nor what became of the jobs; where it is narrow there are no bars."""
    status = replace(STATUS, total=28_481, submitted=20_253, ended=20_237, rejected=0)
    console = Console(file=StringIO(), width=width)
    console.print(LivePicture("conservative", LiveFrame(status, (1.0,), (0.5,), 41000, 34567.0, 0.34), 10.0, ""))
    assert isinstance(console.file, StringIO)
    lines = console.file.getvalue().splitlines()
    assert lines[0].startswith("conservative  00:00:10 elapsed")
    assert [line.split()[0] for line in lines[1:]] == ["time", "jobs", "busy", "queue", "speed"]
    assert "20 237 of 28 481 ended, 16 in" in lines[2]
    assert "34 567 decisions/s" in lines[5]
    assert ("▄" in lines[3]) == (width == 80)


def test_the_bar_is_of_what_is_known() -> None:
    """1030 of 28481, or, where nobody says how many will come, of 1200."""
    bars = []
    for total in (28481, None):
        frame = LiveFrame(replace(STATUS, total=total), (), (), 0, 0.0, 0.0)
        console = Console(
            file=StringIO(), width=120, force_terminal=True, color_system="truecolor", legacy_windows=False
        )
        console.print(LivePicture("easy", frame, 0.0, ""))
        assert isinstance(console.file, StringIO)
        [line] = [line for line in console.file.getvalue().splitlines() if "ended" in line]
        bars.append(line.partition("\x1b[38;2;122;166;218m")[2].partition("\x1b")[0].count("━"))
    assert bars == [1, COLUMNS * 1030 // 1200]


@pytest.mark.parametrize(
    ("reason", "promise", "lines"),
    [
        ("needs 8 hosts", None, ["next w0!1 (8 hosts): needs 8 hosts", ""]),
        ("", None, ["next w0!1 (8 hosts): waits; the algorithm gave no reason", ""]),
        ("", Shadow(90121.0, 3), ["next w0!1 (8 hosts): waits", "     promised for 1 d 01:02:01, in 00:01:00"]),
        ("x", Claim(90000.0, 90121.0, 8), ["next w0!1 (8 hosts): x", "     promised for 1 d 01:00:00, in 00:00:00"]),
        (
            "x",
            Slot(90121.0, 90131.0, HostSet.parse("0-7")),
            ["next w0!1 (8 hosts): x", "     promised for 1 d 01:02:01, in 00:01:00 on hosts 0-7"],
        ),
    ],
)
def test_who_is_next_why_it_waits_and_until_when(
    reason: str, promise: Slot | Claim | Shadow | None, lines: list[str]
) -> None:
    """Always two lines."""
    first = NextJob(Job.create("w0!1", size=8, profile="p"), reason, promise)
    assert shown(next_lines(replace(STATUS, first=first))) == lines


def test_nobody_is_next() -> None:
    """Two lines all the same: what stands below does not jump."""
    assert shown(next_lines(STATUS)) == ["", ""]


def test_a_history_keeps_the_whole_run_in_a_few_values() -> None:
    """Slices double; what was seen first in a slice is its value, a mean once two were joined."""
    history = History(columns=4)
    for now in range(4):
        history.add(now, now)
    history.add(3.5, 100)
    assert history.values == (0, 1, 2, 3)
    history.add(4, 4)
    assert history.values == (0.5, 2.5, 4)
    history.add(15, 8)
    assert history.values == (1.5, 4, 4, 8)


def test_a_history_of_ages_is_no_longer() -> None:
    """A first message at 10**9 s."""
    history = History()
    history.add(1e9, 7)
    assert 1 <= len(history.values) <= COLUMNS
    assert set(history.values) == {7}


def test_the_books_of_the_simulator_give_the_numbers() -> None:
    """It does not know why jobs wait."""
    run = RunStatus(now=1.0, total=9, submitted=6, waiting=3, running=2, ended=1, hosts=8, computing=5, idle=2)
    status = simulation_status(run)
    assert (status.busy, status.down, status.rejected, status.first, status.ended) == (5, 1, None, None, 1)


def test_the_live_view_is_as_the_documentation_shows_it() -> None:
    """Drawn from such a status, without colours."""
    first = NextJob(Job.create("w0!13936", size=32, profile="p"), too_few(32, 1), Shadow(8_629_331.0, 0))
    status = LiveStatus(
        now=8_623_720.0,
        total=20_000,
        submitted=14_012,
        waiting=73,
        running=4,
        ended=13_935,
        rejected=0,
        hosts=64,
        busy=63,
        down=0,
        first=first,
    )
    queue = tuple(map(float, (30, 18, 5, 5, 30, 28, 40, 19, 17, 28, 28, 29, 50, 35, 52, 69, 62, 80, 73)))
    busy = (0.75, 1.0, 0.8, 0.75, 0.76, *[1.0] * 13, 0.98)
    frame = LiveFrame(status, queue, busy, 27_951, 25_862.0, 0.56)
    drawn = shown(Group(LivePicture("easy", frame, 2.1, "deciding"), next_lines(status)), no_color=True)
    [text] = [block.text for block in blocks(ROOT / "docs" / "cli.md") if block.language == "text"]
    assert text.splitlines() == drawn
