"""The prose of README and docs keeps to the rules of tests/docs/prose.py, and these find what they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clone import ROOT
from tests.docs.pages import name
from tests.docs.prose import RULES, comments, findings, main, modules, pages, texts


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


def test_no_module_breaks_a_rule() -> None:
    """Errors, warnings, helps of commands and options, docstrings, comments: each finding names its module."""
    broken = []
    for module in modules():
        source = module.read_text()
        broken += [(name(module), finding) for finding in (*texts(source), *comments(source))]
    assert broken == []
    assert ROOT / "schedulers" / "easy.py" in modules()


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
    """And not with a word that asks."""
    found = [finding.words for finding in texts(f'def f():\n    """{docstring}"""\n')]
    assert found == ([riddle] if riddle else [])


def test_each_rule_proposes_something() -> None:
    """Whoever breaks it is to know what to write."""
    assert all(rule.instead for rule in RULES)


def test_the_command_prints_a_line_for_each_finding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With its place; the exit code is 1."""
    page = tmp_path / "page.md"
    page.write_text("Fine.\n\nNot told.\n")
    monkeypatch.setattr("tests.docs.prose.ROOT", tmp_path)
    module = tmp_path / "module.py"
    module.write_text('raise Error("is told")\n')
    monkeypatch.setattr("tests.docs.prose.pages", lambda: [page])
    monkeypatch.setattr("tests.docs.prose.modules", lambda: [module])
    assert main() == 1
    lines = [f"{place}: 'told': rather: reported, shown, in the file" for place in ("page.md:3", "module.py:1")]
    assert capsys.readouterr().out.splitlines() == lines
