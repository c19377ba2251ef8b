"""A short part of `make fuzz`, the same in every run; and all that it has ever found."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import strategies as st

from batsched_py.traces.formats import FORMATS, JSON, Format
from tests.fuzz.corpus import keep, kept
from tests.fuzz.judging import FindingError, check_lines, judged, told
from tests.fuzz.search import find, search
from tests.fuzz.targets import TARGETS, Target
from tests.thoroughness import thorough

#: Inputs for each target.
SHORT = thorough(10)


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_wrong_input_is_one_clear_line(target: Target) -> None:
    """Other input does no harm."""
    assert find(target, number=1, inputs=SHORT) is None


@pytest.mark.parametrize("form", [form for form in FORMATS.values() if form.content is not None])
def test_each_format_of_jobs_is_a_target(form: Format) -> None:
    """A new reader meets invalid input here first."""
    name = "workload" if form is JSON else form.name
    assert name in TARGETS, f"the format {form.name} has no target in tests/fuzz/targets.py: add Target({name!r}, ...)"


def test_the_corpus_has_inputs_of_known_targets() -> None:
    """A target that is renamed takes its folder along; without inputs the test below is skipped."""
    names = {name for name, _ in kept()}
    assert names
    assert names <= TARGETS.keys()


@pytest.mark.parametrize(("name", "path"), list(kept()), ids=[f"{name}-{path.name}" for name, path in kept()])
def test_what_was_found_is_mended(name: str, path: Path, tmp_path: Path) -> None:
    """Each file of the corpus once led to a crash, to an error of many lines, or to none in time."""
    TARGETS[name].attempt(path.read_bytes(), tmp_path)


def breaks_at_a_bang(content: bytes, folder: Path) -> None:
    assert b"!" not in content
    assert list(folder.iterdir()) == []


BROKEN = Target("broken", st.text("ab!", max_size=30).map(str.encode), breaks_at_a_bang)


def test_a_search_tells_and_returns_the_smallest_input_that_breaks() -> None:
    """It goes on until its time is over: here after three turns."""
    lines: list[str] = []
    over = iter([False, False, False, True])
    assert search([BROKEN, BROKEN], 5, lambda: next(over), lines.append) == [("broken", b"!")] * 3
    assert [line.partition(": ")[0] for line in lines[:-1]] == ["broken, seed 5"] * 2 + ["broken, seed 6"]
    assert lines[-1] == "3 turns of 50 inputs for 2 targets, from seed 5 on"


def test_what_is_found_is_kept_under_its_contents(tmp_path: Path) -> None:
    """Once, however often it is found."""
    paths = {keep("broken", b"!", tmp_path), keep("broken", b"!", tmp_path)}
    assert list(kept(tmp_path)) == [("broken", path) for path in paths]


@pytest.mark.parametrize("lines", [["a\x1b[2J"], ["fine", "x" * 9999], ["a\rb"]])
def test_lines_that_cannot_be_shown_are_findings(lines: list[str]) -> None:
    """They would do something to a terminal, or fill it."""
    with pytest.raises(FindingError):
        check_lines(lines)


def test_an_internal_error_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one in a command and in Python; one line with its exit code is none."""

    def fail(path: Path, **_: object) -> None:
        raise ValueError(path)

    assert told(tmp_path, "metrics", "nothing") == 2
    monkeypatch.setattr("batsched_py.traces.swf.read_swf", fail)
    with pytest.raises(FindingError, match=r"internal error: ValueError: log\.swf"):
        told(tmp_path, "convert", "log.swf", "-o", "w.json")
    with pytest.raises(ZeroDivisionError):
        judged(lambda: 1 / 0)
