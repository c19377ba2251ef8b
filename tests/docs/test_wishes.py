"""docs/i-want-to.md: each command does what a reader asks of it, with files of other pages in place of the reader's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import click
import pytest

from batsched_py.cli.catalogue import COMMANDS
from batsched_py.cli.main import batsched
from tests.clone import ROOT
from tests.docs import session
from tests.docs.pages import Block, blocks

PAGE: Final = ROOT / "docs" / "i-want-to.md"
#: Commands that are not run here (regular expressions) -> why.
NOT_RUN: Final = {
    r"batsched-py judge .*": "takes a minute; docs/judge.md runs it",
    r"batsched-py (serve|site) .*": "waits for others",
    r"batsched-py haizea .*": "docs/haizea-configuration.md runs it",
    r"batsched-py (campaign|compare) .*": "takes long; docs/campaigns.md and docs/comparison.md run them",
    r"batsched-py (gantt|report) .*": "takes long; README.md runs them",
}
_LOG: Final = "; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 20 -1 1 1 1 1 1 -1 -1 -1\n"


def wishes() -> list[str]:
    """The commands of the tables, from top to bottom."""
    return re.findall(r"^\| [^|]+ \| `([^`|]+)` \| \[", PAGE.read_text(), re.MULTILINE)


def _file(name: str, text: str) -> Block:
    return Block(0, "", name, text)


def _borrowed(page: str, title: str, name: str) -> Block:
    """A file that another page of docs shows."""
    [text] = [block.text for block in blocks(ROOT / "docs" / page) if block.title == title]
    return _file(name, text)


def test_each_wish_has_a_command_of_the_program() -> None:
    """One in each row; the command has these options."""
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and "| command |" not in line]
    commands = wishes()
    assert len(commands) == len(rows) > 20
    for command in commands:
        _, name, *values = shlex.split(command)
        assert name in COMMANDS
        found = batsched.get_command(click.Context(batsched), name)
        assert found is not None
        context = click.Context(found, info_name=name, resilient_parsing=True)
        if not isinstance(found, click.Group):
            found.parse_args(context, values)


def test_the_commands_of_wishes_succeed(tmp_path: Path) -> None:
    """From top to bottom in one folder, with files of the names that the page gives to those of a reader."""
    session.prepare(
        tmp_path,
        [
            _file("machine.xml", (ROOT / "platforms" / "cluster32.xml").read_text()),
            _file("jobs.json", (ROOT / "workloads" / "lublin200.json").read_text()),
            _file("log.swf", _LOG),
            _borrowed("slurm-tutorial.md", "slurm.conf", "slurm.conf"),
            _borrowed("how-to/run-pybatsim.md", "inOrder.py", "my_scheduler.py"),
        ],
    )
    recording = "batsched-py simulate -p machine.xml -w jobs.json -s fcfs --record run.jsonl --quiet"
    todo = [command for command in wishes() if not any(re.fullmatch(one, command) for one in NOT_RUN)]
    done = session.run(tmp_path, [recording, *todo])
    assert [(command, text) for command, (code, text) in zip([recording, *todo], done, strict=True) if code] == []


@pytest.mark.parametrize("pattern", NOT_RUN)
def test_what_is_not_run_is_a_wish(pattern: str) -> None:
    """An exception that nothing needs is a hole."""
    assert any(re.fullmatch(pattern, command) for command in wishes())
