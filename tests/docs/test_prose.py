"""The prose of README and docs keeps to the rules of tests/docs/prose.py, and these find what they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clone import ROOT
from tests.docs.pages import name
from tests.docs.prose import (
    MODULE_NAMES,
    NAMES,
    PUBLIC_NAMES,
    RULES,
    comments,
    findings,
    main,
    modules,
    names,
    pages,
    texts,
)


@pytest.mark.parametrize("page", pages(), ids=name)
def test_a_page_breaks_no_rule(page: Path) -> None:
    """Each finding names its line, the words, and what to write."""
    assert list(findings(page.read_text())) == []


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("A job waits for ever.", 1, "for ever"),
        ("One.\n\nA job waits for\never.", 3, "for ever"),
        ("What is left out is told in a note.", 1, "told"),
        ("The header tells which files are meant.", 1, "tells which"),
        ("It stands in the table, and the file lies beside it.", 1, "stands in"),
        ("* Batsim aborts, ours goes on.", 1, "ours"),
        ("| `x` | Nobody overtakes. |", 1, "Nobody"),
        ("All is well. Read are files of version 4.", 1, "Read are"),
        ("It waits, and so do the others, so is a job of 2.", 1, "so do the"),
        ("The wait is 4 s in the mean.", 1, "in the mean"),
    ],
)
def test_words_are_found_where_they_are(text: str, line: int, words: str) -> None:
    """By the first letter of the line of the page, also where a line ends between two words."""
    first = next(findings(text))
    assert (first.line, first.words) == (line, words)


@pytest.mark.parametrize(
    "text",
    [
        "`told` and ``the `told` of`` are names.",
        "[A page](how-to/beside-batsim.md), https://example.org/told",
        "```console\n$ echo told\n```",
        "The meantime, a cross-standstills word, a stand-alone program, what Batsim tells the algorithm.",
        "Hours of hours, a storage, a prebeside.",
    ],
)
def test_code_and_other_words_are_not(text: str) -> None:
    """Names and outputs in text about code are as they are."""
    assert list(findings(text)) == []


def test_all_modules_are_read_by_make_check() -> None:
    """Errors, warnings, helps of commands and options, docstrings, comments, names: a linter among the linters."""
    assert {ROOT / "schedulers" / "easy.py", ROOT / "batsched_py" / "api.py"} <= set(modules())
    assert "-m tests.docs.prose" in (ROOT / "Makefile").read_text()


def test_strings_docstrings_and_comments_are_read() -> None:
    """A string of one word may be a name; a sentence of a comment may go over several lines."""
    source = """def f():
    '''It is
    told.'''
    raise E("told", f"{x} was told twice")  # for
    # ever
"""
    assert [(finding.line, finding.words) for finding in texts(source)] == [(3, "told"), (4, "told")]
    assert [(finding.line, finding.words) for finding in comments(source)] == [(4, "for ever")]


@pytest.mark.parametrize(
    ("docstring", "riddle"), [("What is done.", "What"), ("Whatever runs.", "Whatever"), ("A job.", "")]
)
def test_a_docstring_begins_with_a_noun_or_a_verb(docstring: str, riddle: str) -> None:
    """It does not begin with a question word."""
    found = [finding.words for finding in texts(f'def f():\n    """{docstring}"""\n')]
    assert found == ([riddle] if riddle else [])


@pytest.mark.parametrize(
    ("source", "line", "found"),
    [
        ("def tell_jobs(): ...", 1, "tell_jobs"),
        ("async def _jobs_told(): ...", 1, "_jobs_told"),
        ("class ToldBy: ...", 1, "ToldBy"),
        ("class A:\n    untold: int", 2, "untold"),
        ("def f(*, put_aside): ...", 1, "put_aside"),
        ("f(\n    lambda said: 1)", 2, "said"),
        ("self.jobs = self._theirs = 1", 1, "_theirs"),
        ("MOST_TOLD = 3", 1, "MOST_TOLD"),
        ("given, own = 1, 2\ndef f(own_hosts): ...", 2, "own_hosts"),
        ("for nobody in ():\n    nobody = 1", 1, "nobody"),
        ("stellar, untellable, HTTPStory = 1, 2, 3", 1, "HTTPStory"),
    ],
)
def test_a_word_of_a_name_is_found(source: str, line: int, found: str) -> None:
    """Between underscores, and from a capital on; where the name is defined first, and only once."""
    assert [(one.line, one.words) for one in names(Path("jobs.py"), source)] == [(line, found)]


def test_names_of_others_are_not_read() -> None:
    """A name that is only used is one of a library."""
    assert list(names(Path("jobs.py"), "place = file.tell() + study.told\nimport nobody")) == []


@pytest.mark.parametrize(
    ("module", "found"),
    [("making", True), ("a_story", True), ("live", True), ("live_view", False), ("lease_making", False)],
)
def test_the_name_of_a_module_is_a_noun(module: str, found: bool) -> None:
    """A word that says nothing alone may be part of a name."""
    assert [one.words for one in names(Path(f"{module}.py"), "")] == [module] * found


def test_each_rule_proposes_something() -> None:
    """The finding shows what to write instead."""
    assert all(rule.instead for rule in (*RULES, *NAMES, *PUBLIC_NAMES, *MODULE_NAMES))


def test_the_command_prints_a_line_for_each_finding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With its place; the exit code is 1."""
    page = tmp_path / "page.md"
    page.write_text("Fine.\n\nNot told.\n")
    monkeypatch.setattr("tests.docs.prose.ROOT", tmp_path)
    module = tmp_path / "module.py"
    module.write_text('raise Error("is told")\ntold = 1\n')
    monkeypatch.setattr("tests.docs.prose.pages", lambda: [page])
    monkeypatch.setattr("tests.docs.prose.modules", lambda: [module])
    assert main() == 1
    lines = [f"{place}: 'told': rather: reported, shown, in the file" for place in ("page.md:3", "module.py:1")]
    assert capsys.readouterr().out.splitlines() == [
        *lines, "module.py:2: 'told': rather: report, notify, show, warn, text"
    ]  # fmt: skip
