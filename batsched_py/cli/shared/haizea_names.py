"""The translation of Haizea's commands and options: `haizea-request-lease -t now` is `lease request --start now`.

B. Sotomayor, "The Haizea manual", 2009, appendix A.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import click

#: Translation of an option whose value becomes an argument.
_VALUE: Final = ""
_DEBUG: Final = {"-D": "--debug", "--debug": "--debug"}
_SERVER: Final = {**_DEBUG, "-s": "--url", "--server": "--url"}


class HaizeaCommand(NamedTuple):
    """The translation of one of Haizea's commands: words of the command, and Haizea's options -> its options.

    `flags` are options without a value.
    """

    words: tuple[str, ...]
    options: Mapping[str, str]
    flags: frozenset[str] = frozenset({"-D", "--debug"})


def _same(*pairs: str) -> dict[str, str]:
    """Return options with equal names in both programs, by their short and long names."""
    return {name: pair.split()[1] for pair in pairs for name in pair.split()}


#: Haizea's command -> its translation.
HAIZEA_COMMANDS: Final[Mapping[str, HaizeaCommand]] = {
    "haizea-request-lease": HaizeaCommand(
        ("lease", "request"),
        {
            **_SERVER,
            **_same("-f --file", "-t --start", "-d --duration", "-c --cpu"),
            "-n": "--nodes",
            "--numnodes": "--nodes",
            "-m": "--memory",
            "--mem": "--memory",
            "-i": "--image",
            "--vmimage": "--image",
            "-z": "--image-size",
            "--vmimagesize": "--image-size",
            "--preemptible": "--preemptible",
            "--non-preemptible": "--non-preemptible",
        },
        frozenset({"-D", "--debug", "--preemptible", "--non-preemptible"}),
    ),
    "haizea-cancel-lease": HaizeaCommand(("lease", "cancel"), {**_SERVER, "-l": _VALUE, "--lease": _VALUE}),
    "haizea-list-leases": HaizeaCommand(("lease", "list"), _SERVER),
    "haizea-show-queue": HaizeaCommand(("queue",), _SERVER),
    "haizea-list-hosts": HaizeaCommand(("hosts",), _SERVER),
    "haizea-generate-configs": HaizeaCommand(("haizea", "multi"), {**_DEBUG, **_same("-c --conf", "-d --dir")}),
    "haizea-generate-scripts": HaizeaCommand(
        ("haizea", "multi"),
        {
            **_DEBUG,
            **_same("-c --conf", "-t --template", "-m --only-missing"),
            "-d": "--dir",
            "--confdir": "--dir",
        },
        frozenset({"-D", "--debug", "-m", "--only-missing"}),
    ),
    "haizea-convert-data": HaizeaCommand(
        ("haizea", "data"),
        {**_DEBUG, **_same("-t --type", "-c --counter", "-f --format", "-l --list-counters")},
        frozenset({"-D", "--debug", "-l", "--list-counters"}),
    ),
}


def in_our_words(arguments: Sequence[str]) -> list[str]:
    """Translate the program's arguments if the first one is a command of Haizea's."""
    command = HAIZEA_COMMANDS.get(arguments[0])
    if command is None:
        return list(arguments)
    return [*command.words, *_translated(arguments[0], command, list(arguments[1:]))]


def _translated(name: str, command: HaizeaCommand, left: list[str]) -> Iterator[str]:
    """Yield the translated arguments. UsageError for an unknown option of the command."""
    while left:
        argument = left.pop(0)
        if argument in ("-h", "--help") or not argument.startswith("-") or argument == "-":
            yield argument
            continue
        option, equals, value = argument.partition("=")
        if not argument.startswith("--") and len(argument) > 2:  # its value follows without a blank
            option, equals, value = argument[:2], "=", argument[2:]
        found = command.options.get(option)
        if found is None:
            there = ", ".join(option for option in command.options if option.startswith("--"))
            words = " ".join(command.words)
            raise click.UsageError(f"No such option '{option}' of {name}, which is '{words}' here; there are: {there}")
        if option in command.flags:
            yield found
            continue
        if not equals and not left:
            raise click.UsageError(f"Option '{option}' requires an argument.")
        yield from ([found] if found else [])
        yield value if equals else left.pop(0)
