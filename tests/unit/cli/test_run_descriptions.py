"""Descriptions of runs that commands write with their results: `PREFIX_run.json`."""

from __future__ import annotations

import csv
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import batsched_py
from batsched_py.cli.main import run
from tests.clone import ROOT

PLATFORM = str(ROOT / "platforms" / "tiny4.xml")
WORKLOAD = str(ROOT / "workloads" / "first.json")
FILES = ("-p", PLATFORM, "-w", WORKLOAD)
MINE = """from dataclasses import dataclass

from batsched_py.api import Plan, Scheduler, View, option


@dataclass(frozen=True)
class Options:
    seed: int = option(7, "of nothing")
    most: float | None = option(None, "hosts of a job")


class Mine(Scheduler[Options]):
    name = "mine"

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            plan.reject(job, "no")
"""
FAILING = MINE.replace('plan.reject(job, "no")', 'raise ValueError("enough")')


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two algorithms of a user."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "failing.py").write_text(FAILING)
    return tmp_path


def told(prefix: str) -> dict[str, Any]:
    """Return the description of a run."""
    content: dict[str, Any] = json.loads(Path(f"{prefix}_run.json").read_text())
    return content


def digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_a_run_tells_what_it_was() -> None:
    """Algorithm, options with their defaults, files with their hashes, settings, versions and the command."""
    platform = str(ROOT / "platforms" / "energy16.xml")
    files = ["-p", platform, "-w", WORKLOAD]
    command = ["simulate", *files, "-s", "easy", "-o", "order=sjf", "-E", "-e", "out/easy", "--quiet"]
    assert run(command) == 0
    content = told("out/easy")
    assert (content["algorithm"], content["options"]["order"]) == ("easy", "sjf")
    assert content["options"]["selection"] == "lowest"
    assert content["options"]["repair_time"] is None
    assert content["seed"] is None
    assert content["platform"] == {"path": platform, "sha256": digest(platform)}
    assert content["workloads"] == [{"path": WORKLOAD, "sha256": digest(WORKLOAD)}]
    assert content["settings"]["energy"] is True
    assert content["settings"]["clock"] == "zero"
    assert "external_events" not in content["settings"]
    assert content["version"] == batsched_py.__version__
    assert content["command"] == ["batsched-py", *command]
    assert content["results"] == {
        "jobs": digest("out/easy_jobs.csv"),
        "decisions": digest("out/easy_decisions.csv"),
    }
    assert content["measured"]["seconds"] > 0


def test_the_same_run_differs_in_what_is_measured_only() -> None:
    """It differs in nothing else."""
    found = []
    for _ in range(2):
        assert run(["simulate", *FILES, "-s", "random", "-o", "seed=4", "-e", "out/", "--quiet"]) == 0
        found.append(told("out/"))
    assert found[0]["seed"] == 4
    assert all(one.pop("measured") for one in found)
    assert found[0] == found[1]


def test_files_of_the_users_own_are_among_the_input(here: Path) -> None:
    """Code, options, and what happens to the machines."""
    (here / "options.json").write_text('{"most": 2}')
    (here / "events.txt").write_text('{"timestamp": 5, "type": "machine_unavailable", "resources": "3"}\n')
    files = ("--options-file", "options.json", "--events", "events.txt")
    assert run(["simulate", *FILES, "-s", "mine.py:Mine", *files, "-e", "out/mine", "--quiet"]) == 0
    content = told("out/mine")
    assert content["algorithm"] == "mine.py:Mine"
    assert (content["options"], content["seed"]) == ({"seed": 7, "most": 2.0}, 7)
    assert content["files"] == [
        {"path": path, "sha256": digest(path), "role": role}
        for path, role in (("events.txt", "events"), ("mine.py", "algorithm"), ("options.json", "options file"))
    ]


def test_options_that_batsim_sends_count() -> None:
    """Those of the user take precedence."""
    sent = ("--sched-cfg", '{"order": "lcfs", "slack": 5}')
    assert run(["simulate", *FILES, "-s", "easy", "-o", "slack=2", *sent, "-e", "out/x", "--quiet"]) == 0
    options = told("out/x")["options"]
    assert (options["order"], options["slack"]) == ("lcfs", 2.0)


def test_a_drawn_workload_names_its_model() -> None:
    """As far as the file says how it was drawn."""
    drawn = ["--jobs", "20", "--hosts", "4", "--seed", "9", "--load", "0.5", "-o", "w.json", "--platform", "p.xml"]
    assert run(["generate", *drawn]) == 0
    assert run(["simulate", "-p", "p.xml", "-w", "w.json", "-s", "fcfs", "-e", "x", "--quiet"]) == 0
    (workload,) = told("x")["workloads"]
    expected = {"model": "lublin", "jobs": 20, "hosts": 4, "seed": 9, "load": 0.5, "overestimate": 4.0}
    assert workload["generator"] == expected


def test_a_run_that_fails_leaves_its_beginning(capsys: pytest.CaptureFixture[str]) -> None:
    """With a description that says why it is not more; all that look at runs can show it."""
    assert run(["simulate", *FILES, "-s", "fcfs", "-e", "out/x", "--quiet"]) == 0
    assert told("out/x")["failure"] == ""
    assert run(["simulate", *FILES, "-s", "failing.py:Mine", "-e", "out/x", "--quiet"]) == 3
    line = capsys.readouterr().err
    failure = told("out/x")["failure"]
    assert line == f"batsched-py: error: {failure}\n"
    assert "ValueError: enough (failing.py:" in failure
    decisions = Path("out/x_decisions.csv").read_text().splitlines()
    assert [row.split(",")[1:3] for row in decisions[-1:]] == [["unfinished", "w0!A"]]
    assert run(["explain", "out/x", "A"]) == 0
    assert "not started when the run ended" in capsys.readouterr().out


def test_a_run_that_fails_in_the_middle_has_what_ended_before(capsys: pytest.CaptureFixture[str]) -> None:
    """Rows of jobs, those that run or wait as unfinished, and metrics of the beginning."""
    Path("late.py").write_text(
        "from batsched_py.schedulers.fcfs import Fcfs\n"
        "class Late(Fcfs):\n"
        "    def decide(self, view, plan):\n"
        "        super().decide(view, plan)\n"
        "        assert view.now < 70\n"
    )
    assert run(["simulate", *FILES, "-s", "late.py", "-e", "out/x", "--quiet"]) == 3
    assert told("out/x")["results"].keys() == {"jobs", "decisions"}
    jobs = [row.split(",")[0] for row in Path("out/x_jobs.csv").read_text().splitlines()[1:]]
    rows = [row.split(",") for row in Path("out/x_decisions.csv").read_text().splitlines()]
    unfinished = {row[2]: row[3] for row in rows if row[1] == "unfinished"}
    whole = [row.split(",")[0] for row in whole_jobs()]
    assert jobs == whole[: len(jobs)]
    assert 0 < len(jobs) < len(whole)
    assert any(unfinished.values())
    assert not all(unfinished.values())
    capsys.readouterr()
    for command in (["metrics", "out/x"], ["gantt", "out/x"], ["explain", "out/x", next(iter(unfinished))]):
        assert run(command) == 0


def whole_jobs() -> list[str]:
    """The rows of the jobs of a run that does not fail."""
    assert run(["simulate", *FILES, "-s", "fcfs", "-e", "out/whole", "--quiet"]) == 0
    return Path("out/whole_jobs.csv").read_text().splitlines()[1:]


def test_an_error_before_the_first_answer_leaves_nothing() -> None:
    """There is nothing to tell, and an earlier run's files stay."""
    assert run(["simulate", *FILES, "-s", "fcfs", "-e", "out/x", "--quiet"]) == 0
    before = Path("out/x_run.json").read_bytes()
    Path("early.py").write_text(
        "from batsched_py.schedulers.fcfs import Fcfs\n"
        "class Early(Fcfs):\n"
        "    def setup(self, view): raise ValueError\n"
    )
    assert run(["simulate", *FILES, "-s", "early.py", "-e", "out/x", "--quiet"]) == 3
    assert Path("out/x_run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            ["simulate", "-p", PLATFORM, "-w", "x_run.json", "-s", "fcfs"],
            "'-w' and '-e' name the same file",
        ),
        (["serve", "-s", "fcfs", "--record", "x_run.json"], "'--record' and '-e' name the same file"),
        (["haizea", "x_run.json"], "'CONF' and '-e' name the same file"),
    ],
)
def test_no_input_is_overwritten(
    command: list[str], words: str, capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    """As with all other files of a run."""
    path = here / "x_run.json"
    path.write_bytes(Path(WORKLOAD).read_bytes())
    if command[0] == "haizea":
        assert run(["haizea", "--sample", "trace"]) == 0
        (conf,) = here.glob("*.conf")
        path.write_bytes(conf.read_bytes())
        capsys.readouterr()
    before = path.read_bytes()
    assert run([*command, "-e", "x"]) == 2
    assert words in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "command",
    [
        ["simulate", *FILES],
        ["serve"],
        ["library", "-o", "lib.so"],
        ["compare", "-p", PLATFORM, "-w", WORKLOAD],
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize(
    ("algorithm", "output", "role"),
    [
        ("slurm", "slurm.conf", "option conf"),
        ("slurm", "nodes.conf", "option conf: nodes.conf"),
        ("own.py:Mine", "nodes.conf", "option conf: nodes.conf"),
        ("own.py:Mine", "own.py", ""),
    ],
)
def test_no_file_of_the_algorithm_is_overwritten(
    command: list[str], algorithm: str, output: str, role: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The documents of its options, what they include, and its code."""
    own = 'from batsched_py.schedulers.slurm.scheduler import Slurm\nclass Mine(Slurm):\n    name = "mine"\n'
    contents = {
        "own.py": own,
        "slurm.conf": "Include nodes.conf\nPartitionName=p Nodes=ALL\n",
        "nodes.conf": "NodeName=n[1-4]\n",
    }
    for name, content in contents.items():
        Path(name).write_text(content)
    write = "--csv" if command[0] == "compare" else "--record"
    option = "-O" if command[0] == "library" else "-o"
    assert run([*command, "-s", algorithm, option, "conf=slurm.conf", write, output]) == 2
    named = role or ("algorithm" if command[0] == "compare" else "-s")
    assert f"'{named}' and '{write}' name the same file, {output}" in capsys.readouterr().err
    assert {name: Path(name).read_text() for name in contents} == contents


def test_a_description_that_cannot_be_written_is_told_before_the_run(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, and nothing is written."""
    (here / "x_run.json").mkdir()
    assert run(["simulate", *FILES, "-s", "fcfs", "-e", "x"]) == 2
    assert "x_run.json: cannot be written: Is a directory" in capsys.readouterr().err
    assert not (here / "x_jobs.csv").exists()


def test_a_configuration_of_haizea_tells_what_it_was(here: Path) -> None:
    """The hosts are those of the file that has them; infinities are texts, which JSON needs."""
    assert run(["haizea", "--sample", "barebones"]) == 0
    (conf,) = (path.name for path in here.glob("*.conf"))
    assert run(["haizea", conf, "-e", "out/x"]) == 0
    content = told("out/x")
    assert content["algorithm"] == "leases"
    assert content["options"]["policy_preemption"] == "ar-preempts-everything"
    assert content["options"]["suspension"] == "all"
    assert content["platform"] == {"path": conf, "sha256": digest(conf)}
    assert content["workloads"] == [{"path": "sample.lwf", "sha256": digest("sample.lwf")}]
    assert content["results"]["leases"] == digest("out/x_leases.csv")
    assert content["settings"]["clock"] == "simulated"
    assert content["failure"] == ""


def test_each_run_of_a_comparison_tells_what_it_was() -> None:
    """Drawn workloads are those that lie beside the runs."""
    study = ["-p", PLATFORM, "--generate", "lublin:jobs=20,load=0.5", "--seeds", "3-4", "--processes", "1", "--quiet"]
    assert run(["compare", *study, "-s", "fcfs", "-s", "random", "-e", "out"]) == 0
    assert sorted(path.name for path in Path("out/lublin-4").glob("*_run.json")) == ["fcfs_run.json", "random_run.json"]
    content = told("out/lublin-4/random")
    (workload,) = content["workloads"]
    assert workload["path"] == "out/lublin-4/workload.json"
    assert workload["sha256"] == digest("out/lublin-4/workload.json")
    assert workload["generator"]["seed"] == 4
    assert (content["algorithm"], content["seed"]) == ("random", 0)
    files = {"jobs": "random_jobs.csv", "decisions": "random_decisions.csv"}
    assert content["results"] == {name: digest(f"out/lublin-4/{file}") for name, file in files.items()}


def test_the_files_of_a_comparison_tell_the_runs_apart() -> None:
    """Options and seeds in columns of their own, models with their parameters, hashes of what was read."""
    study = ["-p", PLATFORM, "--generate", "lublin:jobs=20,load=0.5", "--seeds", "3-4", "--processes", "1", "--quiet"]
    algorithms = ["-s", "easy", "-s", "easy", "-o", "slack=7", "-s", "random"]
    assert run(["compare", *study, *algorithms, "--csv", "runs.csv", "--json", "runs.json", "-e", "out"]) == 0
    with Path("runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["option_slack"] for row in rows] == 2 * ["0.0", "7.0", ""]
    assert [row["option_seed"] for row in rows] == 2 * ["", "", "0"]
    assert [(row["seed"], row["generator_seed"]) for row in rows] == 3 * [("3", "3")] + 3 * [("4", "4")]
    assert {row["generator_load"] for row in rows} == {"0.5"}
    assert rows[0]["workload_sha256"] == digest("out/lublin-3/workload.json")
    assert {row["platform_sha256"] for row in rows} == {digest(PLATFORM)}
    content = json.loads(Path("runs.json").read_text())
    assert content["platform"] == {"path": PLATFORM, "sha256": digest(PLATFORM)}
    assert content["origins"]["lublin-4"]["sha256"] == rows[-1]["workload_sha256"]
    assert [one["seed"] for one in content["runs"]] == [3, 3, 3, 4, 4, 4]
    assert content["runs"][1]["options"]["slack"] == 7.0


def test_seeds_of_algorithms_are_those_of_the_runs() -> None:
    """The seed of a workload does not matter."""
    drawn = ["--jobs", "20", "--hosts", "4", "--seed", "9", "-o", "w.json"]
    assert run(["generate", *drawn]) == 0
    files = ["-p", PLATFORM, "-w", "w.json", "--seeds", "1-2", "--processes", "1", "--quiet"]
    assert run(["compare", *files, "-s", "fcfs", "-s", "random", "--csv", "runs.csv"]) == 0
    with Path("runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["seed"] for row in rows] == ["", "1", "", "2"]
    assert {row["generator_seed"] for row in rows} == {"9"}


@pytest.fixture
def two_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The same workload under two algorithms, out/easy and out/fcfs."""
    for name in ("easy", "fcfs"):
        assert run(["simulate", *FILES, "-s", name, "-e", f"out/{name}", "--quiet"]) == 0
    capsys.readouterr()


@pytest.mark.usefixtures("two_runs")
def test_what_was_run_stands_below_metrics_and_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each run; whole in JSON, and in a file that is written."""
    lines = "easy: easy on tiny4.xml: first.json\nfcfs: fcfs on tiny4.xml: first.json\n"
    for command in ("metrics", "gantt"):
        assert run([command, "out/easy", "out/fcfs"]) == 0
        shown = capsys.readouterr()
        assert (shown.out[-len(lines) :], shown.err) == (lines, "")
    assert run(["metrics", "out/easy", "out/fcfs", "-o", "m.txt"]) == 0
    assert Path("m.txt").read_text().endswith("\n\n" + lines)
    assert run(["metrics", "out/easy", "--format", "json"]) == 0
    (told_run,) = json.loads(capsys.readouterr().out)["runs"]
    assert told_run["provenance"] == told("out/easy")


@pytest.mark.usefixtures("two_runs")
@pytest.mark.parametrize("command", [["metrics"], ["gantt"], ["report", "-o", "r.html"]])
def test_runs_of_other_input_are_told_with_what_differs(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    """One line, whatever looks at them."""
    if command[0] == "report":
        pytest.importorskip("plotly", reason="needs the extra: pip install '.[report]'")
    other = ["-p", str(ROOT / "platforms" / "cluster32.xml"), "-w", str(ROOT / "workloads" / "mixed.json")]
    assert run(["simulate", *other, "-s", "easy", "-e", "out/other", "--quiet"]) == 0
    capsys.readouterr()
    assert run([*command, "out/easy", "out/other"]) == 0
    line = "easy and other cannot be compared: other jobs (first.json; mixed.json); another platform"
    assert f"batsched-py: warning: {line} (tiny4.xml; cluster32.xml)\n" in capsys.readouterr().err


@pytest.mark.usefixtures("two_runs")
def test_a_description_of_another_run_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """As after Batsim has written its files over ours; and with a note."""
    path = Path("out/fcfs_jobs.csv")
    path.write_text(path.read_text().replace(",first,", ",w0,") + "\n")
    assert run(["metrics", "out/fcfs"]) == 0
    shown = capsys.readouterr()
    assert shown.err == "note: fcfs: fcfs_run.json is ignored: it describes a run with other results\n"
    assert "first.json" not in shown.out


@pytest.mark.usefixtures("two_runs")
def test_a_wrong_description_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """With file, member and rule."""
    Path("out/fcfs_run.json").write_text('{"algorithm": 3}')
    assert run(["metrics", "out/fcfs"]) == 2
    error = "out/fcfs_run.json: algorithm: is not a description of a run: must be a text or null, not a whole number"
    assert capsys.readouterr().err == f"batsched-py: error: {error}\n"


@pytest.mark.usefixtures("two_runs")
def test_a_description_is_read_as_a_stranger_wrote_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a terminal nor a page does what its texts say, and no code that it names is loaded."""
    hostile = told("out/fcfs")
    hostile["algorithm"] = "failing.py:Mine\x1b[2J</script><b>"
    hostile["platform"]["path"] = "<img src=x onerror=alert(1)>\n"
    hostile["options"] = {"<i>": "\x07"}
    hostile["given"] = ["<i>"]
    Path("out/fcfs_run.json").write_text(json.dumps(hostile))
    Path("failing.py").write_text("raise SystemExit('loaded')")
    for command in ("metrics", "gantt"):
        assert run([command, "out/fcfs"]) == 0
        out = capsys.readouterr().out
        assert r"failing.py:Mine\x1b[2J</script><b> (<i>=\x07) on " in out
        assert "\x1b[2J" not in out
        assert "\x07" not in out
    pytest.importorskip("plotly", reason="needs the extra: pip install '.[report]'")
    assert run(["report", "out/fcfs", "-o", "r.html"]) == 0
    page = Path("r.html").read_text()
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert not any(text in page for text in ("<img src=x", "</script><b>", "<i>", "\x1b"))


@pytest.mark.usefixtures("two_runs")
def test_a_report_opens_with_what_was_run() -> None:
    """Before any figure; runs whose files do not tell have no such section."""
    pytest.importorskip("plotly", reason="needs the extra: pip install '.[report]'")
    assert run(["report", "out/easy", "out/fcfs", "-o", "r.html"]) == 0
    page = Path("r.html").read_text()
    opening = page[page.index('<section id="runs"') : page.index('<section id="summary"')]
    assert all(text in opening for text in ("algorithm", ">easy<", ">fcfs<", "tiny4.xml", digest(WORKLOAD)[:12]))
    for name in ("easy", "fcfs"):
        Path(f"out/{name}_run.json").unlink()
    assert run(["report", "out/easy", "out/fcfs", "-o", "r.html"]) == 0
    assert '<section id="runs"' not in Path("r.html").read_text()


@pytest.mark.usefixtures("two_runs")
def test_the_description_is_not_overwritten_by_what_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    """As all files of the run."""
    assert run(["metrics", "out/easy", "-o", "out/easy_run.json"]) == 2
    assert "'PATH' and '-o' name the same file" in capsys.readouterr().err
