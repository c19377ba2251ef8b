"""Errors of commands: one line on stderr that names what and where, and the right exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.commands import list as listing
from batsched_py.cli.main import run
from batsched_py.errors import PluginError
from batsched_py.interruption import Interruption

#: Bytes of a transcript in which nothing happens.
RECORDING = '{"seq": 0, "from": "batsim", "bytes": "?"}\n{"seq": 0, "from": "scheduler", "bytes": "!"}\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with a platform of 4 hosts (p.xml) and a workload (w.json)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert run(["generate", "--jobs", "3", "--hosts", "4", "-o", "w.json", "--platform", "p.xml"]) == 0
    capsys.readouterr()
    return tmp_path


@pytest.fixture
def fails(here: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command that must fail; its first line. It leaves no file behind, and further faults on lines below."""

    def check(*arguments: str, code: int = 2) -> str:
        before = files(here)
        assert run(arguments) == code
        out, err = capsys.readouterr()
        assert out == ""
        line, *others = err.splitlines()
        assert line.startswith("batsched-py: error: ")
        assert all(other.startswith("  ") for other in others)
        assert files(here) == before
        return line.removeprefix("batsched-py: error: ")

    return check


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def simulate(*changes: str, platform: str = "p.xml", workload: str = "w.json", scheduler: str = "easy") -> list[str]:
    prefix = [] if "-e" in changes else ["-e", "out/run"]
    return ["simulate", "-p", platform, "-w", workload, "-s", scheduler, *prefix, *changes]


def workload(**changes: Any) -> str:
    """A workload file of two jobs, the first with these members changed."""
    job = {"id": "1", "subtime": 0, "res": 1, "walltime": 10, "profile": "p", **changes}
    profiles = {"p": {"type": "delay", "delay": 5}, "odd": {"type": "tea"}}
    used = {name: profile for name, profile in profiles.items() if name == job["profile"]}
    return json.dumps({"nb_res": 4, "jobs": [job, {**job, "id": "2"}], "profiles": used})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "line 1, column 2: is not JSON"),
        (workload(res=5), "1.res: asks for 5 hosts, the platform has 4"),
        (workload(walltime=-5), "walltime"),
        (workload(walltime="NaN"), "walltime"),
        (workload().replace('"walltime": 10', '"walltime": NaN'), "must be a number"),
        (workload(id="2"), "id"),
        (workload(profile="none"), "jobs[0].profile: must name one of the profiles, not 'none' (and 1 other error)"),
        (workload(profile="odd"), "profiles.odd.type: 'tea' is not a type of profile"),
    ],
)
def test_a_wrong_workload(here: Path, fails: Callable[..., str], content: str, said: str) -> None:
    """The file, the job's field and the rule."""
    (here / "bad.json").write_text(content)
    line = fails(*simulate(workload="bad.json"))
    assert line.startswith("bad.json: ")
    assert said in line


def test_a_wrong_platform(here: Path, fails: Callable[..., str]) -> None:
    """The file and the rule."""
    (here / "bad.xml").write_text("not XML")
    assert fails(*simulate(platform="bad.xml")).startswith("bad.xml: ")
    assert fails(*simulate(platform="none.xml")) == "none.xml: cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["-o", "depth=3"], "option depth: easy has no such option; it has: "),
        (["-o", "reserve=rooms"], "option reserve of easy: must be counts | hosts, not 'rooms'"),
        (["-o", "reserve"], "must be key=value, not 'reserve' (see batsched-py simulate --help)"),
        (["--clock", "sun"], "clock: must be zero, measured or fixed:SECONDS like fixed:0.5, not 'sun'"),
        (["--mmax", "0"], "'--mmax': 0 is not in the range 1<=x<=10000000 (see batsched-py simulate --help)"),
        (["--options-file", "none.json"], "none.json: cannot be read: No such file or directory"),
        (["--options-file", "list.json"], 'list.json: must be a JSON object of options, like {"key": 1}'),
        (["--options-file", "half.json"], "half.json: must be a JSON object of options: "),
        (["--options-file", "wrong.json"], "wrong.json: option reserve of easy: must be counts | hosts, not 3"),
        (["--events", "none.txt"], "none.txt: "),
        (["--events", "half.json"], "half.json:1: must be a JSON object"),
        (["--sched-cfg", '{"reserve": 3}'], "option reserve of easy: must be counts | hosts, not 3"),
        (["--record", "p.xml/run.jsonl"], "p.xml/run.jsonl: cannot be written: "),
        (["-e", "p.xml/run"], "p.xml/run_jobs.csv: cannot be written: Not a directory"),
        (["--socket", "tcp://127.0.0.1:1"], "One of '-s' and '--socket' is needed: who decides?"),
        (["--teleport"], "--teleport"),
        (["-r", "nope:storage"], "p.xml: host nope: is not in the platform; it was to be storage"),
        (["-r", "storage"], "'-r' / '--add-role-to-hosts': must be host,...:role with a role of master, storage, c"),
        (["-r", "n0:disk"], "'-r' / '--add-role-to-hosts': must be host,...:role with a role of master, storage, c"),
        (["-r", "n0,,n1:storage"], "'-r' / '--add-role-to-hosts': must be host,...:role with a role of master, st"),
        (["-m", "nope"], "p.xml: has no host 'nope', which -m names"),
    ],
)
def test_a_wrong_option(here: Path, fails: Callable[..., str], changes: list[str], said: str) -> None:
    """Its name and the rule; its file if it stands in one."""
    for name, content in {"list.json": "[]", "half.json": "{", "wrong.json": '{"reserve": 3}'}.items():
        (here / name).write_text(content)
    assert said in fails(*simulate(*changes))


@pytest.mark.parametrize(
    ("arguments", "first", "second"),
    [
        (simulate("--record", "p.xml"), "-p", "--record"),
        (simulate("--record", "./out/../w.json"), "-w", "--record"),
        (simulate("--record", "link.json"), "-w", "--record"),
        (simulate("--record", "e.txt", "--events", "e.txt"), "--events", "--record"),
        (simulate("--record", "o.json", "--options-file", "o.json"), "--options-file", "--record"),
        (simulate("--record", "out/run_jobs.csv"), "--record", "-e"),
        (simulate("-w", "run_jobs.csv", "-e", "run"), "-w", "-e"),
        (["serve", "-s", "easy", "--record", "o.json", "--options-file", "o.json"], "--options-file", "--record"),
        (["convert", "w.json", "-o", "w.json"], "LOG", "-o"),
        (["generate", "--jobs", "1", "--hosts", "1", "-o", "x", "--platform", "x"], "-o", "--platform"),
    ],
)
def test_a_file_that_two_options_name(
    here: Path, fails: Callable[..., str], arguments: list[str], first: str, second: str
) -> None:
    """A file that is read is never overwritten, and no file is written twice."""
    (here / "link.json").symlink_to("w.json")
    before = {path: path.read_bytes() for path in files(here)}
    assert f"'{first}' and '{second}' name the same file, " in fails(*arguments)
    assert {path: path.read_bytes() for path in files(here)} == before


@pytest.mark.parametrize("target", ["out", "p.xml/x.json"])
@pytest.mark.parametrize("order", [["-o", "--platform"], ["--platform", "-o"]])
def test_nothing_is_generated_if_one_file_cannot_be(
    here: Path, fails: Callable[..., str], target: str, order: list[str]
) -> None:
    """Neither the other file nor its folder."""
    (here / "out").mkdir()
    first, second = order
    said = fails("generate", "--jobs", "1", "--hosts", "1", first, "new/x", second, target)
    assert said.startswith(f"{target}: cannot be written: ")
    assert not (here / "new").exists()


@pytest.mark.parametrize("changes", [["-o", "depth=3"], ["--sched-cfg", '{"reserve": 3}']])
def test_refused_options_leave_no_folder(here: Path, fails: Callable[..., str], changes: list[str]) -> None:
    """A folder of results is made when there are results."""
    fails(*simulate(*changes))
    assert not (here / "out").exists()


def test_a_program_of_its_own_takes_no_options_of_ours(fails: Callable[..., str]) -> None:
    """-o would be dropped silently."""
    arguments = ["simulate", "-p", "p.xml", "-w", "w.json", "--socket"]
    assert "go with '-s'" in fails(*arguments, "tcp://127.0.0.1:1", "-o", "a=b")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serve", "-s", "fcfs", "-b", "tcp://127.0.0.1:99999"], "'-b' / '--bind': must have a port of at most 65535"),
        (["serve", "-s", "fcfs", "-b", "here"], "must be an address like tcp://127.0.0.1:28000, not 'here'"),
        (["serve", "-s", "fcfs", "-b", "inproc://x"], "must be an address like tcp://127.0.0.1:28000"),
        (["serve", "-s", "fcfs", "--timeout", "nan"], "'--timeout': must be a number of seconds, not nan"),
        (["serve", "-s", "fcfs", "--clock", "slow"], "--clock: must be zero, measured or fixed:SECONDS"),
        (["simulate", "-p", "p.xml", "-w", "w.json", "--socket", "here"], "'--socket': must be an address like"),
        (["simulate", "-p", "p.xml", "-w", "w.json", "-s", "fcfs", "--connect-timeout", "inf"], "must be a number"),
    ],
)
def test_an_address_or_a_time_that_is_none(fails: Callable[..., str], arguments: list[str], said: str) -> None:
    """Wrong usage, whatever would have come of it."""
    assert said in fails(*arguments, code=2)


@pytest.mark.parametrize("command", ["serve", "simulate", "describe"])
def test_an_unknown_algorithm(fails: Callable[..., str], command: str) -> None:
    """The error lists the known ones."""
    arguments = {
        "serve": ["serve", "-s", "nope"],
        "simulate": simulate(scheduler="nope"),
        "describe": [command, "nope"],
    }
    assert fails(*arguments[command]).startswith("algorithm nope: unknown; there are: ")


def test_a_standstill_tells_what_the_algorithm_waits_for(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 3, one line for each waiting job; the files have what there was."""
    (here / "lazy.py").write_text(
        "from batsched_py.api import *\n"
        "class Lazy(Scheduler[NoOptions]):\n"
        '    name = "lazy"\n'
        "    def decide(self, view, plan):\n"
        "        for job in view.queue: plan.hold(job, 'it is Monday')\n"
    )
    assert run(simulate(scheduler="lazy.py:Lazy")) == 3
    first, *rest = capsys.readouterr().err.splitlines()
    assert "nothing will ever happen again" in first
    assert len(rest) == 3
    assert all(line.startswith("  w0!") and line.endswith("it is Monday") for line in rest[1:])
    assert json.loads((here / "out/run_run.json").read_text())["failure"] == first.removeprefix("batsched-py: error: ")


def test_a_refused_decision_is_the_last_of_its_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 3; the recording is whole, with the refusal as the last reply."""
    (here / "greedy.py").write_text(
        "from batsched_py.api import *\n"
        "class Greedy(Scheduler[NoOptions]):\n"
        '    name = "greedy"\n'
        "    def decide(self, view, plan):\n"
        "        for job in view.queue: plan.start(job, view.hosts)\n"
    )
    assert run(simulate("--record", "run.jsonl", scheduler="greedy.py:Greedy")) == 3
    assert "greedy failed on JobSubmitted" in capsys.readouterr().err
    assert "greedy failed on JobSubmitted" in json.loads((here / "out/run_run.json").read_text())["failure"]
    assert "BATSCHED_PY_STOPPED" in (here / "run.jsonl").read_text().splitlines()[-1]
    assert run(["replay", "run.jsonl", "-s", "greedy.py:Greedy"]) == 0


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        (RECORDING, [], "Missing option '-s': the recording does not say which algorithm decided"),
        ("nonsense\n", ["-s", "easy"], "r.jsonl: line 1: is not a recording"),
        (
            '{"format": "batsched-py transcript", "version": 1, "algorithm": "easy"}\n',
            [],
            "r.jsonl: holds no exchange; there is nothing to compare",
        ),
    ],
)
def test_a_recording_that_cannot_be_replayed(
    here: Path, fails: Callable[..., str], content: str, arguments: list[str], said: str
) -> None:
    """The file, the line and the rule."""
    (here / "r.jsonl").write_text(content)
    assert said in fails("replay", "r.jsonl", *arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["b.jsonl"], "b.jsonl: holds no exchange; there is nothing to compare"),
        (["none.jsonl"], "none.jsonl: cannot be read: No such file or directory"),
        (["w.json"], "w.json: line 1: "),
        ([], "Missing argument 'B.jsonl' (see batsched-py diff --help)"),
        (["a.jsonl", "--tolerance", "-1"], "'--tolerance': -1.0 is not in the range 0<=x<="),
        (["a.jsonl", "--tolerance", "nan"], "'--tolerance': must be a number of seconds, not nan"),
        (["a.jsonl", "--ignore", "tea"], "'--ignore': 'tea' is not one of 'hosts', 'configuration', "),
    ],
)
def test_recordings_that_cannot_be_compared(
    here: Path, fails: Callable[..., str], arguments: list[str], said: str
) -> None:
    """The file, the line and the rule."""
    (here / "a.jsonl").write_text(RECORDING)
    (here / "b.jsonl").write_text('{"format": "batsched-py transcript", "version": 1, "algorithm": "easy"}\n')
    assert said in fails("diff", "a.jsonl", *arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["convert", "none.swf", "-o", "x.json"], "none.swf: cannot be read: No such file or directory"),
        (["convert", "w.json", "--input-format", "sacct", "-o", "x.json"], "w.json: line 1: has no field jobid"),
        (["generate", "--jobs", "0", "--hosts", "4", "-o", "x.json"], "--jobs: must be from 1 to 10000000, not 0"),
        (
            ["generate", "--jobs", "1", "--hosts", f"{10**24}", "-o", "x.json"],
            f"--hosts: must be from 1 to 10000000, not {10**24}",
        ),
        (["generate", "--jobs", f"{10**24}", "--hosts", "4", "-o", "x.json"], "--jobs: must be from 1 to 10000000"),
        (["generate", "--jobs", "1", "--hosts", "4", "--load", "90", "-o", "x.json"], "--load: must be from 0.001 to"),
        (["generate", "--jobs", "1", "--hosts", "4", "-o", "p.xml/x.json"], "p.xml/x.json: cannot be written"),
        (["serve"], "Missing option '-s': which algorithm shall decide?"),
        (["sing"], "No such command 'sing' (see batsched-py --help)"),
        (["simulat"], "No such command 'simulat'; did you mean simulate? (see batsched-py --help)"),
        (["simulate", "--gant"], "No such option '--gant'. Did you mean '--gantt'?"),
        (["describe", "eazy"], "algorithm eazy: unknown; did you mean easy? There are: "),
    ],
)
def test_wrong_input_of_the_other_commands(fails: Callable[..., str], arguments: list[str], said: str) -> None:
    """One line, exit code 2, no output."""
    assert said in fails(*arguments)


def test_no_command_at_all_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """As a reminder, with the exit code of wrong usage."""
    assert run([]) == 2
    assert "Simulations:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (Interruption(2), 130, "batsched-py: interrupted (SIGINT)\n"),
        (Interruption(15), 143, "batsched-py: terminated (SIGTERM)\n"),
        (Interruption(1), 129, "batsched-py: hung up (SIGHUP)\n"),
        (PluginError("one\n two"), 2, "batsched-py: error: one | two\n"),
        (ZeroDivisionError("by us"), 3, "batsched-py: internal error: ZeroDivisionError: by us; please report it"),
    ],
)
def test_what_is_no_error_of_the_users(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    raised: BaseException,
    code: int,
    said: str,
) -> None:
    """A signal has the exit code that shells use; a defect of ours is one line, too."""

    def available() -> None:
        raise raised

    monkeypatch.setattr(listing, "available", available)
    assert run(["list"]) == code
    assert capsys.readouterr().err.startswith(said)
    assert run(["--debug", "list"]) == code
    assert "Traceback" in capsys.readouterr().err


def test_a_broken_plugin_does_not_hide_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its line says what is wrong with it."""

    def load(name: str) -> None:
        raise PluginError("it is broken")

    monkeypatch.setattr(listing, "load_from_here", load)
    assert run(["list"]) == 0
    assert "(cannot be used: it is broken)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "e.txt:2: type: machine_unavailble is not a machine event: the event is left out; did you mean "),
        (["--forward-unknown-events"], "e.txt:2: type: machine_unavailble is not a machine event: the event is only "),
        (["--protocol", "v5"], "e.txt:2: type: machine_unavailble is not a machine event: the event is only "),
    ],
)
@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_a_misspelt_type_of_event_is_a_warning_with_its_line(
    here: Path, capsys: pytest.CaptureFixture[str], command: str, options: list[str], said: str
) -> None:
    """Else a simulation without failures looks like one with them; a word of one's own is forwarded without one."""
    events = [("machine_available", "0"), ("machine_unavailble", "0"), ("tea", "")]
    lines = [
        json.dumps({"timestamp": 5 - number, "type": kind, "resources": hosts})
        for number, (kind, hosts) in enumerate(events)
    ]
    (here / "e.txt").write_text("\n".join(lines[1:]).join(["\n", ""]))
    study = [command, "-p", "p.xml", "-w", "w.json", "-s", "easy", "--quiet", "--events", "e.txt"]
    assert run([*study, *options]) == 0
    warnings = [line for line in capsys.readouterr().err.splitlines() if ": warning: e.txt" in line]
    assert any(line.startswith(f"batsched-py: warning: {said}") for line in warnings)
    assert len(warnings) == (1 if options else 2)


@pytest.mark.parametrize("number", [f"{10**24}", "9" * 5000, "1e400", "nan", "inf", "-1"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["generate", "--jobs", "1", "-o", "x.json", "--hosts"],
        ["generate", "--hosts", "4", "-o", "x.json", "--jobs"],
        ["generate", "--jobs", "1", "--hosts", "4", "-o", "x.json", "--load"],
        ["generate", "--jobs", "1", "--hosts", "4", "-o", "x.json", "--overestimate"],
        ["convert", "w.json", "-o", "x.json", "--hosts"],
        ["metrics", "w.json", "--hosts"],
        ["gantt", "w.json", "--hosts"],
        ["gantt", "w.json", "--only"],
        ["gantt", "w.json", "--from"],
        ["gantt", "w.json", "-o", "x.svg", "--to"],
        ["gantt", "w.json", "-o", "x.svg", "--width"],
        ["gantt", "w.json", "-o", "x.svg", "--height"],
        ["compare", "-p", "p.xml", "-w", "w.json", "-s", "easy", "--level"],
        ["compare", "-p", "p.xml", "-w", "w.json", "-s", "easy", "--resamples"],
        ["compare", "-p", "p.xml", "-w", "w.json", "-s", "easy", "--processes"],
        ["diff", "w.json", "w.json", "--tolerance"],
        ["diff", "w.json", "w.json", "--relative"],
        ["simulate", "-p", "p.xml", "-w", "w.json", "-s", "easy", "--mmax"],
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_a_number_that_nobody_means_is_refused_by_its_option(
    fails: Callable[..., str], arguments: list[str], number: str
) -> None:
    """At once, whatever else is wrong."""
    said = fails(*arguments, number)
    assert arguments[-1] in said
    assert len(said) < 500


def test_a_port_of_many_digits_is_none(fails: Callable[..., str]) -> None:
    """Python reads no number of 5000 digits."""
    said = fails("serve", "-s", "easy", "-b", "tcp://127.0.0.1:" + "9" * 5000)
    assert "'-b' / '--bind': must have a port of at most 65535, not 999" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["new", "{long}.py"],
        ["describe", "{long}.py"],
        ["describe", "{long}.py:X"],
        ["metrics", "{long}"],
        ["convert", "{long}", "-o", "x.json"],
        ["generate", "--jobs", "1", "--hosts", "4", "-o", "{long}"],
        ["simulate", "-p", "p.xml", "-w", "w.json", "-s", "easy", "-e", "{long}"],
        ["simulate", "-p", "p.xml", "-w", "w.json", "-s", "easy", "--options-file", "{long}"],
        ["compare", "-p", "p.xml", "-w", "w.json", "-s", "easy", "-e", "{long}"],
        ["replay", "{long}"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("long", ["n" * 300, "n" * 5000, "n/" * 3000], ids=["name", "path", "depth"])
def test_a_name_that_is_too_long_is_one_line(fails: Callable[..., str], arguments: list[str], long: str) -> None:
    """The system's reason is in it, or it names no such file."""
    said = fails(*(text.format(long=long) for text in arguments))
    assert "nnn" in said or "n/n/n" in said
