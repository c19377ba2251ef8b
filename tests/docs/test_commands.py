"""Every command of README and docs is run, and does what the page shows."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.docs import session
from tests.docs.pages import PAGES, PIPELINES, ROOT, Step, blocks, name, shows, steps
from tests.redis_server import NONE, executable, free_port

#: Commands that are not run (regular expressions) -> why.
NOT_RUN = {
    r"make (test|check|bench|fix)": "runs this very test, or takes long",
    r"python -m tests\.benchmarks .*": "takes long",
    r"python3 -m venv .*|\. \.venv/bin/activate|pip install .*": "needs a network",
    r"batsim .*": "Batsim is not among what the tests need",
    r"nix-env .*": "needs Nix, and a network",
    r"(?s)docker run .*": "needs Batsim's public image",
    r"batsched-py serve -s \S+": "waits on Batsim's own port for a Batsim",
    r"python -m tests\.(acceptance|differential) .*": "needs traces and recordings that are not ours to publish",
}

WITH_COMMANDS = [page for page in PAGES if steps(page)]


def runnable(page: Path) -> list[Step]:
    """The page's commands, without those of the list above."""
    return [step for step in steps(page) if not any(re.fullmatch(pattern, step.command) for pattern in NOT_RUN)]


def elsewhere(todo: list[Step]) -> list[Step]:
    """With a port of their own in place of Redis's; the test is skipped if there is no server."""
    if executable() is None:
        pytest.skip(NONE)
    port = str(free_port())

    def moved(text: str) -> str:
        return text.replace("6379", port)

    return [replace(step, command=moved(step.command), shown=tuple(map(moved, step.shown))) for step in todo]


def told(command: str) -> str:
    """What is run for a command: `make demo` without the installation is the simulation that the Makefile names."""
    if command != "make demo":
        return command
    [demo] = re.findall(r"^DEMO = (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return str(demo)


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name)
def test_the_commands_of_a_page_do_what_it_shows(page: Path, tmp_path: Path) -> None:
    """Outputs are compared where they are shown; a command that fails must be followed by `echo $?`."""
    todo = runnable(page)
    if any(step.command.startswith("redis-server ") for step in todo):
        todo = elsewhere(todo)
    session.prepare(tmp_path, [block for block in blocks(page) if block.title])
    done = session.run(tmp_path, [told(step.command) for step in todo])
    for number, (step, (code, output)) in enumerate(zip(todo, done, strict=False)):
        where = f"{name(page)}:{step.line}: $ {step.command}"
        asked = number + 1 < len(todo) and todo[number + 1].command == "echo $?"
        assert code == 0 or asked, f"{where}\nexit code {code}\n{output}"
        difference = "\n".join(unified_diff(step.shown, output.splitlines(), "shown", "printed", lineterm=""))
        assert shows(step.shown, output), f"{where}\n{difference}"
    assert len(done) == len(todo), f"{name(page)}: the session ended after {len(done)} of {len(todo)} commands"


@pytest.mark.parametrize("pattern", NOT_RUN)
def test_what_is_not_run_stands_somewhere(pattern: str) -> None:
    """An exception that nothing needs is a hole."""
    commands = [step.command for page in WITH_COMMANDS for step in steps(page)]
    assert any(re.fullmatch(pattern, command) for command in commands)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_python_on_a_page_is_python(page: Path) -> None:
    """Files with a title are run by the commands; pieces without one can at least be parsed."""
    for block in blocks(page):
        if block.language == "python":
            compile(block.text, f"{name(page)}:{block.line}", "exec")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_each_file_of_a_page_is_used_by_its_commands(page: Path) -> None:
    """A listing that nothing runs may be wrong without anybody noticing."""
    commands = " ".join(step.command for step in steps(page))
    files = [block.title for block in blocks(page) if block.title and block.title not in PIPELINES]
    assert [title for title in files if title not in commands] == []


def test_what_a_page_shows_is_compared() -> None:
    """Line by line, but for what three dots stand for."""
    assert shows((), "anything")
    assert shows(("a", "...", "d"), "\na  \nb\nc\nd\n\n")
    assert shows(("wait ... s",), "wait 12 s")
    assert not shows(("a", "d"), "a\nb\nd\n")
    assert not shows(("a",), "b")
    assert not shows(("1.5",), "1x5")
