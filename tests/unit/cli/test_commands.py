"""Output and files of each command when all is well."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import cast

import click
import pytest

from batsched_py import schedulers
from batsched_py.cli.catalogue import COMMANDS
from batsched_py.cli.commands import list as listing
from batsched_py.cli.main import batsched, run
from batsched_py.cli.shared.command import Invocation
from batsched_py.plugins import load
from batsched_py.schedulers import BUILT_INS
from tests.clone import ROOT

SWF = """; MaxProcs: 4
1 0 -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1
2 5 -1 0 1 -1 -1 1 20 -1 0 7 -1 -1 -1 -1 -1 -1
3 8 -1 10 1 -1 -1 9 20 -1 1 7 -1 -1 -1 -1 -1 -1
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.fixture
def generated(here: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, ...]:
    """A generated platform and workload, as options of simulate."""
    assert run(["generate", "--jobs", "20", "--hosts", "8", "-o", "w.json", "--platform", "p.xml"]) == 0
    assert capsys.readouterr().out == "wrote p.xml: 8 hosts\nwrote w.json: 20 jobs for 8 hosts\n"
    return ("simulate", "-p", "p.xml", "-w", "w.json")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """--help works and its first sentence is there; the list of commands has its purpose."""
    assert re.fullmatch(r"[A-Z].+\.", COMMANDS[name].purpose), f"the row {name} of the catalogue has no purpose"
    assert run([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: batsched-py {name} ")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """It stands in one line below the options, and its options are those of the command."""
    assert run([name, "--help"]) == 0
    example = COMMANDS[name].example
    assert f"\n  Example:\n    batsched-py {example}\n" in capsys.readouterr().out
    command, words = cast(click.Command, batsched), shlex.split(example)
    context = batsched.make_context("batsched-py", words, obj=Invocation())
    while words and isinstance(command, click.Group):  # as click does; what is wrong is a UsageError
        told, found, rest = command.resolve_command(context, words)
        assert found is not None
        context, command = found.make_context(told, rest, parent=context), found
        words = [*context._protected_args, *context.args]


def test_examples_do_what_they_say(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One after the other, as in the help: those that need neither a Batsim nor a site, nor files of one's own."""
    needs = {
        "serve",
        "batsim",
        "library",
        "record",
        "replay",
        "diff",
        "site",
        "lease",
        "reservation",
        "queue",
        "hosts",
        "what-if",
        "backup",
        "restore",
    }
    needs |= {"convert", "timeline", "campaign", "experiment", "haizea", "report", "gantt", "plot", "slurm"}
    for name in [name for name in COMMANDS if name not in needs]:
        code = run(shlex.split(COMMANDS[name].example))
        assert code == 0, f"{capsys.readouterr().err} (add {name} to `needs` if its example needs files or a peer)"
    assert sorted(path.name for path in here.iterdir()) == [
        "cluster.xml",
        "my_algorithm.py",
        "out",
        "test_my_algorithm.py",
        "work.json",
    ]


def test_a_demonstration(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It needs no file, shows the command that it runs, and writes what is asked for."""
    assert run(["demo", "-s", "fcfs", "-e", "out/first"]) == 0
    out = capsys.readouterr().out
    files = "-p platforms/cluster32.xml -w workloads/lublin200.json"
    begin = f"Running: batsched-py simulate {files} -s fcfs --gantt -e out/first"
    assert out.startswith(begin + "\n200 jobs on 32 hosts; a column is ")
    assert (here / "out" / "first_jobs.csv").exists()


def test_help_tells_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    """It also lists all commands."""
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert "Exit codes: 0 success" in out
    assert all(f"\n  {name} " in out for name in COMMANDS)


def test_generate_gives_the_same_workload_for_the_same_seed(here: Path) -> None:
    """Another seed, another workload; folders are made; the load stretches the arrivals."""
    for name, seed in (("a/w.json", "1"), ("b/w.json", "1"), ("c/w.json", "2")):
        assert run(["generate", "--jobs", "9", "--hosts", "8", "--seed", seed, "--load", "0.5", "-o", name]) == 0
    first, second, third = ((here / name / "w.json").read_bytes() for name in "abc")
    assert first == second != third
    assert json.loads(first)["nb_res"] == 8


def test_convert_counts_what_it_dropped_and_corrected(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only the rules that touched something are told."""
    (here / "log.swf").write_text(SWF)
    assert run(["convert", "log.swf", "-o", "w.json"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "3 jobs in the log",
        "1 job kept",
        "1 dropped: run time unknown or 0",
        "1 dropped: larger than the machine",
        "wrote w.json for 4 hosts",
    ]
    (job,) = json.loads((here / "w.json").read_bytes())["jobs"]
    assert (job["id"], job["res"], job["walltime"]) == ("1", 2, 20)


def test_convert_has_each_cleaning_rule_as_an_option(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Perfect estimates come with a note on what Batsim makes of them."""
    (here / "log.swf").write_text(SWF)
    rules = ["--processors", "used", "--walltime", "run", "--hosts", "16", "--start", "6", "--end", "9"]
    assert run(["convert", "log.swf", "-o", "w.json", *rules, "--max-jobs", "1", "--strict"]) == 0
    out = capsys.readouterr().out
    assert "1 left out: submitted outside the window" in out
    assert "COMPLETED_WALLTIME_REACHED" in out
    assert out.endswith("wrote w.json for 16 hosts\n")
    (job,) = json.loads((here / "w.json").read_bytes())["jobs"]
    assert (job["id"], job["res"], job["subtime"], job["walltime"]) == ("3", 1, 2, 10)


def test_simulate_prints_the_metrics(generated: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """A table on stdout, nothing on stderr, no file that nobody asked for."""
    assert run([*generated, "-s", "easy"]) == 0
    out, err = capsys.readouterr()
    titles = ("jobs ", "makespan", "utilisation", "mean wait", "maximum wait", "mean bounded slowdown", "messages")
    assert all(title in out for title in (*titles, "deciding", "simulating"))
    assert err == ""
    assert sorted(path.name for path in Path().iterdir()) == ["p.xml", "w.json"]


def test_simulate_writes_the_files_of_batsim(generated: tuple[str, ...], here: Path) -> None:
    """Under the prefix, in a folder that is made."""
    assert run([*generated, "-s", "easy", "-e", "out/deep/run", "--quiet"]) == 0
    written = sorted(path.name for path in (here / "out" / "deep").iterdir())
    endings = ("decisions.csv", "jobs.csv", "machine_states.csv", "run.json", "schedule.csv")
    assert written == [f"run_{ending}" for ending in endings]
    assert len((here / "out" / "deep" / "run_jobs.csv").read_text().splitlines()) == 21


def test_energy_has_files_of_its_own(here: Path) -> None:
    """With -E; machine states can be left out."""
    root = ROOT
    files = ["-p", str(root / "platforms" / "energy16.xml"), "-w", str(root / "workloads" / "first.json")]
    options = ["-s", "easy", "-E", "-e", "out/", "--quiet", "--disable-machine-state-tracing"]
    assert run(["simulate", *files, *options]) == 0
    written = {path.name: path.read_text() for path in (here / "out").iterdir()}
    endings = ("consumed_energy.csv", "decisions.csv", "jobs.csv", "pstate_changes.csv", "run.json", "schedule.csv")
    assert sorted(written) == [f"_{ending}" for ending in endings]
    assert written["_consumed_energy.csv"].startswith("time,energy,event_type,wattmin,epower\n0.000000,0.000000,s,")
    assert written["_pstate_changes.csv"] == "time,machine_id,new_pstate\n0,0-15,0\n"


def test_a_trace_file_that_cannot_be_written_is_told_before_the_run(
    generated: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, and no other file is written."""
    (here / "out_machine_states.csv").mkdir()
    assert run([*generated, "-s", "easy", "-e", "out"]) == 2
    assert "out_machine_states.csv" in capsys.readouterr().err
    assert not (here / "out_jobs.csv").exists()


def test_the_default_master_may_be_absent(generated: tuple[str, ...], here: Path) -> None:
    """One that is named must be there, and runs no jobs."""
    platform = here / "p.xml"
    platform.write_text(platform.read_text().replace('"master_host"', '"n8"'))
    assert run([*generated, "-s", "easy", "--quiet"]) == 0
    assert run([*generated, "-s", "easy", "--quiet", "-m", "n8"]) == 0
    assert run([*generated, "-s", "easy", "--quiet", "-m", "master_host"]) == 2


def test_a_prefix_may_be_a_folder(generated: tuple[str, ...], here: Path) -> None:
    """As in Batsim, its text is put before the names as it is."""
    assert run([*generated, "-s", "easy", "-e", "adir/", "--quiet"]) == 0
    written = sorted(path.name for path in (here / "adir").iterdir())
    assert written == ["_decisions.csv", "_jobs.csv", "_machine_states.csv", "_run.json", "_schedule.csv"]
    assert not list(here.glob("*.csv"))


def test_the_file_of_decisions_may_be_left_out(
    generated: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is large if promises move often; the description of the run does not name it, and explain does without."""
    assert run([*generated, "-s", "easy", "-e", "out/easy", "--no-decisions", "--quiet"]) == 0
    assert not (here / "out" / "easy_decisions.csv").exists()
    assert "decisions" not in json.loads((here / "out" / "easy_run.json").read_text())["results"]
    capsys.readouterr()
    assert run(["explain", "out/easy", "01"]) == 0
    assert capsys.readouterr().out.startswith("w0!01: ")
    assert run([*generated, "-s", "easy", "--no-decisions"]) == 2
    assert "'--no-decisions' goes with '-e'" in capsys.readouterr().err


def test_outages_are_written_without_decisions(generated: tuple[str, ...], here: Path) -> None:
    """As with another program, whose decisions are not known: pictures show the hosts that were not there."""
    event = {"timestamp": 1, "type": "machine_unavailable", "resources": "0"}
    (here / "events.txt").write_text(json.dumps(event) + "\n")
    arguments = [*generated, "-s", "easy", "--events", "events.txt", "-e", "out/run", "--quiet"]
    assert run([*arguments, "--no-decisions"]) == 0
    rows = (here / "out" / "run_decisions.csv").read_text().splitlines()[1:]
    assert [row.split(",")[1] for row in rows] == ["hosts", "down", "unavailable"]


def test_simulate_is_quiet_or_draws_as_asked(generated: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """--quiet takes the summary away, --gantt adds the picture."""
    assert run([*generated, "-s", "fcfs", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert run([*generated, "-s", "fcfs", "--quiet", "--gantt"]) == 0
    assert capsys.readouterr().out.startswith("20 jobs on 8 hosts")


def test_simulate_names_its_approximations(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A result that rests on a simplification says so."""
    root = ROOT
    files = ["-p", str(root / "platforms" / "cluster32.xml"), "-w", str(root / "workloads" / "mixed.json")]
    assert run(["simulate", *files, "-s", "filler"]) == 0
    assert "approximation: " not in capsys.readouterr().out
    assert run(["simulate", *files, "-s", "filler", "--network", "alone"]) == 0
    assert "approximation: " in capsys.readouterr().out


def test_options_come_from_a_file_and_are_overruled_one_by_one(
    generated: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recording keeps what was given."""
    (here / "options.json").write_text('{"reserve": "hosts", "backfill_order": "sjf"}')
    options = ["--options-file", "options.json", "-o", "backfill_order=fcfs"]
    assert run([*generated, "-s", "easy", *options, "--clock", "fixed:1", "--record", "run.jsonl", "--quiet"]) == 0
    header = json.loads((here / "run.jsonl").read_text().splitlines()[0])
    assert header["options"] == {"reserve": "hosts", "backfill_order": "fcfs"}
    assert (header["algorithm"], header["clock"]) == ("easy", "fixed:1")


@pytest.mark.parametrize("clock", ["zero", "fixed:0.5", "measured"])
def test_a_simulation_is_replayed(generated: tuple[str, ...], capsys: pytest.CaptureFixture[str], clock: str) -> None:
    """With the algorithm, the options and the clock of the recording; measured times make no difference."""
    assert (
        run([*generated, "-s", "easy", "-o", "reserve=hosts", "--clock", clock, "--record", "r.jsonl", "--quiet"]) == 0
    )
    assert run(["replay", "r.jsonl"]) == 0
    assert "exchanges, all decisions are the same" in capsys.readouterr().out


def test_a_replay_that_decides_otherwise_shows_the_first_difference(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1; the recorded options do not go to another algorithm."""
    jobs = [{"id": name, "subtime": 0, "res": size, "walltime": 100, "profile": "p"} for name, size in SIZES.items()]
    workload = {"nb_res": 4, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 10}}}
    (here / "w.json").write_text(json.dumps(workload))
    assert run(["generate", "--jobs", "1", "--hosts", "4", "-o", "other.json", "--platform", "p.xml"]) == 0
    recording = ["-s", "easy", "-o", "reserve=hosts", "--record", "r.jsonl", "--quiet"]
    assert run(["simulate", "-p", "p.xml", "-w", "w.json", *recording]) == 0
    capsys.readouterr()
    assert run(["replay", "r.jsonl", "-s", "fcfs"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "fcfs: 1 of 5 exchanges with the same decision, then:",
        "exchange 1, t=0: another decision",
        "  Batsim reported: JOB_SUBMITTED w0!1, JOB_SUBMITTED w0!2, JOB_SUBMITTED w0!3, "
        "NOTIFY no_more_static_job_to_submit",
        "  - recorded, + now",
        "    EXECUTE_JOB w0!1 on 0-2",
        "  - EXECUTE_JOB w0!3 on 3",
        "3 more exchanges cannot be compared: there Batsim answers the recorded decision",
    ]


@pytest.fixture
def two_runs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """a.jsonl of EASY and b.jsonl of FCFS, on the same three jobs."""
    jobs = [{"id": name, "subtime": 0, "res": size, "walltime": 100, "profile": "p"} for name, size in SIZES.items()]
    workload = {"nb_res": 4, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 10}}}
    (here / "w.json").write_text(json.dumps(workload))
    assert run(["generate", "--jobs", "1", "--hosts", "4", "-o", "other.json", "--platform", "p.xml"]) == 0
    for name, scheduler in (("a", "easy"), ("b", "fcfs")):
        files = ["-p", "p.xml", "-w", "w.json", "--record", f"{name}.jsonl"]
        assert run(["simulate", *files, "-s", scheduler, "--quiet"]) == 0
    capsys.readouterr()


@pytest.mark.usefixtures("two_runs")
def test_two_runs_that_differ_are_compared_by_job(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1; what each says, then counts and the jobs."""
    assert run(["diff", "a.jsonl", "b.jsonl"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "5 and 6 exchanges: 14 facts are the same, 3 differ",
        "- a.jsonl, + b.jsonl",
        "t=0: start of w0!3",
        "  - at t=0, hosts 3",
        "  + at t=20, hosts 0",
        "t=10: end of w0!3",
        "  - at t=10, hosts 3",
        "  + at t=30, hosts 0",
        "t=20: the end of the simulation",
        "  - at t=20",
        "  + at t=30",
        "starts: 1 (1 at another time, 1 in hosts)",
        "ends: 1 (1 at another time, 1 in hosts)",
        "closing: 1 (1 at another time)",
        "jobs that differ: 1 (w0!3)",
    ]


@pytest.mark.usefixtures("two_runs")
def test_two_runs_that_do_not_differ_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0; also if what differs is ignored."""
    assert run(["diff", "a.jsonl", "a.jsonl"]) == 0
    assert capsys.readouterr().out == "same: 5 and 5 exchanges, 17 facts\n"
    ignored = [argument for kind in ("starts", "ends", "closing") for argument in ("--ignore", kind)]
    assert run(["diff", "a.jsonl", "b.jsonl", *ignored]) == 0


@pytest.mark.usefixtures("two_runs")
def test_the_number_of_differences_that_are_shown_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    """The summary counts all of them."""
    assert run(["diff", "a.jsonl", "b.jsonl", "--count", "1"]) == 1
    assert "and 2 more" in capsys.readouterr().out
    assert run(["diff", "a.jsonl", "b.jsonl", "--count", "0"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "5 and 6 exchanges: 14 facts are the same, 3 differ"
    assert out[1].startswith("starts: 1 ")


@pytest.mark.usefixtures("two_runs")
def test_tolerances_are_options(capsys: pytest.CaptureFixture[str]) -> None:
    """In seconds."""
    assert run(["diff", "a.jsonl", "b.jsonl", "--tolerance", "20"]) == 1
    out = capsys.readouterr().out
    assert "at another time" not in out
    assert "1 in hosts" in out


#: Jobs of which EASY lets the third overtake the second, and FCFS does not.
SIZES = {"1": 3, "2": 4, "3": 1}


def test_list_shows_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each algorithm, with the first sentence of what it does."""
    assert run(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in BUILT_INS:
        (line,) = [line for line in lines if line.startswith(f" {name} ")]
        assert line.split(maxsplit=1)[1].strip()
    assert any(re.fullmatch(r" fcfs +Start jobs in arrival order; no job overtakes another *", line) for line in lines)


def test_list_shows_apart_what_is_for_tests_and_what_packages_add(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A group without an algorithm has no heading."""
    monkeypatch.setattr(schedulers, "BUILT_INS", {name: BUILT_INS[name] for name in ("easy", "filler")})
    monkeypatch.setattr(schedulers, "FOR_TESTS", frozenset({"filler"}))
    assert run(["list"]) == 0
    firsts = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip(" ─")]
    assert firsts == ["built-in", "easy", "for", "filler"]
    monkeypatch.setattr(listing, "available", lambda: {**schedulers.BUILT_INS, "theirs": BUILT_INS["fcfs"]})
    monkeypatch.setattr(listing, "load_from_here", lambda name: load("easy"))
    monkeypatch.setattr(schedulers, "FOR_TESTS", frozenset())
    assert run(["list"]) == 0
    firsts = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip(" ─")]
    assert firsts == ["built-in", "easy", "filler", "of", "theirs"]


PLAIN = """
from batsched_py.api import NoOptions, Scheduler

class Plain(Scheduler[NoOptions]):
    name = "plain"

    def decide(self, view, plan):
        pass
"""


def test_describe_shows_options_and_source(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each option with its type and default."""
    assert run(["describe", "easy"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("easy (batsched_py.schedulers.easy:Easy)\n\nStart jobs in arrival order;")
    assert "Source: Lifka" in out
    assert "Needs walltimes" in out
    assert "counts | hosts" in out
    (here / "plain.py").write_text(PLAIN)
    assert run(["describe", "plain.py:Plain"]) == 0
    assert "It has no options." in capsys.readouterr().out


def test_an_algorithm_of_ones_own_is_found_where_one_is(
    generated: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its file, or as a module of the current folder."""
    (here / "of_ones_own.py").write_text(
        "from batsched_py.api import *\n"
        "class Mine(Scheduler[NoOptions]):\n"
        '    """Wait for nobody, and for nothing."""\n'
        '    name = "mine"\n'
        "    needs_energy = needs_dynamic_jobs = True\n"
        "    def decide(self, view, plan):\n"
        "        for job in view.queue: plan.reject(job, 'no')\n"
    )
    for name in ("of_ones_own.py:Mine", "of_ones_own:Mine"):
        assert run(["describe", name]) == 0
        out = capsys.readouterr().out
        assert "Wait for nobody" in out
        assert "-E" in out
        assert "--enable-dynamic-jobs" in out


def test_simulate_speaks_the_old_dialect(generated: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """The same schedule under other job ids, which may be chosen; its record can be replayed."""
    named = ["--workload-name", "d4cace", "--record", "old.jsonl"]
    assert run([*generated, "-s", "easy", "-e", "new", "--quiet"]) == 0
    assert run([*generated, "-s", "easy", "-e", "old", "--quiet", "--protocol", "v1.4", *named]) == 0
    new, old = Path("new_jobs.csv").read_text(), Path("old_jobs.csv").read_text()
    assert new.replace(",w0,", ",d4cace,") == old
    assert "resources_data" in Path("old.jsonl").read_text()
    assert run(["replay", "old.jsonl"]) == 0
    assert "byte for byte" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--protocol", "v1.4", "--events", "events.txt"], "external events (--events) do not exist in protocol v1.4"),
        (
            ["--protocol", "v1.4", "--forward-unknown-events"],
            "--forward-unknown-events does not exist in",
        ),
        (["--protocol", "v1.4", "--message-latency"], "--message-latency does not go with protocol v1.4"),
        (["--workload-name", "a", "--workload-name", "b"], "there must be a name for each workload (1), not 2"),
        (["--acknowledge-dynamic-jobs"], "'--acknowledge-dynamic-jobs' goes with '--enable-dynamic-jobs'"),
        (
            ["--protocol", "v1.4", "--no-acknowledge-dynamic-jobs"],
            "'--no-acknowledge-dynamic-jobs' goes with '--enable-dynamic-jobs'",
        ),
        (["--protocol", "v3"], "Invalid value for '--protocol': 'v3' is not one of 'v4', 'v1.4'"),
    ],
)
def test_what_the_protocol_or_another_option_lacks_is_wrong_usage(
    generated: tuple[str, ...], capsys: pytest.CaptureFixture[str], options: list[str], rule: str
) -> None:
    """One line, and nothing was simulated."""
    Path("events.txt").write_text('{"timestamp": 1, "type": "machine_unavailable", "resources": "0"}\n')
    assert run([*generated, "-s", "easy", *options]) == 2
    assert rule in capsys.readouterr().err
