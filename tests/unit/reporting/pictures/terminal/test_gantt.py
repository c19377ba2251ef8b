"""The picture, as text."""

from __future__ import annotations

from io import StringIO
from typing import Literal

import pytest
from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from batsched_py.reporting.api import Schedule
from batsched_py.reporting.pictures.colouring import LIGHT, job_colour
from batsched_py.reporting.pictures.terminal import gantt
from batsched_py.reporting.pictures.terminal.looks import LETTERS, letter
from batsched_py.reporting.pictures.terminal.signs import CROSS
from batsched_py.reporting.pictures.window import Window
from batsched_py.reporting.schedules.outages import Outage
from batsched_py.results.records import Result
from tests.builders import hosts
from tests.unit.reporting import lease_runs
from tests.unit.reporting.records import record, rejected, result

#: The EASY example of workloads/first.json.
FIRST = result(
    record("A", submit=0, start=0, finish=40, hosts="0-2"),
    record("B", submit=5, start=40, finish=60, hosts="0-3"),
    record("C", submit=10, start=10, finish=35, hosts="3"),
    record("D", submit=15, start=60, finish=120, hosts="0"),
    record("E", submit=20, start=60, finish=90, hosts="1-2"),
    record("F", submit=65, start=90, finish=110, hosts="1-2"),
    record("G", submit=70, start=70, finish=150, hosts="3"),
    record("H", submit=75, start=110, finish=120, hosts="1"),
)
PICTURE = """\
8 jobs on 4 hosts; a column is 2.5 s
      3 │    CCCCCCCCCC  BBBBBBBB    GGGGGGGGGGGGGGGGGGGGGGGGGGGGGGGG
      2 │AAAAAAAAAAAAAAAABBBBBBBBEEEEEEEEEEEEFFFFFFFF
      1 │AAAAAAAAAAAAAAAABBBBBBBBEEEEEEEEEEEEFFFFFFFFHHHH
      0 │AAAAAAAAAAAAAAAABBBBBBBBDDDDDDDDDDDDDDDDDDDDDDDD
        └┬───────────┬───────────┬───────────┬───────────┬───────────
         0         30 s        1 min     1 min 30      2 min
      3 │      ▃▃████████▃▃▃▃▃▃▃▃      ▃▃▃▃▃▃
waiting │  ▅▅▅▅██████████████████  ▅▅▅▅██████▅▅▅▅▅▅▅▅
  100 % │▄▄▄▄██████████▄▄████████▄▄▄▄████████████████▄▄▄▄
   busy │████████████████████████████████████████████████▄▄▄▄▄▄▄▄▄▄▄▄"""


def render(run: Result, width: int = 100, height: int = 16, window: Window | None = None) -> Text:
    """The picture of a simulation."""
    return gantt.render(Schedule("run", run.jobs, run.host_count, {}), width, height, window)


def test_the_textbook_example_looks_like_this() -> None:
    """Letters, blanks, axis and charts."""
    assert render(FIRST, width=69).plain == PICTURE


def test_the_picture_does_not_depend_on_the_order_of_completion() -> None:
    """Letters and colours go by submission."""
    backwards = result(*reversed(FIRST.jobs))
    assert render(backwards, 80) == render(FIRST, 80)


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("hosts", [1, 7, 32, 10_000])
def test_every_line_fits_the_width_and_the_rows_fit_the_height(width: int, hosts: int) -> None:
    """However many hosts."""
    picture = render(result(record(hosts=f"0-{hosts - 1}"), hosts=hosts), width, height=16)
    lines = picture.plain.splitlines()
    assert max(map(len, lines)) <= width
    assert len([line for line in lines if "AAAA" in line]) <= 16


def test_a_crowded_cell_shows_how_busy_it_is_and_no_letter() -> None:
    """Ten jobs of a second in each ten seconds, on 1 of 2 hosts."""
    crowd = [record(str(second), start=second, finish=second + 1, hosts="0") for second in range(1000)]
    row = render(result(*crowd, hosts=2), 109, height=1).plain.splitlines()[1]
    assert row == "    0-1 │" + "▒" * 100


def test_half_a_cell_is_enough_for_a_letter() -> None:
    """One of the two hosts of a row."""
    row = render(result(record(hosts="0"), hosts=2), 109, height=1).plain.splitlines()[1]
    assert row == "    0-1 │" + "A" * 100


def test_jobs_that_are_gone_in_no_time_leave_a_dot() -> None:
    """Something ran there."""
    jobs = [record("1", start=0, finish=0.01), record("2", start=99, finish=100)]
    assert render(result(*jobs, hosts=1), 109).plain.splitlines()[1].startswith("      0 │· ")


def test_colours_are_there_for_terminals_and_not_for_files() -> None:
    """The text is the same."""
    outputs = []
    for terminal in (True, False):
        colours: Literal["truecolor"] | None = "truecolor" if terminal else None
        console = Console(file=StringIO(), width=80, force_terminal=terminal, color_system=colours)
        console.print(render(FIRST, 80))
        assert isinstance(console.file, StringIO)
        outputs.append(console.file.getvalue())
    assert "\x1b[30;48;2;" in outputs[0], "black on the job's colour, and not dim like the frame"
    assert outputs[1].splitlines() == render(FIRST, 80).plain.splitlines()


def test_a_few_jobs_with_other_names_than_their_letters_have_a_legend() -> None:
    """Two workloads: whole ids."""
    assert render(result(record("7"), record("8", submit=1)), 80).plain.splitlines()[-1] == "A=7  B=8"
    both = result(record("1"), record("1", submit=1, workload="w1"))
    assert render(both, 80).plain.splitlines()[-1] == "A=w0!1  B=w1!1"


def test_a_legend_is_silent_on_jobs_that_are_not_in_the_picture() -> None:
    """B was rejected."""
    picture = render(result(record("7"), rejected("8", submit=1), record("9", submit=2)), 80)
    assert picture.plain.splitlines()[-1] == "A=7  C=9"


def test_a_legend_is_silent_on_jobs_that_had_storage_only() -> None:
    """They have no row."""
    picture = render(result(record("7"), record("8", submit=1, hosts="4"), record("9", submit=2, hosts="1")), 80)
    assert picture.plain.splitlines()[-1] == "A=7  C=9"


def test_a_machine_is_drawn_on_its_own_hosts() -> None:
    """In a window on a larger one, too."""
    assert render(FIRST, window=Window(0.0, 150.0, tuple(range(16)))) == render(FIRST)


def test_jobs_that_took_no_time_are_drawn_on_a_second() -> None:
    """Nothing is divided by zero."""
    assert "1 job on 4 hosts" in render(result(record(finish=0.0))).plain


def test_a_machine_without_hosts_has_no_picture() -> None:
    """All its jobs had storage only."""
    assert render(result(record(), hosts=0)).plain == "Nothing to draw: there is no host."


def test_many_jobs_have_no_legend() -> None:
    """It would be longer than the picture."""
    many = result(
        *(record(f"long-name-{number}", submit=number, start=number, finish=number + 1) for number in range(40)),
        hosts=1,
    )
    assert "=" not in render(many, 80).plain


def test_a_legend_says_nothing_of_jobs_that_have_their_own_letters() -> None:
    """A is A."""
    assert "=" not in render(FIRST, 80).plain


@pytest.mark.parametrize("records", [[], [rejected()]])
def test_without_a_job_that_ran_it_says_so(records: list[object]) -> None:
    """It does not divide by zero."""
    assert render(result(*records)).plain == "Nothing to draw: no job ran."  # type: ignore[arg-type]


def test_rejected_jobs_do_not_wait() -> None:
    """Nobody knows until when they did."""
    waiting = render(result(record(), rejected()), 80).plain.splitlines()[-4:-2]
    assert not any(set(line) & set("▁▂▃▄▅▆▇█") for line in waiting)


def test_letters_and_colours_together_tell_many_jobs_apart() -> None:
    """Their cycles have no common divisor."""
    looks = {(letter(number), job_colour(number)) for number in range(len(LETTERS) * len(LIGHT))}
    assert len(looks) == len(LETTERS) * len(LIGHT)


def test_a_lease_keeps_its_letter_and_signs_tell_of_its_suspension() -> None:
    """The quickstart of Haizea's manual: its second segment is A, too."""
    picture = gantt.render(lease_runs.schedule(), 60).plain.splitlines()
    assert picture[1:5] == [
        "      3 │                ░BBBBBBBBBBBBBBBBB",
        "      2 │                ░BBBBBBBBBBBBBBBBB",
        "      1 │                ░BBBBBBBBBBBBBBBBB",
        "      0 │AAAAAAAAAAAAAAAA↓BBBBBBBBBBBBBBBB↑AAAAAAAAAAAAAAAAA",
    ]
    assert picture[-2:] == ["A=1  B=2", "↓ suspended  ↑ resumed"]


def test_signs_are_shown_where_they_take_a_fifth_of_a_cell() -> None:
    """Half a minute, 2 s in a column."""
    run = lease_runs.schedule()
    picture = gantt.render(run, 60, window=Window(1750.0, 1850.0, (0, 1))).plain.splitlines()
    assert picture[2] == "      0 │AAAAAAAAA↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓↓BBBBBBBBBBBBBBBBBBBBBBBBB"
    assert picture[-1] == "↓ suspended"  # the resumption is elsewhere


def test_signs_that_are_nowhere_to_be_seen_are_not_explained() -> None:
    """A suspension of half a minute in columns of some five."""
    assert gantt.render(lease_runs.schedule(), 28).plain.splitlines()[-1] == "A=1  B=2"


def test_hosts_that_were_unavailable_are_crossed_where_no_job_is() -> None:
    """A job that goes on there keeps its letter; what the cross means stands below."""
    run = Schedule("run", (record("A", finish=40, hosts="0-1"),), 2, {}, outages=(Outage(20, 30, hosts("0-1")),))
    idle = replace(run, jobs=(record("A", finish=40, hosts="0"),))
    assert CROSS[0] not in gantt.render(run, 60).plain
    upper, lower, *_, last = gantt.render(idle, 60).plain.splitlines()[1:]
    assert (upper.count(CROSS[0]), lower.count(CROSS[0]), last) == (13, 0, f"{CROSS[0]} unavailable")
    assert CROSS[0] not in gantt.render(idle, 60, window=Window(0, 20, (0, 1))).plain
    assert gantt.render(idle, 60, window=Window(0, 40, (1,))).plain.count(CROSS[0]) == 14
