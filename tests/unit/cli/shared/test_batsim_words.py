"""The command line of Batsim, in the words of `simulate`."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.cli.shared.batsim_words import read_call, simulate_words
from batsched_py.errors import OptionError

PATIENCE = ["--connect-timeout", "6e10"]


def words(*arguments: str, largest: int | None = None) -> list[str]:
    """The words for these arguments and a platform."""
    return simulate_words(read_call(["-p", "m.xml", *arguments]), largest)


def test_defaults_are_batsims() -> None:
    """The prefix, the address, and no limit of the time to wait for the decision process."""
    socket = ["--socket", "tcp://localhost:28000", *PATIENCE]
    usual = ["simulate", "-p", "m.xml", "-e", "out", *socket, "-m", "master_host"]
    assert words() == usual
    assert words("--disable-schedule-tracing", "--mmax", "0", "--redis-port", "1") == usual


def test_all_spellings_are_read() -> None:
    """Joined and shortened options, and values behind an equals sign."""
    assert words("-qEw", "w.json", "--exp=x/y", "--socket", "ipc://s", "-r", "a:storage", "-r", "b:master") == [
        *("simulate", "-p", "m.xml", "-e", "x/y", "-w", "w.json", "-r", "a:storage", "-r", "b:master"),
        *("--socket", "ipc://s", *PATIENCE, "-m", "master_host", "-E", "--quiet"),
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--WS", "a.dax", "5", "--workflow-start", "b.dax", "6"], ["--WS", "a.dax", "5", "--WS", "b.dax", "6"]),
        (["-W", "a.dax", "--workflow-jobs-limit", "3"], ["--workflow-jobs-limit", "3"]),
        (["--WS", "a.dax", "5", "--workflow-jobs-limit", "3"], ["--workflow-jobs-limit", "3"]),
        (["--events", "e.txt"], ["--events", "e.txt"]),
        (["--enable-redis", "--redis-prefix", "x"], ["--redis-port", "6379", "--redis-prefix", "x"]),
        (["-v", "debug"], ["--debug"]),
        (["-v", "network-only"], ["--quiet"]),
        (["--sg-cfg", "network/loopback-lat:0"], ["--sg-cfg", "network/loopback-lat:0"]),
        (["--sched-cfg", "{}"], ["--sched-cfg", "{}"]),
        (
            ["--enable-dynamic-jobs", "--acknowledge-dynamic-jobs"],
            ["--enable-dynamic-jobs", "--acknowledge-dynamic-jobs"],
        ),
        (["--mmax", "4"], ["--mmax", "4"]),
    ],
)
def test_an_option_has_its_counterpart(arguments: list[str], expected: list[str]) -> None:
    """In the order of the words of `simulate`."""
    found = words(*arguments)
    start = found.index(expected[0])
    assert found[start : start + len(expected)] == expected or found[-len(expected) :] == expected


def test_the_smaller_limit_of_hosts_counts() -> None:
    """The number that is given, or that of the workloads; 0 is no limit."""
    assert words("--mmax", "4", "--mmax-workload", largest=8)[-2:] == ["--mmax", "4"]
    assert words("--mmax", "0", "--mmax-workload", largest=8)[-2:] == ["--mmax", "8"]


def test_the_configuration_may_be_in_a_file(tmp_path: Path) -> None:
    """Its text is passed on."""
    (tmp_path / "cfg").write_text('{"a": 1}')
    assert words("--sched-cfg-file", str(tmp_path / "cfg"))[-2:] == ["--sched-cfg", '{"a": 1}']


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["--nope"], "option --nope not recognized"),
        (["file"], "takes no argument 'file'"),
        (["--mmax", "-1"], "--mmax: must be a whole number from 0, not '-1'"),
        (["--redis-port", "x"], "--redis-port: must be a whole number from 0, not 'x'"),
        (["-v", "loud"], "--verbosity: must be one of quiet, network-only, information, debug, not 'loud'"),
        (["-e", "a", "--export", "b"], "--export: is given twice"),
        (["--no-sched"], "--no-sched: is not supported: "),
        (["--sg-log", "x"], "--sg-log: is not supported"),
        (["--WS", "a.dax"], "--WS: must have a file and a start in seconds"),
        (["--sched-cfg", "a", "--sched-cfg-file", "b"], "--sched-cfg: and --sched-cfg-file do not go together"),
    ],
)
def test_what_is_wrong_is_named(arguments: list[str], rule: str) -> None:
    """With the option."""
    with pytest.raises(OptionError) as raised:
        words(*arguments)
    assert str(raised.value).startswith(rule)


def test_a_platform_is_required() -> None:
    """As in Batsim."""
    with pytest.raises(OptionError, match="--platform: is missing"):
        read_call(["-w", "w.json"])


def test_files_that_cannot_be_read_are_listed(tmp_path: Path) -> None:
    """With the option of each."""
    (tmp_path / "m.xml").touch()
    call = read_call(["-p", str(tmp_path / "m.xml"), "-w", "no.json", "--WS", "no.dax", "1"])
    assert call.missing == [("workload", "no.json"), ("workflow-start", "no.dax")]


def test_the_context_is_what_robin_reads() -> None:
    """The address and the prefix, and that another process decides."""
    context = read_call(["-p", "m.xml", "-s", "ipc://s", "-e", "x", "--dump-execution-context"]).context()
    assert (context["socket_endpoint"], context["export_prefix"]) == ("ipc://s", "x")
    assert context["external_scheduler"] is True
