"""Every code block of README and docs is checked by something: a language that nothing checks is an error here."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from defusedxml import ElementTree
from markdown_it import MarkdownIt

from tests.clone import ROOT, files
from tests.docs.pages import PAGES, Block, blocks, name

#: Dockerfiles are made of these.
INSTRUCTIONS = set(
    re.findall(r"\w+", "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN SHELL USER VOLUME WORKDIR")
)


def run_elsewhere(text: str) -> None:
    """Accept a `console` block: test_commands.py runs its commands, and the files that they name."""


def check_python(text: str) -> None:
    """It can be parsed, and what it imports from us is there."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("batsched_py"):
            module = importlib.import_module(node.module)
            missing = [alias.name for alias in node.names if not hasattr(module, alias.name)]
            assert missing == [], f"{node.module} has no {missing}"


def check_bash(text: str) -> None:
    """Bash can parse it."""
    parsed = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    assert parsed.returncode == 0, parsed.stderr


def check_dockerfile(text: str) -> None:
    """Each logical line begins with an instruction."""
    joined = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    words = [line.split()[0] for line in joined.splitlines() if line.strip()]
    assert words[:1] in (["FROM"], ["ARG"])
    assert set(words) <= INSTRUCTIONS


def check_markdown(text: str) -> None:
    """A beginning of a block, to show how a title is written."""
    assert re.match(r"```\w+ title=\"[^\"]+\"\n", text)


#: Language -> what checks a block of it. Files (blocks with a title) are also used by the commands of their page.
CHECKS: dict[str, Callable[[str], object]] = {
    "console": run_elsewhere,
    "bash": check_bash,
    "python": check_python,
    "json": json.loads,
    "yaml": yaml.safe_load,
    "toml": tomllib.loads,
    "xml": ElementTree.fromstring,
    "dockerfile": check_dockerfile,
    "markdown": check_markdown,
}

#: Pages with blocks of plain text that no command of theirs uses -> the module and the test in it that checks these.
PLAIN = {
    "docs/design.md": ("tests/docs/test_blocks.py", "test_the_packages_of_the_design_are_there"),
    "docs/notebook.md": ("tests/docs/test_notebook.py", "test_the_page_is_the_notebook"),
    "docs/cli.md": (
        "tests/unit/reporting/pictures/terminal/test_live_picture.py",
        "test_the_live_view_is_as_the_documentation_shows_it",
    ),
}


def in_lines(block: Block) -> bool:
    """True if each line is a JSON value of its own, as in a file of events."""
    return block.language == "json" and block.title.endswith(".txt")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_each_block_of_a_page_is_checked(page: Path) -> None:
    """By its language."""
    for block in blocks(page):
        where = f"{name(page)}:{block.line}"
        if block.language == "text":
            assert block.title or name(page) in PLAIN, f"{where}: plain text that no test of PLAIN checks"
            continue
        assert block.language in CHECKS, f"{where}: nothing checks blocks of {block.language or 'no language'}"
        for text in block.text.splitlines() if in_lines(block) else [block.text]:
            try:
                CHECKS[block.language](text)
            except Exception as error:  # of any parser
                raise AssertionError(f"{where}: {error}") from error


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_block_is_overlooked(page: Path) -> None:
    """Every block of code in Markdown is one of those that are checked, however it is fenced."""
    tokens = [token for token in MarkdownIt().parse(page.read_text()) if token.type in ("fence", "code_block")]
    assert [token.map[0] + 1 for token in tokens if token.map] == [block.line for block in blocks(page)]
    assert "<pre" not in page.read_text()


@pytest.mark.parametrize("page", PLAIN)
def test_plain_text_is_checked_where_it_is_said_to_be(page: str) -> None:
    """An exception that nothing needs is a hole."""
    module, test = PLAIN[page]
    assert f"def {test}(" in (ROOT / module).read_text()
    assert any(block.language == "text" and not block.title for block in blocks(ROOT / page))


def test_the_packages_of_the_design_are_there() -> None:
    """Each with the sentence of the page."""
    [block] = [block for block in blocks(ROOT / "docs" / "design.md") if block.language == "text"]
    names = [line.split()[0] for line in block.text.splitlines()]
    folders = {path.parent.name for path in files("batsched_py/*/__init__.py")}
    assert folders - {entry.rstrip("/") for entry in names} == set()
    for entry in names:
        assert any((ROOT / folder / entry).exists() for folder in ("", "batsched_py", "schedulers")), entry


def test_the_readmes_algorithm_has_fewer_than_20_lines() -> None:
    """Blank lines included: a newcomer types it."""
    [block] = [block for block in blocks(ROOT / "README.md") if block.title == "my_algorithm.py"]
    assert len(block.text.splitlines()) < 20


def test_a_wrong_block_is_found() -> None:
    """Each language that is parsed has a wrong block."""
    wrong = {
        "bash": "for a in b; do",
        "python": "from batsched_py.api import Nothing\n",
        "json": "{",
        "yaml": "a: [",
        "toml": "a = \n",
        "xml": "<a>",
        "dockerfile": "FROM a\nRAN b\n",
        "markdown": "none",
    }
    assert wrong.keys() | {"console"} == CHECKS.keys()
    for language, text in wrong.items():
        with pytest.raises(Exception):  # noqa: B017, PT011  (whatever the parser raises)
            CHECKS[language](text)
