"""Options that are given twice: each of each command accumulates, or is refused in one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from batsched_py.cli.main import batsched, run
from batsched_py.cli.shared.repetition import MovedOption, Once
from tests.clone import ROOT

#: Options that add to what was given before, each with its reason in docs/cli.md.
ACCUMULATE = {
    "--add-role-to-hosts", "--allow", "--allow-redis", "--columns", "--demand", "--generate", "--ignore", "--keep",
    "--limit", "--metrics", "--name", "--option", "--resume", "--seeds", "--sg-cfg", "--with", "--workflow",
    "--workflow-start", "--workload", "--workload-name",
}  # fmt: skip
#: The same, but only in these commands: elsewhere they take one value.
ACCUMULATE_IN = {
    ("compare", "--scheduler"), ("compare", "--options-file"), ("compare", "--by"), ("compare", "--load"),
    ("report", "--by"), ("explain", "--by"), ("judge", "--only"),
}  # fmt: skip


def commands(command: click.Command = batsched, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Yield all commands and groups with their names."""
    yield " ".join(path), command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None
            yield from commands(found, (*path, name))


ALL = [
    pytest.param(name, command, option, id=f"{name} {option.opts[-1]}".strip())
    for name, command in commands()
    for option in command.params
    if isinstance(option, click.Option)
]
FLAGS = [case for case in ALL if case.values[2].is_flag]  # type: ignore[union-attr]
VALUES = [case for case in ALL if not case.values[2].is_flag]  # type: ignore[union-attr]


def parse(command: click.Command, words: list[str]) -> None:
    """Parse words as a command does, without running it."""
    command.make_context("it", words)


@pytest.mark.parametrize(("name", "command"), [pytest.param(*one, id=one[0]) for one in commands()])
def test_every_command_has_the_mechanism(name: str, command: click.Command) -> None:
    """Also groups, whose options stand before the name of a command."""
    assert isinstance(command, Once)


@pytest.mark.parametrize(("name", "command", "option"), VALUES)
def test_an_option_with_one_value_may_be_given_once(name: str, command: click.Command, option: click.Option) -> None:
    """With any mixture of its spellings, whatever the values are, and though others are missing."""
    spelled = option.opts[-1]
    accumulates = spelled in ACCUMULATE or (name, spelled) in ACCUMULATE_IN
    if (name, spelled) == ("haizea", "--sample"):
        words = ["--sample=trace", "--sample=multi"]
    else:
        words = [option.opts[0], "1", f"{spelled}=1"]
    assert option.multiple == accumulates
    if not accumulates:
        with pytest.raises(click.UsageError, match=rf"{spelled}.* may be given once"):
            parse(command, words)


def test_the_page_names_each_option_that_accumulates() -> None:
    """By one of its spellings."""
    page = (ROOT / "docs" / "cli.md").read_text()
    section = page[page.index("## Options that are given twice") :].partition("\n## ")[0]
    for case in VALUES:
        option = case.values[2]
        assert isinstance(option, click.Option)
        if option.multiple:
            assert any(f"`{spelled}" in section for spelled in option.opts), option.opts


@pytest.mark.parametrize(("name", "command", "option"), FLAGS)
def test_flags_that_contradict_each_other_are_refused(name: str, command: click.Command, option: click.Option) -> None:
    """A flag that is repeated says nothing new."""
    if option.secondary_opts:
        with pytest.raises(click.UsageError, match="contradict each other"):
            parse(command, [option.opts[0], option.secondary_opts[0]])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["compare", "--level", "0.9", "--level", "0.8"], "'--level' may be given once"),
        (["simulate", "-p", "a.xml", "--platform=b.xml"], "'-p' / '--platform' may be given once"),
        (["simulate", "-o", "depth=1", "-o", "depth=2"], "'-o' / '--option': depth is set twice"),
        (["compare", "-s", "easy", "-o", "slack=1", "-o", "slack=2"], "easy has '-o slack' twice"),
        (["simulate", "--sg-cfg", "a:1", "--sg-cfg", "a:1"], "'--sg-cfg': a is set twice"),
        (["simulate", "-r", "a:storage", "-r", "b,a:master"], "gives a two roles, storage and master"),
        (["metrics", "x", "--limit", "jobs=7", "--limit", "jobs=8"], "'--limit': jobs is set twice"),
        (["compare", "-s", "easy", "--generate", "lublin:jobs=1,jobs=2"], "--generate jobs: is set twice"),
        (
            ["compare", "-s", "easy", "--generate", "lublin:jobs=9", "--generate", "lublin:jobs=9"],
            "'--generate' draws lublin-0 twice",
        ),
        (
            ["compare", "-s", "easy", "--generate", "lublin:jobs=9", "--metrics", "makespan", "--metrics", "makespan"],
            "once each",
        ),
        (["simulate", "-s", "easy", "--sched-cfg", '{"a": 1, "a": 1}'], "'--sched-cfg': has the member 'a' twice"),
        (["simulate", "-s", "easy", "--options-file", "o.json"], "o.json: has the member 'slack' twice"),
    ],
)
def test_a_value_is_never_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    """One line, exit code 2."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "o.json").write_text('{"slack": 1, "slack": 2}')
    if words[0] in ("simulate", "compare") and "-p" not in words:
        words = [*words, "-p", "platforms/tiny4.xml"]
        words += ["-w", "workloads/first.json"] if words[0] == "simulate" else []
    assert run(words) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1
    assert told in lines[0]


def test_generated_workloads_metrics_and_seeds_accumulate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each model with each seed, under a name with what differs."""
    monkeypatch.chdir(tmp_path)
    assert run(["generate", "--jobs", "1", "--hosts", "8", "-o", "w.json", "--platform", "p.xml"]) == 0
    loads = [word for load in ("0.6", "0.8") for word in ("--generate", f"lublin:jobs=9,load={load}")]
    shown = ["--metrics", "mean_wait,max_wait", "--metrics", "makespan"]
    seeds = ["--seeds", "1-2", "--seeds", "2,5"]
    words = ["compare", "-p", "p.xml", *loads, *seeds, *shown, "-s", "fcfs", "--processes", "1", "--csv", "all.csv"]
    assert run(words) == 0
    out = capsys.readouterr().out
    assert [name for name in ("mean wait", "maximum wait", "makespan", "utilisation") if f"{name} [" in out] == [
        "mean wait",
        "maximum wait",
        "makespan",
    ]
    rows = [line.split(",")[0] for line in (tmp_path / "all.csv").read_text().splitlines()[1:]]
    assert rows == [f"lublin-load={load}-{seed}" for load in ("0.6", "0.8") for seed in (1, 2, 5)]


MOVED = [
    pytest.param(name, command, option, id=f"{name} {option.opts[-1]}")
    for name, command in commands()
    for option in command.params
    if isinstance(option, MovedOption)
]


@pytest.mark.parametrize(("name", "command", "option"), MOVED)
def test_what_has_moved_is_an_option_of_the_command(name: str, command: click.Command, option: MovedOption) -> None:
    """It takes the value, and help shows it."""
    spellings = {spelled: other for other in command.params for spelled in other.opts}
    for value, moved in option.moved.items():
        other = spellings[moved]
        assert isinstance(other.type, click.Choice)
        assert value in other.type.choices
        assert isinstance(other, click.Option)
        assert not other.hidden


SACCT = """JobID|State|Submit|Start|End|ReqCPUS
7|COMPLETED|2024-05-31T08:00:00|2024-05-31T08:00:00|2024-05-31T08:00:09|1
"""


@pytest.mark.parametrize(
    ("words", "hints"),
    [
        (["--from", "sacct"], ["note: '--from sacct' is now '--input-format sacct'"]),
        (["--start=sacct", "--from=2024-05-31"], ["note: '--start sacct' is now '--input-format sacct'"]),
        (
            ["--to", "v5", "--from", "sacct", "--to", "1d"],
            [
                "note: '--from sacct' is now '--input-format sacct'",
                "note: '--to v5' is now '--protocol v5'",
            ],
        ),
        (["--input-format", "sacct", "--protocol", "v5"], []),
    ],
)
def test_older_spellings_are_understood_with_a_hint(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    hints: list[str],
) -> None:
    """Beside the meaning that the option still has."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.txt").write_text(SACCT)
    assert run(["convert", "s.txt", "-o", "w.json", *words]) == 0
    assert capsys.readouterr().err.splitlines() == hints
    assert ("DelayProfile" in (tmp_path / "w.json").read_text()) == ("v5" in words)


def test_an_option_of_today_does_not_go_with_its_older_spelling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are one option, which may be given once."""
    monkeypatch.chdir(tmp_path)
    assert run(["convert", "s.txt", "-o", "w.json", "--from", "sacct", "--input-format", "swf"]) == 2
    assert "'--input-format' may be given once" in capsys.readouterr().err
