"""Pages of the documentation: their fenced blocks, and the commands with their outputs in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.clone import ROOT, below, files

#: Every page that a reader may follow; notes that somebody keeps in a clone are none.
PAGES = sorted([*files("*.md"), *below("docs", "*.md")])

#: Files on pages that no command names, because a service reads them: test_continuous_integration.py does it instead.
PIPELINES = (".github/workflows/decisions.yml", ".gitlab-ci.yml")

_FENCE = re.compile(
    r"^(?P<fence>`{3,})(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: `console`, `python`... A block with a title is a file that the page's commands use."""

    line: int
    language: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """A command as after `$ `, and the lines that the page shows below it."""

    line: int
    command: str
    shown: tuple[str, ...]


def name(page: Path) -> str:
    """The page's path as readers know it."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, from top to bottom."""
    text = page.read_text()
    return [
        Block(text.count("\n", 0, match.start()) + 1, match["language"], match["title"] or "", match["text"])
        for match in _FENCE.finditer(text)
    ]


def steps(page: Path) -> list[Step]:
    """The commands of a page's console blocks."""
    return [step for block in blocks(page) if block.language == "console" for step in _steps(block)]


def _steps(block: Block) -> Iterator[Step]:
    lines = block.text.splitlines()
    starts = [position for position, line in enumerate(lines) if line.startswith("$ ")]
    assert starts[:1] == [0], f"line {block.line}: a console block begins with a command"
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        last = start
        while lines[last].endswith("\\"):
            last += 1
        command = "\n".join([lines[start].removeprefix("$ "), *lines[start + 1 : last + 1]])
        yield Step(block.line + 1 + start, command, tuple(lines[last + 1 : end]))


def shows(shown: tuple[str, ...], output: str) -> bool:
    """True if the output is as the page shows it.

    A line `...` stands for any lines, `...` inside a line for any text. Blanks at the ends of lines and blank lines
    around the whole do not count. A page that shows nothing says nothing.
    """
    expected = _trimmed("\n".join(shown))
    if not expected:
        return True
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + r"\n"
        for line in expected.split("\n")
    )
    return re.fullmatch(pattern, _trimmed(output) + "\n") is not None


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
