"""Lines on what an input says and is not obeyed."""

from batsched_py.reading.notes import MOST_KINDS, Notes


def test_what_is_said_often_is_one_line_with_its_number_and_first_place() -> None:
    """A workload with a million such jobs yields a line, not a million."""
    notes = Notes("w.json")
    for number in range(3, 6):
        notes.add("member gpus of a job is not obeyed", f"jobs[{number}]")
    notes.add("member x is unknown", "jobs[9]")
    notes.add("zones are nested")
    assert notes.lines() == (
        "w.json: member gpus of a job is not obeyed (3 times, first in jobs[3])",
        "w.json: member x is unknown (jobs[9])",
        "w.json: zones are nested",
    )


def test_lines_do_not_grow_with_the_input() -> None:
    """A hostile file with a million names costs as many lines as the limit allows."""
    notes = Notes("w.json")
    for number in range(MOST_KINDS + 7):
        notes.add(f"member x{number} is unknown")
    assert len(notes.lines()) == MOST_KINDS + 1
    assert notes.lines()[-1] == "w.json: 7 more of other kinds are not listed"


def test_names_from_outside_are_escaped() -> None:
    """A file's name or a place cannot command the terminal."""
    notes = Notes("a\x1b[2J")
    notes.add("x is unknown", "jobs\n")
    assert notes.lines() == (r"a\x1b[2J: x is unknown (jobs\n)",)
