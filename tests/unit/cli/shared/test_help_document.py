"""The help as JSON is what the parsers accept, the same anywhere, and described in docs/cli.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import click
import pytest

from batsched_py.cli.catalogue import COMMANDS
from batsched_py.cli.main import batsched, run
from batsched_py.cli.shared.help_document import CommandHelp, OptionHelp, help_of
from tests.clone import ROOT

WHOLE: Final = help_of(batsched)


def every(command: CommandHelp = WHOLE) -> Iterator[CommandHelp]:
    """Yield a command and all its parts."""
    yield command
    for part in command.commands:
        yield from every(part)


def find(name: str) -> Mapping[str, OptionHelp]:
    """Return the options and arguments of a command, by their names in Python."""
    [found] = [command for command in every() if command.name == name]
    return {option.name: option for option in (*found.arguments, *found.options)}


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Return the document that a command prints."""
    assert run([*words, "--help-json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_all_commands_are_in_it_in_the_order_of_the_help() -> None:
    """With their groups and examples; subcommands within their commands."""
    assert [command.name for command in WHOLE.commands] == list(COMMANDS)
    assert all(command.group and command.example and command.help for command in WHOLE.commands)
    assert {"lease request", "site users quota", "campaign run"} <= {command.name for command in every()}
    assert all({"debug", "help_json"} <= {option.name for option in command.options} for command in every())


def test_a_command_prints_its_part_of_the_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On any terminal; other arguments are not needed."""
    monkeypatch.setenv("COLUMNS", "30")
    whole = printed(capsys)
    [lease] = [command for command in whole["commands"] if command["name"] == "lease"]
    head = {"format": 1, "program": "batsched-py"}
    assert printed(capsys, "lease") == head | lease
    assert printed(capsys, "lease", "request") == head | next(
        part for part in lease["commands"] if part["name"] == "lease request"
    )


def test_kinds_of_options_are_told_apart() -> None:
    """Choices, bounds, defaults, repetition, flags that can be turned off, several values."""
    options = find("simulate")
    on_failure, workloads, platform = options["on_failure"], options["workloads"], options["platform"]
    assert (on_failure.type, on_failure.choices, on_failure.default) == (
        "choice",
        ["ignore", "kill", "requeue"],
        "ignore",
    )
    assert (workloads.names, workloads.type, workloads.repeats) == (["-w", "--workload"], "path", True)
    assert (platform.required, platform.repeats) == (True, False)
    assert (options["redis_port"].minimum, options["redis_port"].maximum) == (1, 65535)
    assert (options["started_workflows"].values, options["started_workflows"].type) == (2, "(path, number)")
    assert options["acknowledge_dynamic_jobs"].off == ["--no-acknowledge-dynamic-jobs"]
    level = find("compare")["level"]
    assert (level.minimum, level.open_minimum, level.maximum, level.open_maximum) == (0, True, 1, True)
    assert find("queue")["url"].variable == "BATSCHED_PY_URL"
    assert (find("metrics")["paths"].values, find("metrics")["paths"].repeats) == (-1, True)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_named_as_the_parser_names_it(name: str) -> None:
    """None is missing, none is more."""
    found = batsched.get_command(click.Context(batsched), name)
    assert found is not None
    accepted = {text for one in found.get_params(click.Context(found)) for text in (*one.opts, *one.secondary_opts)}
    described = {text for one in find(name).values() for text in (*(one.names or [one.name]), *one.off)}
    assert described == accepted


# The documentation.


def sections() -> tuple[str, dict[str, str]]:
    """Return the general sections of docs/cli.md, and the section of each command."""
    first, *parts = re.split(r"^## (.+)$", (ROOT / "docs" / "cli.md").read_text(), flags=re.MULTILINE)
    found = dict(zip(parts[::2], parts[1::2], strict=True))
    general = [text for heading, text in found.items() if heading not in COMMANDS]
    return "".join([first, *general]), {heading: text for heading, text in found.items() if heading in COMMANDS}


def with_links(text: str, commands: Mapping[str, str]) -> str:
    """Return a text with the sections of commands that it links to, and with all pages that these link to."""
    text += "".join(commands.get(target, "") for target in re.findall(r"\]\(#([a-z-]+)\)", text))
    pages = dict.fromkeys(re.findall(r"\]\(([a-z0-9/-]+\.md)", text))
    return text + "".join((ROOT / "docs" / page).read_text() for page in pages)


GENERAL, SECTIONS = sections()
SHARED: Final = with_links(GENERAL, SECTIONS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_on_the_page_of_commands_or_on_one_that_it_links_to(name: str) -> None:
    """In the section of the command, or in one for several commands; by one of its names."""
    text = SHARED + with_links(SECTIONS[name], SECTIONS)
    words = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text))
    [command] = [one for one in WHOLE.commands if one.name == name]
    missing = [
        f"{part.name} {option.names[-1]}"
        for part in every(command)
        for option in part.options
        if not words.intersection((*option.names, *option.off))
    ]
    assert not missing, f"docs/cli.md: section {name}: describe {', '.join(missing)}"


def test_the_members_of_the_document_are_described() -> None:
    """On the same page."""
    assert all(f"`{member}`" in GENERAL for member in (*CommandHelp.__struct_fields__, *OptionHelp.__struct_fields__))
