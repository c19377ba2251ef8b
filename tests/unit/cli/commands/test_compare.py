"""`compare`: which algorithms, which workloads, and what is wrong with them."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import sys
from pathlib import Path

import pytest

from batsched_py.campaigns.methods.forms import form_of
from batsched_py.campaigns.pair_tests import holm
from batsched_py.cli.main import run
from batsched_py.errors import OptionError
from tests.clone import ROOT

MINE = """
from batsched_py.api import NoOptions, Plan, Scheduler, View


class Mine(Scheduler[NoOptions]):
    name = "mine"

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts is not None:
                plan.start(job, hosts)
"""

#: A small study: what it is about stands behind it.
STUDY = ("compare", "-p", "p.xml", "--generate", "lublin:jobs=20", "--seeds", "1-3", "--processes", "1")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "100")
    assert run(["generate", "--jobs", "20", "--hosts", "8", "-o", "w.json", "--platform", "p.xml"]) == 0
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "mine.py").write_text(MINE)
    return tmp_path


def algorithms(*arguments: str) -> list[dict[str, object]]:
    """Run a comparison and return its algorithms."""
    assert run([*STUDY, *arguments, "--quiet", "--json", "all.json"]) == 0
    found: list[dict[str, object]] = json.loads(Path("all.json").read_bytes())["algorithms"]
    return found


def names(*arguments: str) -> list[object]:
    """Return the names of the algorithms of a command line, as tables have them."""
    return [one["name"] for one in algorithms(*arguments)]


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a wrong command line and return its error, which is one line."""
    capsys.readouterr()
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.removeprefix("batsched-py: error: ").replace(" (see batsched-py compare --help)", "").rstrip()


def test_options_belong_to_the_algorithm_before_them(here: Path) -> None:
    """In whatever order the rest stands; a file of options and -o are one."""
    (here / "o.json").write_text('{"reserve": "hosts", "order": "lcfs"}')
    found = algorithms("-s", "easy", "-s", "easy", "-o", "order=sjf", "--options-file", "o.json", "-s", "fcfs")
    assert [one["options"] for one in found] == [{}, {"reserve": "hosts", "order": "sjf"}, {}]
    assert [one["name"] for one in found] == ["easy", "easy(reserve=hosts, order=sjf)", "fcfs"]


def test_algorithms_are_called_what_their_classes_call_them() -> None:
    """With the options they were given; by -s where that would be the same; or as the user says."""
    assert names("-s", "easy", "-s", "mine.py:Mine") == ["easy", "mine"]
    assert names("-s", "mine.py:Mine", "-s", "old/mine.py:Mine") == ["mine.py:Mine", "old/mine.py:Mine"]
    assert names("-s", "easy", "--name", "EASY, counts", "-s", "easy") == ["EASY, counts", "easy"]


def test_seeds_are_the_workloads_that_generate_draws(here: Path) -> None:
    """Kept with the results of each run, as simulate writes them."""
    assert run([*STUDY, "-s", "fcfs", "-s", "easy", "-o", "order=sjf", "-e", "out", "--quiet"]) == 0
    assert run(["generate", "--jobs", "20", "--hosts", "8", "--seed", "2", "-o", "two.json"]) == 0
    assert (here / "out" / "lublin-2" / "workload.json").read_bytes() == (here / "two.json").read_bytes()
    assert run(["simulate", "-p", "p.xml", "-w", "two.json", "-s", "fcfs", "-e", "one", "--quiet"]) == 0
    for ending in ("jobs", "machine_states"):
        kept = here / "out" / "lublin-2" / f"fcfs_{ending}.csv"
        assert kept.read_bytes() == (here / f"one_{ending}.csv").read_bytes()
    assert sorted(path.name for path in (here / "out").rglob("*_jobs.csv")) == [
        *["easy-order=sjf_jobs.csv"] * 3,
        *["fcfs_jobs.csv"] * 3,
    ]


def test_files_are_workloads_of_their_own(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is an observation; names are those of the files."""
    assert run(["generate", "--jobs", "10", "--hosts", "8", "-o", "v.json"]) == 0
    arguments = ["-p", "p.xml", "-w", "w.json", "-w", "v.json", "-s", "easy", "-s", "fcfs", "--metrics", "max_wait"]
    assert run(["compare", *arguments, "--json", "all.json"]) == 0
    assert json.loads((here / "all.json").read_bytes())["workloads"] == ["w", "v"]
    out, err = capsys.readouterr()
    assert "maximum wait [s]" in out
    assert "mean wait" not in out
    assert err == "batsched-py: warning: 2 workloads are few: below 10 the intervals are too narrow\n"


def test_seeds_of_algorithms_are_observations_of_one_workload(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As simulate -o seed=N runs them; an algorithm without the option has the same metrics for each."""
    study = ["compare", "-p", "p.xml", "-w", "w.json", "-s", "easy", "-s", "random", "--metrics", "mean_wait"]
    assert run([*study, "--seeds", "1-3", "--json", "all.json", "--csv", "all.csv", "-e", "out"]) == 0
    out, err = capsys.readouterr()
    assert "Means over 3 seeds" in out
    assert "Run once for each of 3 seeds: random; others do not depend on it." in " ".join(out.split())
    assert "3 seeds are few" in err
    found = json.loads((here / "all.json").read_bytes())
    assert found["seeds"] == [1, 2, 3]
    assert found["workloads"] == ["w-seed-1", "w-seed-2", "w-seed-3"]
    waits = {(one["algorithm"], one["workload"]): one["figures"]["mean_wait"] for one in found["runs"]}
    assert len({waits["easy", name] for name in found["workloads"]}) == 1
    assert len({waits["random", name] for name in found["workloads"]}) > 1
    files = ["-p", "p.xml", "-w", "w.json"]
    assert run(["simulate", *files, "-s", "random", "-o", "seed=2", "-e", "two", "--quiet"]) == 0
    assert (here / "two_jobs.csv").read_bytes() == (here / "out" / "w-seed-2" / "random_jobs.csv").read_bytes()
    assert run([*study, "--seeds", "1-3", "--csv", "short.csv", "--quiet"]) == 0  # without files each is run once
    assert (here / "short.csv").read_bytes() == (here / "all.csv").read_bytes()


def test_several_workloads_are_observed_once_whatever_the_seeds(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the mean of their runs: what chance does on one workload tells nothing of others."""
    assert run(["generate", "--jobs", "10", "--hosts", "8", "-o", "v.json"]) == 0
    files = ["-p", "p.xml", "-w", "w.json", "-w", "v.json"]
    assert run(["compare", *files, "-s", "random", "-s", "easy", "--seeds", "4,7", "--json", "all.json"]) == 0
    out, err = capsys.readouterr()
    assert "Means over 2 workloads" in out
    assert "2 workloads are few" in err
    found = json.loads((here / "all.json").read_bytes())
    runs = [one["figures"]["mean_wait"] for one in found["runs"] if one["algorithm"] == "random"]
    mean, low, high = (found["figures"]["mean_wait"][0]["mean"][key] for key in ("value", "low", "high"))
    halves = sorted([sum(runs[:2]) / 2, sum(runs[2:]) / 2])
    assert (mean, low, high) == pytest.approx((sum(runs) / 4, *halves))


def test_settings_are_those_of_simulate(capsys: pytest.CaptureFixture[str]) -> None:
    """Energy is shown when it is counted; a smaller machine gets smaller workloads."""
    assert run([*STUDY, "-s", "easy", "--mmax", "4", "--message-latency", "--quiet", "-e", "out"]) == 0
    assert json.loads(Path("out/lublin-1/workload.json").read_bytes())["nb_res"] == 4
    root = ROOT
    energy = ["compare", "-p", str(root / "platforms" / "energy16.xml"), "-w", "w.json", "-s", "easy", "-s", "fcfs"]
    assert run([*energy, "-E"]) == 0
    assert "energy [J]" in capsys.readouterr().out


def test_what_the_tables_do_not_tell_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    """An algorithm that rejects looks good."""
    assert run([*STUDY, "-s", "fcfs", "-s", "rejecter"]) == 0
    out, err = capsys.readouterr()
    assert "rejected" in out
    assert (
        "warning: not the same jobs ran under rejecter as under fcfs on 3 of 3 workloads (lublin-1...): "
        "their figures are of different jobs\n"
    ) in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-p", "p.xml", "-w", "w.json"], "Missing option '-s': which algorithms shall be compared?"),
        (["-p", "p.xml", "-s", "easy"], "One of '-w' and '--generate' is needed: which workloads?"),
        ([*STUDY[1:], "-w", "w.json", "-s", "easy"], "One of '-w' and '--generate' is needed: which workloads?"),
        (
            ["-p", "p.xml", "-w", "w.json", "--seeds", "1", "-s", "easy"],
            "'--seeds' goes with '--generate', or with an ...",
        ),
        (["-p", "p.xml", "-w", "w.json", "-w", "./w.json", "-s", "easy"], "'-w' names w.json twice: ..."),
        ([*STUDY[1:], "-o", "a=1", "-s", "easy"], "a=1 comes before any '-s': ..."),
        ([*STUDY[1:], "-s", "easy", "-o", "sjf"], "'-o' must be key=value, not 'sjf'"),
        ([*STUDY[1:], "-s", "easy", "-s", "easy"], "two algorithms are called easy: tell them apart by '--name'"),
        ([*STUDY[1:], "-s", "easy", "--name", "a", "--name", "b"], "easy has two names, a and b"),
        ([*STUDY[1:], "-s", "easy", "-o", "reserve=cores"], "option reserve of easy: must be counts | hosts, ..."),
        ([*STUDY[1:], "-s", "nobody"], "algorithm nobody: unknown; ..."),
        ([*STUDY[1:], "-s", "easy", "--baseline", "fcfs"], "baseline fcfs: unknown; there are: easy"),
        ([*STUDY[1:], "-s", "easy", "--metrics", "tea"], "metric tea: unknown; there are: successful, ..."),
        (
            [*STUDY[1:], "-s", "easy", "--metrics", "mean_wiat"],
            "metric mean_wiat: unknown; did you mean mean_wait? There are: ...",
        ),
        ([*STUDY[1:], "-s", "easy", "--metrics", "energy"], "'--metrics energy' goes with '-E'"),
        (
            [*STUDY[1:], "-s", "easy", "--seeds", "9-1"],
            "Invalid value for '--seeds': must be like 1-20 ...",
        ),
        (
            [*STUDY[1:], "-s", "easy", "--seeds", "1,1-900000000"],
            "Invalid value for '--seeds': must be at most 10000 seeds",
        ),
        ([*STUDY[1:], "-s", "easy", "--generate", "x:jobs=1"], "--generate x: unknown; there are: lublin"),
        ([*STUDY[1:], "-s", "easy", "--generate", "lublin"], "--generate lublin: needs jobs, like lublin:jobs=300"),
        ([*STUDY[1:], "-s", "easy", "--generate", "lublin:a=1"], "--generate a: unknown; there are: jobs, hosts, ..."),
        ([*STUDY[1:], "-s", "easy", "--generate", "lublin:jobs=x"], "--generate jobs: must be a whole number, not 'x'"),
        (
            [*STUDY[1:], "-s", "easy", "--generate", "lublin:jobs=1,load=0"],
            "--generate load: must be from 0.001 to 10 ...",
        ),
        (
            [*STUDY[1:], "-s", "easy", "--acknowledge-dynamic-jobs"],
            "'--acknowledge-dynamic-jobs' goes with '--enable-dynamic-jobs'",
        ),
        ([*STUDY[1:], "-s", "easy", "--csv", "p.xml"], "'-p' and '--csv' name the same file, p.xml"),
        ([*STUDY[1:], "-s", "easy", "--csv", "a", "--json", "a"], "'--csv' and '--json' name the same file, a"),
        ([*STUDY[1:], "-s", "easy", "-e", "p.xml"], "p.xml/lublin-1/easy_jobs.csv: cannot be written: Not a directory"),
        (
            [*STUDY[1:], "-s", "easy", "--name", "a b", "-s", "fcfs", "--name", "a/b", "-e", "out"],
            "'-e' would write the files of a b and of a/b to the same place",
        ),
        (["-p", "p.xml", "-w", "no.json", "-s", "easy"], "no.json: cannot be read: No such file or directory"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], told: str) -> None:
    """Before anything runs or is written."""
    text = error(capsys, "compare", *arguments)
    assert text.startswith(told.removesuffix("...")) if told.endswith("...") else text == told
    assert sorted(path.name for path in Path().iterdir()) == ["mine.py", "old", "p.xml", "w.json"]


def test_an_error_of_all_workloads_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    """With the first few of them; algorithms are told apart."""
    Path("broken.py").write_text(
        "from batsched_py.api import *\n"
        "class Broken(Scheduler[NoOptions]):\n"
        '    name = "broken"\n'
        "    def setup(self, view): raise ValueError('by design')\n"
        "    def decide(self, view, plan): ...\n"
    )
    broken = ["-s", "broken.py", "-s", "broken.py:Broken", "--name", "other"]
    study = [*STUDY, "--seeds", "1-5", "--quiet", "-s", "easy", *broken]
    assert run(study) == 3
    lines = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert [line.partition(": ")[2].rpartition(" on 5 workloads")[0] for line in lines] == [
        "error: broken",
        "error: other",
    ]
    assert all("on 5 workloads (lublin-1, lublin-2, lublin-3...): " in line for line in lines)


def test_pictures_and_a_page_are_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A forest plot, or of the kind that is asked for."""
    study = [*STUDY, "--seeds", "1-3", "--quiet", "-s", "easy", "-s", "fcfs"]
    assert run([*study, "--figure", "f.pdf", "--report", "page.html"]) == 0
    assert run([*study, "--figure", "b.svg", "--figure-kind", "boxes"]) == 0
    assert (here / "f.pdf").read_bytes().startswith(b"%PDF")
    assert "ratio to easy" not in (here / "b.svg").read_text()
    assert "<h1>easy, fcfs</h1>" in (here / "page.html").read_text()
    assert run([*study, "--figure", "c.svg", "--figure-kind", "curve"]) == 2
    assert "a curve needs variants of one algorithm" in capsys.readouterr().err
    assert not (here / "c.svg").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--figure", "f.gif"], "must end with .pdf or .svg or .png"),
        (["--figure-kind", "boxes"], "'--figure-kind' goes with '--figure'"),
        (["--figure", "same.svg", "--csv", "same.svg"], "same.svg"),
    ],
)
def test_wrong_pictures_are_refused_before_anything_runs(
    here: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    """Nothing is written."""
    assert told in error(capsys, *STUDY, "-s", "easy", "-s", "fcfs", *options)
    assert not list(here.glob("*.svg"))


def test_a_picture_without_matplotlib_names_the_extra(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the runs, which may be long."""
    monkeypatch.setattr("batsched_py.loading.find_spec", lambda name: None)
    assert ".[plot]" in error(capsys, *STUDY, "-s", "easy", "--report", "page.html")
    assert not (here / "page.html").exists()


def test_a_part_of_each_run_is_measured(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table, the CSV, the JSON and the LaTeX tell which."""
    files = ["--csv", "c.csv", "--json", "c.json", "--latex", "c.tex"]
    assert run([*STUDY, "-s", "easy", "-s", "fcfs", "--skip", "1h", *files]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Measured: jobs submitted from 3600 s after the first submission; hosts' time is cut there, too." in told
    found = list(csv.DictReader((here / "c.csv").read_text().splitlines()))
    assert all(float(row["window_begin"]) > 3600 for row in found)
    assert all(int(row["outside_window"]) > 0 for row in found)
    assert json.loads((here / "c.json").read_bytes())["window"] == {"begin": None, "until": None, "skip": 3600}
    assert "Measured: jobs submitted from 3600 s after the first submission." in (here / "c.tex").read_text()


def test_a_date_that_no_workload_tells(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is an error before anything runs."""
    said = error(capsys, *STUDY, "-s", "easy", "--from", "2024-05-31")
    assert "--from: is a date, and lublin-1 does not tell" in said


#: Three hosts' jobs: ada has two of them until 100, bob needs all then, and eve one for 50 s.
OWNED = {
    "nb_res": 8,
    "jobs": [
        {"id": "a", "subtime": 0, "res": 6, "walltime": 110, "profile": "p", "user": "ada"},
        {"id": "b", "subtime": 1, "res": 8, "walltime": 110, "profile": "p", "user": "bob"},
        {"id": "c", "subtime": 2, "res": 2, "walltime": 60, "profile": "q", "user": "eve"},
    ],
    "profiles": {"p": {"type": "delay", "delay": 100}, "q": {"type": "delay", "delay": 50}},
}


def test_waits_are_compared_by_user(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """FCFS starts c after b, at 200; EASY at once: eve gains 198 s, and nobody loses."""
    (here / "owned.json").write_text(json.dumps(OWNED))
    study = ["compare", "-p", "p.xml", "-w", "owned.json", "-s", "fcfs", "-s", "easy", "--by", "user", "--by", "size"]
    assert run([*study, "--groups", "g.csv", "--json", "all.json"]) == 0
    out = capsys.readouterr().out
    assert "easy against fcfs, by user: 1 group gains, most eve (-198.0 s a job); no group loses; 2 groups wait" in out
    found = list(csv.DictReader((here / "g.csv").read_text().splitlines()))
    waits = {(row["group"], row["algorithm"]): float(row["mean_wait"]) for row in found if row["by"] == "user"}
    assert [waits[user, "fcfs"] for user in ("ada", "bob", "eve")] == [0, 99, 198]
    assert [waits[user, "easy"] for user in ("ada", "bob", "eve")] == [0, 99, 0]
    assert [row["group"] for row in found if row["by"] == "size"] == ["2", "2", "5-8", "5-8"]
    assert len(json.loads((here / "all.json").read_bytes())["groups"]) == len(found)


def test_the_number_of_processes_does_not_change_groups(here: Path) -> None:
    """They are sent from the processes of runs."""
    (here / "owned.json").write_text(json.dumps(OWNED))
    for number in ("1", "2"):
        study = ["compare", "-p", "p.xml", "-w", "owned.json", "-s", "fcfs", "-s", "easy", "--by", "user", "--quiet"]
        assert run([*study, "--groups", f"{number}.csv", "--processes", number]) == 0
    assert (here / "1.csv").read_bytes() == (here / "2.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("--by", "user"), "w.json: no job has a member 'user': unknown; there are: size, "),
        (("--by", "qos"), "w.json: no job has qos, also not in its member slurm: 'convert --slurm-members' keeps it"),
        (("--by", "runtime"), "w.json: run times depend on the algorithm"),
        (("--by", "size,size"), "'--by' must name each member once, not size,size"),
        (("--groups", "g.csv"), "'--groups' goes with '--by'"),
    ],
)
def test_groups_that_there_are_not(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], rule: str) -> None:
    """In one line, before anything runs."""
    assert error(capsys, "compare", "-p", "p.xml", "-w", "w.json", "-s", "fcfs", *arguments).startswith(rule)


def test_loads_are_compared_in_the_same_tables(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each load is compared as if it were alone, and a column of the tables has it."""
    names = ("-s", "easy", "-s", "fcfs", "--metrics", "mean_wait")
    assert (
        run([*STUDY, "--load", "0.6,0.9", *names, "--json", "all.json", "--latex", "all.tex", "--csv", "all.csv"]) == 0
    )
    out = capsys.readouterr().out
    heading = next(line for line in out.splitlines() if line.startswith("mean wait"))
    assert heading.split()[3:5] == ["load", "mean"]
    assert [line.split()[:2] for line in out.splitlines() if line.startswith(("easy", "fcfs"))][2:] == [
        ["easy", "0.6"], ["fcfs", "0.6"], ["easy", "0.9"], ["fcfs", "0.9"],
    ]  # fmt: skip
    found = json.loads((here / "all.json").read_bytes())
    assert [part["values"] for part in found["parts"]] == [{"load": 0.6}, {"load": 0.9}]
    assert found["parts"][1]["workloads"] == ["lublin-load=0.9-1", "lublin-load=0.9-2", "lublin-load=0.9-3"]
    assert r"\textbf{load=0.9}" in (here / "all.tex").read_text()
    assert len((here / "all.csv").read_text().splitlines()) == 1 + 2 * 3 * 2
    one = ("compare", "-p", "p.xml", "--generate", "lublin:jobs=20,load=0.9", "--seeds", "1-3", *names)
    assert run([*one, "--json", "one.json", "--quiet"]) == 0
    assert json.loads((here / "one.json").read_bytes())["figures"] == found["parts"][1]["figures"]


def test_parts_of_a_log_are_observations(here: Path) -> None:
    """As convert --every writes them, which the files of the runs keep; several logs are compared apart."""
    assert run(["convert", "w.json", "--every", "6h", "-o", "part.json"]) == 0
    written = sorted(here.glob("part-*.json"))
    names = ("-s", "easy", "-s", "fcfs", "--metrics", "mean_wait", "--quiet")
    log = ("compare", "-p", "p.xml", "-w", "w.json", "--every", "6h", *names)
    assert run([*log, "--json", "a.json", "-e", "out"]) == 0
    found = json.loads((here / "a.json").read_bytes())
    assert len(found["workloads"]) == len(written) > 1
    for name, file in zip(found["workloads"], written, strict=True):
        kept = (here / "out" / name / "workload.json").read_bytes()
        assert json.loads(kept)["jobs"] == json.loads(file.read_bytes())["jobs"]
        assert found["origins"][name]["sha256"] == hashlib.sha256(kept).hexdigest()
    (here / "v.json").write_bytes((here / "w.json").read_bytes())
    assert run([*log, "-w", "v.json", "--json", "two.json"]) == 0
    parts = json.loads((here / "two.json").read_bytes())["parts"]
    assert [part["values"] for part in parts] == [{"log": "w"}, {"log": "v"}]
    assert parts[0]["figures"] == parts[1]["figures"] == found["figures"]


def test_curves_over_the_load_are_the_default_figure(here: Path) -> None:
    """They have a point with a bar for each load; a forest plot has a row for each load."""
    names = ("-s", "easy", "-s", "fcfs", "--metrics", "mean_wait", "--quiet", "--load", "0.6,0.9")
    for kind in (["--figure", "c.svg"], ["--figure", "f.svg", "--figure-kind", "forest"]):
        assert run([*STUDY, *names, *kind]) == 0
    assert (here / "c.svg").read_bytes() != (here / "f.svg").read_bytes()
    assert run([*STUDY, *names, "--figure", "d.svg", "--figure-kind", "curve"]) == 0
    assert (here / "c.svg").read_bytes() == (here / "d.svg").read_bytes()


def test_a_page_of_several_loads_has_them_in_one_table(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a column for the load, the numbers of the tables of a terminal, curves over the load, and all workloads."""
    names = ("-s", "easy", "-s", "fcfs", "--metrics", "mean_wait", "--load", "0.6,0.9", "--seeds", "2")
    study = ("compare", "-p", "p.xml", "--generate", "lublin:jobs=20", "--processes", "1")
    assert run([*study, *names, "--report", "page.html", "--json", "all.json"]) == 0
    assert "2 seeds: 1-2\n" in capsys.readouterr().err
    page = (here / "page.html").read_text()
    assert "2 algorithms on 4 workloads, compared with easy, for load=0.6; load=0.9" in page
    [table] = re.findall(
        r"<table class=\"ratios\"><caption>mean wait[^<]*: less is better<.*?</table>", page, re.DOTALL
    )
    assert re.findall(r'<th scope="col">(.*?)</th>', table)[:3] == ["algorithm", "load", "mean"]
    rows = [re.findall(r"<t[hd][^>]*>(?:<span.*</span>)?([^<]*)</t[hd]>", row) for row in table.split("<tr>")[2:]]
    assert [row[:2] for row in rows] == [["easy", "0.6"], ["fcfs", "0.6"], ["easy", "0.9"], ["fcfs", "0.9"]]
    parts = json.loads((here / "all.json").read_bytes())["parts"]
    means = [mean["mean"]["value"] for part in parts for mean in part["figures"]["mean_wait"]]
    assert [float(row[2]) for row in rows] == pytest.approx(means, abs=0.051)
    assert page.count("<h3>Means over load</h3>") == 1
    assert all(page.count(f">lublin-load={load}-{seed}<") == 2 for load in (0.6, 0.9) for seed in (1, 2))


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["-w", "w.json", "--load", "0.5"], "'--load' goes with '--generate'"),
        (["--generate", "lublin:jobs=9", "--every", "1d"], "'--every' goes with '-w'"),
        (["--generate", "lublin:jobs=9,load=1", "--load", "0.5"], "'--load' and the key load of '--generate' exclude"),
        (["--generate", "lublin:jobs=9", "--load", "0.5,high"], "must be numbers, not high"),
        (["--generate", "lublin:jobs=9", "--load", "0.5,0.50"], "must name each load once"),
        (["--generate", "lublin:jobs=9", "--load", "0.5,-1"], "--generate load"),
        (["-w", "w.json", "--tests"], "'--tests' and '--precision' need several algorithms"),
        (["--generate", "lublin:jobs=9", "--seeds", "0"], "must be at least 1 seed, or 0-0 for the seed 0"),
        (["-w", "w.json", "--every", "0"], "--every: must be greater than 0 s"),
    ],
)
def test_loads_and_parts_that_cannot_be_are_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], rule: str
) -> None:
    assert rule in error(capsys, "compare", "-p", "p.xml", "-s", "easy", *arguments)


def test_tests_are_corrected_for_all_of_the_tables(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those of all loads and metrics together; without the options nothing of them is shown."""
    names = ("-s", "easy", "-s", "fcfs", "-s", "conservative", "--metrics", "mean_wait,makespan", "--load", "0.6,0.9")
    assert run([*STUDY, *names, "--tests", "--precision", "10%", "--json", "all.json", "--latex", "all.tex"]) == 0
    out = capsys.readouterr().out
    heading = next(line for line in out.splitlines() if line.startswith("mean wait"))
    assert heading.split()[-3:] == ["effect", "p", "needed"]
    found = json.loads((here / "all.json").read_bytes())
    tests = [
        mean["tests"]
        for part in found["parts"]
        for means in part["figures"].values()
        for mean in means
        if "tests" in mean
    ]
    assert found["inference"] == {"tests": True, "precision": 0.1, "family": len(tests)}
    assert len(tests) == 2 * 2 * 2
    assert [one["corrected"] for one in tests] == holm([one["p"] for one in tests])
    assert "Effect & $p$ (Holm) & Needed" in (here / "all.tex").read_text()
    assert run([*STUDY, *names]) == 0
    assert "effect" not in capsys.readouterr().out


def test_a_precision_is_a_percentage(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("0", "5x", "101%", "nan"):
        assert "must be a percentage such as 5%" in error(capsys, *STUDY, "-s", "easy", "--precision", text)


def test_one_workload_has_no_tests(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "-p", "p.xml", "-w", "w.json", "-s", "easy", "-s", "fcfs", "--tests", "--json", "one.json"]
    assert run(words) == 0
    assert "Use more workloads" in capsys.readouterr().out
    assert "corrected" not in (here / "one.json").read_text()


def test_methods_describe_what_was_compared(here: Path) -> None:
    """In two forms, with the same citations, all of which are in the file beside; the same each time."""
    study = ["compare", "-p", "p.xml", "--generate", "lublin:jobs=20", "--load", "0.6,0.9", "--seeds", "1-3,7"]
    study += ["-s", "easy", "-o", "order=sjf", "-s", "mine.py:Mine", "--tests", "--precision", "5%", "--quiet"]
    for name in ("m.tex", "m.md", "again.tex"):
        assert run([*study, "--clock", "fixed:1", "--methods", name]) == 0
    tex, markdown = (here / "m.tex").read_text(), (here / "m.md").read_text()
    assert (here / "again.tex").read_text() == tex
    cited = set(",".join(re.findall(r"\\cite\{([^}]*)\}", tex)).split(","))
    assert (
        cited
        == set(re.findall(r"@(\w+)", markdown))
        == set(re.findall(r"^@\w+\{(\w+),", (here / "m.bib").read_text(), re.M))
    )
    assert {"lifka1995", "lublin2003", "holm1979", "kerby2014", "wilcoxon1945", "efron1979", "feitelson1997"} <= cited
    for text in (
        *("`easy(order=sjf)`", "seeds 1-3, 7", "`load=0.6, 0.9`", "A workload has 20 jobs", "clock fixed:1", "8 hosts"),
        f"`mine.py`, SHA-256 `{hashlib.sha256(MINE.encode()).hexdigest()}`",
        f"SHA-256 `{hashlib.sha256((here / 'p.xml').read_bytes()).hexdigest()}`",
    ):
        assert text in markdown
    assert r"\texttt{walltimes=" in tex
    assert "must end with .tex or .md" in wrong_methods()


def wrong_methods() -> str:
    """Return the error of another suffix."""
    with pytest.raises(OptionError) as caught:
        form_of(Path("m.txt"))
    return str(caught.value)


def test_methods_do_not_replace_another_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert "must end with .tex or .md" in error(capsys, *STUDY, "-s", "easy", "--methods", "m.txt")
    assert "m.bib" in error(capsys, *STUDY, "-s", "easy", "--methods", "m.md", "--csv", "m.bib")


def test_a_warm_up_of_jobs_is_cut_for_all_algorithms(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As if each workload were measured from the submission of the next job on, which --from does."""
    names = ("-s", "easy", "-s", "fcfs", "--metrics", "mean_wait,utilisation")
    assert run(["compare", "-p", "p.xml", "-w", "w.json", *names, "--warm-up", "5jobs", "--json", "cut.json"]) == 0
    assert "Warm-up cut: the first 5 jobs of each workload" in " ".join(capsys.readouterr().out.split())
    cut = json.loads((here / "cut.json").read_bytes())
    begin = cut["warm_up"]["begins"]["w"]
    assert begin == sorted(job["subtime"] for job in json.loads((here / "w.json").read_bytes())["jobs"])[5]
    assert run(["compare", "-p", "p.xml", "-w", "w.json", *names, "--from", repr(begin), "--json", "from.json"]) == 0
    assert json.loads((here / "from.json").read_bytes())["figures"] == cut["figures"]
    assert [one["figures"]["outside_window"] for one in cut["runs"]] == [5, 5]


def test_a_time_as_a_warm_up_is_skipped(here: Path) -> None:
    names = ("-s", "easy", "-s", "fcfs", "--quiet")
    for words, file in ((["--warm-up", "1h"], "a.csv"), (["--skip", "1h"], "b.csv")):
        assert run([*STUDY, *names, *words, "--csv", file]) == 0
    assert (here / "a.csv").read_bytes() == (here / "b.csv").read_bytes()


def test_a_warm_up_that_is_found_is_the_latest_of_all_algorithms(here: Path) -> None:
    """The same for all on a workload, though their waits differ; methods and tables say it."""
    study = ["compare", "-p", "p.xml", "--generate", "lublin:jobs=120,load=0.8", "--seeds", "1-3", "--warm-up", "auto"]
    study += ["-s", "easy", "--metrics", "mean_wait", "--quiet"]
    assert run([*study, "-s", "fcfs", "--json", "auto.json", "--methods", "m.tex", "--latex", "t.tex"]) == 0
    found = json.loads((here / "auto.json").read_bytes())
    begins = found["warm_up"]["begins"]
    assert list(begins) == found["workloads"]
    for one in found["runs"]:
        assert one["figures"]["window_begin"] == (begins[one["workload"]] or None)
    assert run([*study, "--json", "one.json"]) == 0
    easy = json.loads((here / "one.json").read_bytes())["warm_up"]["begins"]
    assert all(begins[name] >= easy[name] for name in begins)
    assert "MSER-5" in (here / "t.tex").read_text()
    assert r"\cite{white2000}" in (here / "m.tex").read_text()


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["--warm-up", "some"], "must be auto, a number of jobs like 500jobs, or a time like 2d"),
        (["--warm-up", "20jobs"], "lublin-1 has 20 jobs, and a warm-up of 20 is to be cut"),
        (["--warm-up", "auto", "--skip", "1h"], "'--warm-up' and '--from', '--to', '--skip' exclude each other"),
    ],
)
def test_warm_ups_that_cannot_be_are_one_line(capsys: pytest.CaptureFixture[str], words: list[str], rule: str) -> None:
    assert rule in error(capsys, *STUDY, "-s", "easy", *words)
