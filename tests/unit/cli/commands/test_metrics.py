"""`batsched-py metrics`: what it shows and writes, and what it refuses."""

from __future__ import annotations

import csv
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.hostset import HostSet
from batsched_py.reporting.metrics.catalogue import METRIC_INFO, RESOURCE_METRICS
from batsched_py.reporting.metrics.job_metrics import COLUMNS
from batsched_py.results.result_files import JOBS_HEADER
from tests.clone import ROOT

BATSIM = ROOT / "tests" / "data" / "batsim"
EASY, SLEEPER = str(BATSIM / "o16_energy_easy"), str(BATSIM / "o17_energy_sleeper")
LOG = """; MaxProcs: 8
1 0 5 10 2 -1 -1 4 20 -1 1 7 -1 -1 -1 -1 -1 -1
2 4 -1 10 2 -1 -1 4 20 -1 1 7 -1 -1 -1 -1 -1 -1
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def rows(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    return list(csv.DictReader(StringIO(text)))


def lines(text: str) -> list[list[str]]:
    """The words of each line of a table."""
    return [line.split() for line in text.splitlines() if line.strip()]


def test_runs_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    """A column for each, units on the right."""
    assert run(["metrics", EASY, SLEEPER]) == 0
    shown = lines(capsys.readouterr().out)
    assert shown[0] == ["o16_energy_easy", "o17_energy_sleeper"]
    assert ["jobs", "60", "60"] in shown
    assert ["makespan", "9373.6", "20810.0", "s"] in shown
    assert ["sleeping", "0.000", "63.558", "host", "h"] in shown
    assert ["users", "unknown", "unknown"] in shown


def test_names_of_runs_are_no_markup(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A user may call a run as he likes."""
    (here / "[bold red]z_jobs.csv").write_bytes((BATSIM / "o16_energy_easy" / "out_jobs.csv").read_bytes())
    for more in ([], ["--batsim"]):
        assert run(["metrics", "[bold red]z", *more]) == 0
        assert lines(capsys.readouterr().out)[0] == ["[bold", "red]z"]


def test_a_table_in_a_file_is_plain_text(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment's colours of terminals do not matter."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run(["metrics", EASY, "-o", "t.txt"]) == 0
    assert b"\x1b" not in (here / "t.txt").read_bytes()


def test_rows_that_say_nothing_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """Energy that was not counted, states that did not occur."""
    assert run(["metrics", str(BATSIM / "o02_easy_bf_delays")]) == 0
    first = {words[0] for words in lines(capsys.readouterr().out)}
    assert not first & {"energy", "sleeping", "killed", "jobs with a deadline"}
    assert {"walltime", "computing", "fragmentation"} <= first


def test_csv_has_a_row_for_each_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Every metric by its name, with all its digits; unknown ones are empty."""
    assert run(["metrics", EASY, SLEEPER, "--format", "csv"]) == 0
    first, second = rows(capsys.readouterr().out)
    assert tuple(first) == ("run", *(name for name in METRIC_INFO if name not in RESOURCE_METRICS))
    assert (first["run"], first["energy"], first["fairness_wait"]) == ("o16_energy_easy", "14240194.480004", "")
    assert float(second["makespan"]) == 20810


def test_json_has_batsims_metrics_beside_ours(capsys: pytest.CaptureFixture[str]) -> None:
    """It also has where all came from."""
    assert run(["metrics", EASY, "--format", "json", "--tau", "60"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    (found,) = told["runs"]
    assert (told["tau"], found["run"], found["notes"]) == (60, "o16_energy_easy", [])
    assert found["source"].endswith("o16_energy_easy/out_jobs.csv")
    assert found["figures"]["users"] == 0
    assert found["batsim"]["nb_jobs_killed"] == 18


def test_tau_is_the_bound(capsys: pytest.CaptureFixture[str]) -> None:
    """The longer, the smaller the slowdowns."""
    slowdowns = []
    for tau in ("1", "10", "600"):
        assert run(["metrics", EASY, "--format", "csv", "--tau", tau]) == 0
        slowdowns.append(float(rows(capsys.readouterr().out)[0]["mean_bounded_slowdown"]))
    assert slowdowns[0] >= slowdowns[1] > slowdowns[2] >= 1


def test_a_row_for_each_job_has_batsims_columns_first(capsys: pytest.CaptureFixture[str]) -> None:
    """A reader of Batsim's file reads this one; cells of a rejected job are empty."""
    assert run(["metrics", str(BATSIM / "o10_edge"), "--per-job"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[0] == ",".join((*COLUMNS, "run"))
    assert text.startswith(JOBS_HEADER)
    with (BATSIM / "o10_edge" / "out_jobs.csv").open() as file:
        recorded = list(csv.DictReader(file))
    found = rows(text)
    assert [{name: row[name] for name in recorded[0]} for row in found] == recorded
    assert {row["run"] for row in found} == {"o10_edge"}
    assert {row["bounded_slowdown"] for row in found if row["final_state"] == "REJECTED"} == {""}


@pytest.mark.parametrize(
    ("series", "columns"),
    [
        ("utilisation", ["utilisation"]),
        ("busy", ["busy_hosts"]),
        ("running", ["running_jobs"]),
        ("queue", ["waiting_jobs", "asked_hosts"]),
        ("fragmentation", ["fragmentation"]),
        ("states", [f"{state}_hosts" for state in ("sleeping", "switching_on", "switching_off", "idle", "computing")]),
        ("power", ["watts"]),
    ],
)
def test_each_series_is_written_in_steps(capsys: pytest.CaptureFixture[str], series: str, columns: list[str]) -> None:
    """From 0 on, times ascend, run after run."""
    assert run(["metrics", EASY, SLEEPER, "--series", series]) == 0
    found = rows(capsys.readouterr().out)
    assert list(found[0]) == ["run", "time", *columns]
    for name in ("o16_energy_easy", "o17_energy_sleeper"):
        times = [float(row["time"]) for row in found if row["run"] == name]
        assert times == sorted(set(times))
        assert times[0] == 0
    assert all(row[column] != "" for row in found for column in columns)


def test_hosts_in_each_state_are_whole_numbers(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are for a log, too, and never less than 0, whatever it says of its machine."""
    (here / "log.swf").write_text("; MaxProcs: 2\n1 0 0 10 4 -1 -1 4 20 -1 1 7 -1 -1 -1 -1 -1 -1\n")
    assert run(["metrics", "log.swf", "--series", "states"]) == 0
    assert capsys.readouterr().out == "run,time,idle_hosts,computing_hosts\nlog,0.0,0,2\nlog,10,2,0\n"


def test_batsims_metrics_are_those_of_its_own_file(capsys: pytest.CaptureFixture[str]) -> None:
    """By name, to the digits that it writes."""
    assert run(["metrics", EASY, "--batsim", "--format", "csv"]) == 0
    (found,) = rows(capsys.readouterr().out)
    (told,) = rows((BATSIM / "o16_energy_easy" / "out_schedule.csv").read_text())
    del found["run"]
    assert found.items() <= told.items()
    assert run(["metrics", EASY, "--batsim"]) == 0
    assert ["mean_waiting_time", told["mean_waiting_time"]] in lines(capsys.readouterr().out)


@pytest.mark.parametrize(("name", "begin"), [("f.csv", "run,jobs"), ("f.json", "{"), ("f.txt", " ")])
def test_the_ending_of_a_file_says_how_it_is_written(here: Path, name: str, begin: str) -> None:
    """Its folder is made, and nothing goes to standard output."""
    assert run(["metrics", EASY, SLEEPER, "-o", f"new/{name}"]) == 0
    text = (here / "new" / name).read_text()
    assert text.startswith(begin)
    assert "o17_energy_sleeper" in text


def test_a_table_in_a_file_is_as_wide_as_it_needs(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The width of the terminal does not matter."""
    monkeypatch.setenv("COLUMNS", "30")
    assert run(["metrics", *[EASY] * 8, "-o", "wide.txt"]) == 0
    assert "o16_energy_easy (8)" in (here / "wide.txt").read_text()


def test_no_number_is_broken_over_two_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal runs that do not fit stand below the others; a pipe is as wide as it must be."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["metrics", *[EASY] * 6]) == 0
    [makespans] = [line for line in lines(capsys.readouterr().out) if line[0] == "makespan"]
    assert makespans == ["makespan", *["9373.62"] * 6, "s"]
    monkeypatch.setenv("FORCE_COLOR", "1")  # to rich, a terminal
    assert run(["metrics", *[EASY] * 6]) == 0
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert max(map(len, shown.splitlines())) <= 80
    blocks = [line for line in lines(shown) if line[0] == "makespan"]
    assert len(blocks) > 1
    assert [word for line in blocks for word in line[1:-1]] == ["9373.62"] * 6
    assert [f"o16_energy_easy ({number})" in shown for number in range(1, 7)] == [True] * 6


def test_energy_is_told_as_in_the_other_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """In kWh and in joules."""
    assert run(["metrics", EASY]) == 0
    shown = lines(capsys.readouterr().out)
    [energy] = [number for number, line in enumerate(shown) if line[0] == "energy"]
    assert shown[energy][2] == "kWh"
    assert shown[energy + 1][1] == "J"
    assert float(shown[energy][1]) == pytest.approx(float(shown[energy + 1][0]) / 3.6e6, abs=1e-3)


def test_what_is_assumed_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On standard error, so that what is piped stays whole."""
    (here / "log.swf").write_text(LOG)
    assert run(["metrics", "log.swf", "--format", "csv"]) == 0
    out, err = capsys.readouterr()
    assert err == "note: log: 1 line left out: no wait\n"
    (found,) = rows(out)
    assert (found["hosts"], found["jobs"], found["users"], found["fairness_wait"]) == ("8", "1", "1", "1.0")


def test_hosts_can_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A larger machine is used less."""
    assert run(["metrics", EASY, "--hosts", "32", "--format", "csv"]) == 0
    (found,) = rows(capsys.readouterr().out)
    assert (found["hosts"], round(float(found["utilisation"]), 4)) == ("32", 0.4238)


def test_a_workload_tells_users_and_deadlines(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the ids of its jobs."""
    workload = json.loads((BATSIM / "inputs" / "delays60.json").read_text())
    for number, job in enumerate(workload["jobs"]):
        job |= {"user": f"u{number % 3}", "deadline": "+400"}
    (here / "w.json").write_text(json.dumps(workload))
    assert run(["metrics", EASY, "-w", "w.json", "--format", "csv"]) == 0
    (found,) = rows(capsys.readouterr().out)
    assert (found["users"], found["with_deadline"]) == ("3", "60")
    assert 0 < int(found["deadlines_met"]) < 60
    assert 1 / 3 <= float(found["fairness_wait"]) < 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere: there is no such file, no file nowhere_jobs.csv and no folder with a *_jobs.csv"),
        ([], "Missing argument 'PATH...'"),
        ([EASY, "--per-job", "--series", "queue"], "are different things to show: choose one"),
        ([EASY, "--per-job", "--format", "json"], "give CSV, not '--format json'"),
        ([EASY, "--batsim", "--format", "json"], "'--batsim' cannot be combined with JSON"),
        ([EASY, "--batsim", "--tau", "5"], "'--tau' does not go with '--batsim'"),
        ([EASY, "--series", "queue", "-o", "x.json"], "give CSV, not '--format json'"),
        ([EASY, "--tau", "0"], "--tau"),
        ([EASY, "--tau", "inf"], "must be a number of seconds"),
        ([EASY, "--hosts", "0"], "--hosts"),
        ([str(BATSIM / "o10_edge"), "--series", "power"], "'--series power': the files of o10_edge do not tell it"),
        ([EASY, "-w", str(BATSIM / "inputs" / "burst60.json")], "has none of the jobs of"),
        ([EASY, "-o", "/proc/x/y.csv"], "/proc/x/y.csv: cannot be written"),
    ],
)
def test_what_cannot_be_shown_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    """Exit code 2, and nothing on standard output."""
    assert run(["metrics", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err


def test_a_file_that_is_read_is_never_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not those that lie beside the jobs either."""
    for ending in ("jobs", "schedule"):
        (here / f"out_{ending}.csv").write_bytes((BATSIM / "o10_edge" / f"out_{ending}.csv").read_bytes())
    before = (here / "out_schedule.csv").read_bytes()
    assert run(["metrics", "out", "-o", "out_schedule.csv"]) == 2
    assert "'PATH' and '-o' name the same file, out_schedule.csv" in capsys.readouterr().err
    assert (here / "out_schedule.csv").read_bytes() == before


def test_a_part_of_a_run_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """The window stands in tables, CSV and JSON, the jobs outside are counted; Batsim measures whole runs only."""
    part = ["--from", "1h", "--to", "2h"]
    assert run(["metrics", EASY, SLEEPER, *part]) == 0
    shown = lines(capsys.readouterr().out)
    assert ["measured", "from", "3600.00", "3600.00", "s"] in shown
    assert ["to", "7200.00", "7200.00", "s"] in shown
    assert run(["metrics", EASY, "--format", "csv", *part]) == 0
    [row] = rows(capsys.readouterr().out)
    assert (row["window_begin"], row["window_end"]) == ("3600", "7200")
    assert int(row["jobs"]) + int(row["outside_window"]) == 60
    assert run(["metrics", EASY, "--format", "json", *part]) == 0
    [told] = json.loads(capsys.readouterr().out)["runs"]
    assert (told["figures"]["window_begin"], told["figures"]["jobs"], told["batsim"]) == (3600, int(row["jobs"]), None)
    assert run(["metrics", EASY, "--per-job", *part]) == 0
    assert len(rows(capsys.readouterr().out)) == int(row["jobs"])
    assert run(["metrics", EASY, "--per-job", "--from", "5min", "--to", "1h"]) == 0
    jobs = rows(capsys.readouterr().out)
    assert 0 < len(jobs) < 60
    assert all(300 <= float(job["submission_time"]) < 3600 for job in jobs)
    assert {(job["window_begin"], job["window_end"]) for job in jobs} == {("300", "3600")}


def test_whole_runs_tell_no_window(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing was cut off."""
    assert run(["metrics", EASY]) == 0
    assert "measured from" not in capsys.readouterr().out
    for form in (["--per-job"], ["--series", "busy"]):
        assert run(["metrics", EASY, *form]) == 0
        assert "window" not in capsys.readouterr().out


def test_series_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    """They begin with the value that holds there."""
    assert run(["metrics", EASY, "--series", "busy"]) == 0
    every = [(float(row["time"]), row["busy_hosts"]) for row in rows(capsys.readouterr().out)]
    assert run(["metrics", EASY, "--series", "busy", "--from", "1000.5", "--to", "2000"]) == 0
    cut = rows(capsys.readouterr().out)
    assert {(row["window_begin"], row["window_end"]) for row in cut} == {("1000.5", "2000")}
    found = [(float(row["time"]), row["busy_hosts"]) for row in cut]
    assert found[0] == (1000.5, [value for time, value in every if time <= 1000.5][-1])
    assert found[1:] == [(time, value) for time, value in every if 1000.5 < time < 2000]


def test_dates_of_a_log(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The log tells when it started, and so does a run of the workload that was made of it."""
    (here / "log.swf").write_text("; UnixStartTime: 1000\n; MaxProcs: 4\n" + LOG.replace("4 -1 10 2", "4 3 10 2"))
    date = ["--from", "1970-01-01T00:16:43"]
    assert run(["convert", "log.swf", "-o", "w.json"]) == 0
    platform = str(ROOT / "platforms" / "tiny4.xml")
    assert run(["simulate", "-p", platform, "-w", "w.json", "-s", "easy", "-e", "run", "--quiet"]) == 0
    alone = (here / "run_jobs.csv").read_bytes()
    (here / "alone_jobs.csv").write_bytes(alone)
    capsys.readouterr()
    for told in (["log.swf"], ["run"], ["alone", "-w", "w.json"]):
        assert run(["metrics", *told, "--format", "csv", *date]) == 0
        [row] = rows(capsys.readouterr().out)
        assert (row["jobs"], row["window_begin"]) == ("1", "3.0")
    assert run(["metrics", "alone", *date]) == 2
    assert "alone does not tell at which date its clock started" in capsys.readouterr().err
    described = json.loads((here / "run_run.json").read_bytes())
    assert described["workloads"][0]["log_start"] == "1970-01-01T00:16:40Z"


def test_each_row_of_groups_names_its_run_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Columns that do not fit are named on a line."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("FORCE_COLOR", "1")  # to rich, a terminal
    assert run(["metrics", EASY, SLEEPER, "--by", "size"]) == 0
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert "left out, for which 60 characters are too few: " in shown
    assert shown.count("size ") == 1
    for name in ("o16_energy_easy", "o17_energy_sleeper"):
        assert sum(name in line for line in shown.splitlines()) == shown.count("o16_energy_easy") > 1


def test_groups_of_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    """As a table, CSV and JSON; with the window in each."""
    assert run(["metrics", EASY, SLEEPER, "--by", "size"]) == 0
    shown = lines(capsys.readouterr().out)
    assert shown[0][:4] == ["size", "jobs", "host", "h"]
    assert [words[1] for words in shown if words[1:2] == ["o16_energy_easy"]]
    assert run(["metrics", EASY, "--by", "runtime", "--format", "csv", "--to", "1h"]) == 0
    groups = rows(capsys.readouterr().out)
    assert {(row["run"], row["by"], row["window_begin"], row["window_end"]) for row in groups} == {
        ("o16_energy_easy", "runtime", "0.0", "3600")
    }
    assert run(["metrics", EASY, "--by", "runtime", "--format", "json", "--to", "1h"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["by"] == "runtime"
    assert told["runs"][0]["window"] == {"begin": 0.0, "end": 3600}
    assert [group["group"] for group in told["runs"][0]["groups"]] == [row["group"] for row in groups]
    assert run(["metrics", EASY, "--by", "size", "--to", "1h"]) == 0
    assert "\nmeasured: jobs submitted to 3600 s\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--batsim", "--from", "5"], "'--batsim' does not go with '--from', '--to' and '--skip'"),
        (
            ["--by", "size", "--per-job"],
            "'--per-job', '--series', '--by', '--critical-path' and '--batsim' are different things to show",
        ),
        (["--by", "user"], "out_jobs.csv: tells no users: '-w WORKLOAD' does"),
        (["--by", "colour"], "out_jobs.csv: tells no member 'colour' of jobs: '-w WORKLOAD' does, if they have it"),
        (["--from", "3d"], "o16_energy_easy: there is no time from 259200 to 9373.622: the last job ends at"),
        (["--from", "2024-05-31"], "--from: is a date, and o16_energy_easy does not tell"),
    ],
)
def test_parts_and_groups_that_cannot_be(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    """One line, exit code 2."""
    assert run(["metrics", EASY, *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


RING = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="all" routing="Full">
<cluster id="c" prefix="n" suffix="" radical="0-5" speed="1Gf" bw="1MBps" lat="0" topology="TORUS" topo_parameters="6"/>
<zone id="m" routing="Full"><host id="master_host" speed="1Gf"/></zone>
</zone></platform>
"""


def run_on_hosts(*allocations: str) -> None:
    """Write the jobs file `ring_jobs.csv` with a job on each of these sets of hosts."""
    rows = [
        f"{number},w0,p,0,{len(HostSet.parse(hosts))},10,1,COMPLETED_SUCCESSFULLY,0,1,1,0,1,1,{hosts},-1,"
        for number, hosts in enumerate(allocations)
    ]
    Path("ring_jobs.csv").write_text("\n".join([JOBS_HEADER.strip(), *rows, ""]))


def test_hops_are_links_between_the_hosts_of_a_job(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a ring of 6: neighbours are one link apart, opposite hosts three; one host has no pair."""
    (here / "ring.xml").write_text(RING)
    run_on_hosts("0-1", "0 3", "0-2", "0 5", "4")
    assert run(["metrics", "ring", "--per-job", "--hosts", "6", "-p", "ring.xml"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[0] == ",".join((*COLUMNS, "mean_hops", "max_hops", "switches", "groups", "run"))
    found = [(row["mean_hops"], row["max_hops"]) for row in rows(text)]
    assert found == [("1.000000", "1"), ("3.000000", "3"), ("1.333333", "2"), ("1.000000", "1"), ("", "")]
    assert {(row["switches"], row["groups"]) for row in rows(text)} == {("", "")}


@pytest.mark.parametrize(
    ("topology", "places"),
    [  # two groups of two chassis of two blades of two hosts
        ("DRAGONFLY;2,1;2,1;2,1;2", [("1", "1"), ("2", "1"), ("2", "2"), ("8", "2"), ("1", "1")]),
        ("FAT_TREE;2;4,4;1,2;1,1", [("1", ""), ("1", ""), ("2", ""), ("4", ""), ("1", "")]),
    ],
)
def test_switches_and_groups_of_a_job_are_counted(
    here: Path, capsys: pytest.CaptureFixture[str], topology: str, places: list[tuple[str, str]]
) -> None:
    """Hosts have the positions of their numbers, since the names have two digits."""
    shape, _, parameters = topology.partition(";")
    content = RING.replace("0-5", "10-25").replace("TORUS", shape)
    (here / "net.xml").write_text(content.replace('topo_parameters="6"', f'topo_parameters="{parameters}"'))
    run_on_hosts("0-1", "1-2", "7-8", "0-15", "5")
    assert run(["metrics", "ring", "--per-job", "--hosts", "16", "-p", "net.xml"]) == 0
    assert [(row["switches"], row["groups"]) for row in rows(capsys.readouterr().out)] == places


def test_hops_need_rows_of_jobs_and_the_platform_of_the_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both are one line."""
    (here / "ring.xml").write_text(RING)
    run_on_hosts("0-1", "6-7")
    assert run(["metrics", "ring", "-p", "ring.xml"]) == 2
    assert "'--platform' goes with '--per-job'" in capsys.readouterr().err
    assert run(["metrics", "ring", "--per-job", "--hosts", "8", "-p", "ring.xml"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "batsched-py: error: ring.xml: has 6 compute hosts, but job w0!1 ran on host 7\n"
