"""Every command of README and docs is run, and does what the page shows."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from batsched_py.cli.shared.component_build import missing
from tests.docs import session
from tests.docs.following import NOT_RUN, SERVES, follow, needs_compiler, needs_engine, runnable
from tests.docs.pages import PAGES, PIPELINES, Step, blocks, name, shows, steps
from tests.redis_server import NONE, executable, free_port

WITH_COMMANDS = [page for page in PAGES if steps(page)]
#: Those with commands that are run here.
FOLLOWED = [page for page in WITH_COMMANDS if runnable(page) and not needs_engine(page)]


def elsewhere(todo: list[Step]) -> list[Step]:
    """With a port of their own in place of Redis's; the test is skipped if there is no server."""
    if executable() is None:
        pytest.skip(NONE)
    port = str(free_port())

    def moved(text: str) -> str:
        return text.replace("6379", port)

    return [replace(step, command=moved(step.command), shown=tuple(map(moved, step.shown))) for step in todo]


@pytest.mark.parametrize("page", FOLLOWED, ids=name)
def test_the_commands_of_a_page_do_what_it_shows(page: Path, tmp_path: Path) -> None:
    """Outputs are compared where they are shown; a command that fails must be followed by `echo $?`."""
    todo = runnable(page)
    if needs_compiler(page) and missing():
        pytest.skip(f"a library {missing()}")
    if any(step.command.startswith("redis-server ") for step in todo):
        todo = elsewhere(todo)
    if any(step.command.startswith("batsched-py site ") for step in todo):
        port = str(free_port())
        todo = [replace(step, command=step.command.replace("8080", port)) for step in todo]
        follow(page, todo, tmp_path, BATSCHED_PY_URL=f"http://127.0.0.1:{port}")
        return
    follow(page, todo, tmp_path)


SERVING = [page for page in WITH_COMMANDS if any(re.fullmatch(SERVES, step.command) for step in steps(page))]


@pytest.mark.parametrize("page", SERVING, ids=name)
def test_what_serve_prints_is_what_a_page_shows(page: Path, tmp_path: Path) -> None:
    """At a free port, and not for long, since no Batsim comes."""
    serving = [step for step in steps(page) if re.fullmatch(SERVES, step.command) and step.shown]
    session.prepare(tmp_path, [block for block in blocks(page) if block.title])
    done = session.run(tmp_path, [f"{step.command} -b 'tcp://127.0.0.1:*' --timeout 0.01" for step in serving])
    for step, (_, output) in zip(serving, done, strict=True):
        greeting = re.sub(r"(?<=127\.0\.0\.1:)\d+", "28000", output.splitlines()[0])
        assert [greeting] == list(step.shown)


@pytest.mark.parametrize("pattern", NOT_RUN)
def test_what_is_not_run_stands_somewhere(pattern: str) -> None:
    """An exception that nothing needs is a hole."""
    commands = [step.command for page in WITH_COMMANDS for step in steps(page)]
    assert any(re.fullmatch(pattern, command) for command in commands)


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
