"""Each command and each option of Haizea's manual (appendix A): understood, or refused in words that name ours."""

from __future__ import annotations

import click
import pytest

from batsched_py.cli.main import batsched, run
from batsched_py.cli.shared.haizea_names import HAIZEA_COMMANDS, in_our_words

SERVER = ("-D", "--debug", "-s http://x", "--server=http://x", "--server http://x")
#: Command -> its options, in each spelling of the manual.
MANUAL = {
    "haizea-request-lease": (
        *SERVER,
        *("-f a.xml", "--file=a.xml", "-t now", "--start=now", "-d 00:10:00", "--duration=00:10:00", "-n 4"),
        *("--numnodes=4", "--preemptible", "--non-preemptible", "-c 100", "--cpu=100", "-m 64", "--mem=64"),
        *("-i a.img", "--vmimage=a.img", "-z 64", "--vmimagesize=64"),
    ),
    "haizea-cancel-lease": (*SERVER, "-l 3", "--lease=3"),
    "haizea-list-leases": SERVER,
    "haizea-show-queue": SERVER,
    "haizea-list-hosts": SERVER,
    "haizea-generate-configs": ("-D", "--debug", "-c m.conf", "--conf=m.conf", "-d out", "--dir=out"),
    "haizea-generate-scripts": (
        *("-D", "--debug", "-c m.conf", "--conf=m.conf", "-d out", "--confdir=out", "-t x", "--template=x"),
        *("-m", "--only-missing"),
    ),
    "haizea-convert-data": (
        *("-D", "--debug", "-t per-run", "--type=per-run", "-c x", "--counter=x", "-f csv", "--format=csv"),
        *("-l", "--list-counters"),
    ),
}
OPTIONS = [(command, option) for command, options in MANUAL.items() for option in options]


def test_all_commands_of_the_manual_are_there() -> None:
    """`haizea` itself is a command of ours."""
    assert set(HAIZEA_COMMANDS) == set(MANUAL)


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_each_option_is_one_of_ours(command: str, option: str) -> None:
    """With its value; our command knows it."""
    ours = in_our_words([command, *option.split()])
    words = HAIZEA_COMMANDS[command].words
    assert tuple(ours[: len(words)]) == words
    given = ours[len(words) :]
    found: click.Command | None = batsched
    for word in words:
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), word)
    assert found is not None
    known = {spelling for parameter in found.params for spelling in (*parameter.opts, *parameter.secondary_opts)}
    value = option.replace("=", " ").split()[1:]
    assert given[-len(value) :] == value if value else len(given) == 1
    assert option.startswith(("-l 3", "--lease")) or given[0] in known


@pytest.mark.parametrize(
    ("arguments", "ours"),
    [
        (["haizea-cancel-lease", "-l", "3", "-s", "http://x"], ["lease", "cancel", "3", "--url", "http://x"]),
        (["haizea-request-lease", "-n4", "-tnow"], ["lease", "request", "--nodes", "4", "--start", "now"]),
        (["haizea-convert-data", "-l", "a.dat", "b.dat"], ["haizea", "data", "--list-counters", "a.dat", "b.dat"]),
        (["haizea-list-leases", "-h"], ["lease", "list", "-h"]),
        (["lease", "request", "-s"], ["lease", "request", "-s"]),
    ],
)
def test_arguments_keep_their_order(arguments: list[str], ours: list[str]) -> None:
    """Values that follow at once, files, help; those of our own commands are left alone."""
    assert in_our_words(arguments) == ours


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["haizea-show-queue", "-x"], "No such option '-x' of haizea-show-queue, which is 'queue' here; there are: "),
        (["haizea-cancel-lease", "-l"], "Option '-l' requires an argument"),
        (["haizea", "--stop"], "'--stop' has nothing to stop"),
        (["haizea", "-c", "a.conf", "b.conf"], "'-c' and CONF both name the configuration"),
        (["haizea-request-lease", "-t", "now"], "Missing option '-n' / '--nodes', or '-f' / '--file'"),
        (["lease", "request", "-f", "a", "-n", "1"], "'-f' cannot be combined with '--nodes': the file has all terms"),
        (["lease", "request", "-f", "a", "--preemptible"], "'-f' cannot be combined with '--preemptible'"),
    ],
)
def test_what_is_refused_names_our_command(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 2."""
    assert run(arguments) == 2
    assert told in capsys.readouterr().err
