"""Commands take typed arguments, have --debug and --limit, and ask for packages of extras before work begins."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import get_type_hints

import click
import pytest
from click.testing import CliRunner
from msgspec import Struct

from batsched_py.cli.catalogue import COMMANDS
from batsched_py.cli.main import batsched, run
from batsched_py.cli.shared.command import call_with, current_limits, typed_command
from batsched_py.errors import ExtraError
from batsched_py.loading import require
from batsched_py.reading.limits import LIMITS, option_name
from tests.clone import ROOT, files

FILES = ("-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json"))
SIMULATE = ("simulate", *FILES, "-s", "easy", "--quiet")


@dataclass(frozen=True)
class Size:
    jobs: int = 1
    hosts: int = 2


class Request(Struct, frozen=True):
    size: Size
    name: str


def names(made: Callable[..., object]) -> set[str]:
    """The names of the values of a function's arguments, or of a record's fields, those of records in it included."""
    found = set()
    for name, hint in get_type_hints(made).items():
        nested = isinstance(hint, type) and (issubclass(hint, Struct) or is_dataclass(hint))
        found |= names(hint) if nested else {name}
    return found


def test_a_record_is_made_of_the_values_of_options() -> None:
    """A record in it takes those under its fields' names, and its defaults for others."""
    assert call_with(Request, {"name": "a", "hosts": 5}) == Request(Size(hosts=5), "a")
    with pytest.raises(TypeError, match="name"):
        call_with(Request, {"hosts": 5})


def test_a_command_hands_its_options_to_the_function() -> None:
    """Its help is the function's docstring."""
    seen = []

    @typed_command(limits=False)
    @click.option("--name")
    @click.option("--jobs", type=int)
    def command(request: Request) -> int:
        """Take it."""
        seen.append(request)
        return 4

    done = CliRunner().invoke(command, ["--name", "a", "--jobs", "7"], standalone_mode=False)
    assert (done.return_value, seen) == (4, [Request(Size(jobs=7), "a")])
    assert command.help == "Take it."
    assert [parameter.name for parameter in command.params] == ["name", "jobs", "debug", "help_json"]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_of_a_command_is_an_argument_of_its_function(name: str) -> None:
    """None is parsed and then forgotten; of a group it is so with each in it. All have the common options."""
    found = batsched.get_command(click.Context(batsched), name)
    for command in found.commands.values() if isinstance(found, click.Group) else [found]:
        assert command is not None
        assert command.callback is not None
        assert {option.name for option in command.params if option.expose_value} <= names(command.callback)
        assert {"debug", "help_json"} <= {option.name for option in command.params}


def test_each_module_of_commands_is_in_the_table() -> None:
    """Each row has its module."""
    modules = {path.stem.replace("_", "-") for path in files("batsched_py/cli/commands/*.py")} - {"--init--"}
    assert not modules - set(COMMANDS), f"add rows for {sorted(modules - set(COMMANDS))} to cli/catalogue.py"
    assert not set(COMMANDS) - modules, (
        f"add modules to cli/commands for {sorted(set(COMMANDS) - modules)} (tests see only tracked files: git add)"
    )


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The line that ends a command with exit code 2."""
    assert run(arguments) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("jobs=7", "first.json: jobs: must be at most 7 jobs (--limit jobs=N allows more)"),
        ("hosts=4", "is one host too many: a platform must be at most 4 hosts (--limit hosts=N allows more)"),
        ("file-size=100", "tiny4.xml: must be at most 100 bytes (--limit file-size=N allows more)"),
    ],
)
def test_a_lower_limit_refuses_what_is_larger(capsys: pytest.CaptureFixture[str], limit: str, told: str) -> None:
    """The line says how to raise it."""
    assert told in error(capsys, *SIMULATE, "--limit", limit)


def test_a_limit_that_is_raised_is_not_in_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    """Others stay as they are."""
    assert run([*SIMULATE, "--limit", "jobs=8", "--limit", "hosts=5"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    "command",
    [
        ("compare", *FILES, "-s", "easy"),
        ("report", "log.swf", "-o", "page.html"),
        ("metrics", "log.swf"),
        ("gantt", "log.swf"),
        ("plot", "waits", "log.swf", "-o", "waits.pdf"),
        ("convert", "log.swf", "-o", "w.json"),
        ("replay", "run.jsonl", "-s", "easy"),
        ("diff", "run.jsonl", "run.jsonl"),
    ],
)
def test_each_command_that_reads_has_limits(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """It applies them."""
    monkeypatch.chdir(tmp_path)
    Path("log.swf").write_text(" ".join(["1"] * 18) + "\n")
    Path("run.jsonl").write_text('{"seq":0,"from":"batsim","message":{}}\n' + " " * 2000)
    limits = [f"--limit={name}=10" for name in ("file-size", "line-size", "message-size")]
    assert "must be at most 10 bytes" in error(capsys, *command, *limits)


@pytest.mark.parametrize(
    "value", ["hosts", "host=5", "hosts=0", "hosts=-1", "hosts=1e3", "hosts=" + "9" * 5000, "depth=201"]
)
def test_what_is_no_limit_is_wrong_usage(capsys: pytest.CaptureFixture[str], value: str) -> None:
    """With the names there are, or the rule of the number."""
    assert "--limit" in error(capsys, *SIMULATE, "--limit", value)


def test_no_command_has_the_defaults() -> None:
    """As for whoever calls a reader from Python."""
    assert current_limits() is LIMITS


def test_each_limit_is_described_with_its_default() -> None:
    """In the table of the page."""
    page = (ROOT / "docs" / "cli.md").read_text()
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| ([\d ]+) \|", page, re.MULTILINE))
    told = {name: int(number.replace(" ", "")) for name, number in rows.items()}
    assert told == {option_name(name): getattr(LIMITS, name) for name in LIMITS.__struct_fields__}


def test_what_is_installed_is_not_imported() -> None:
    """It is only looked for."""
    sys.modules.pop("this", None)
    require("this", "poetry", "zen")
    assert "this" not in sys.modules


def test_a_missing_package_is_told_with_its_extra() -> None:
    """In one line, with the command that installs it."""
    with pytest.raises(ExtraError) as caught:
        require("there_is_no_such_package", "report", "report")
    assert str(caught.value) == 'report: needs there_is_no_such_package: pip install ".[report]" in a clone'
    assert caught.value.exit_code == 2
