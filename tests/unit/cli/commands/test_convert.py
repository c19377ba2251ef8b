"""Leases that `convert` makes: of traces, logs and workloads, with what changes them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.traces.formats import FORMATS, INPUTS
from batsched_py.traces.lwf import read_lwf, write_lwf
from batsched_py.traces.simgrid_xml import read_platform
from batsched_py.traces.swf_log import SwfLog
from tests.unit.traces.lwf_files import REQUEST, document
from tests.unit.traces.test_formats import example

#: Requests of a known duration, of none, of an unknown run time, and too large ones.
SWF = """; MaxProcs: 4
1 0 -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1
2 5 -1 0 1 -1 -1 1 20 -1 0 7 -1 -1 -1 -1 -1 -1
3 8 -1 10 1 -1 -1 1 -1 -1 1 7 -1 -1 -1 -1 -1 -1
4 8 -1 -1 1 -1 -1 1 20 -1 5 7 -1 -1 -1 -1 -1 -1
5 9 -1 30 1 -1 -1 1 20 -1 1 7 -1 -1 -1 -1 -1 -1
"""
AR = REQUEST.replace("<start/>", '<start><exact time="+01:00:00"/></start>').replace('"true"', '"false"')


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.lwf").write_text(document(REQUEST, AR))
    (tmp_path / "log.swf").write_text(SWF)
    return tmp_path


def jobs(name: str = "w.json") -> list[dict[str, Any]]:
    """The jobs of a workload that was written."""
    found: list[dict[str, Any]] = json.loads(Path(name).read_bytes())["jobs"]
    return found


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run `convert` with wrong arguments, which writes no file, and return its line on stderr."""
    before = sorted(Path().iterdir())
    assert run(["convert", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert sorted(Path().iterdir()) == before
    return err


def test_a_trace_becomes_platform_and_workload(capsys: pytest.CaptureFixture[str]) -> None:
    """The kinds of leases are counted."""
    assert run(["convert", "trace.lwf", "-o", "out/w.json", "--platform", "out/p.xml"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1 advance reservation", "1 best-effort lease", "wrote out/p.xml for 4 hosts", "wrote out/w.json for 4 hosts",
    ]  # fmt: skip
    first, second = jobs("out/w.json")
    assert (first["id"], first["walltime"], first["profile"]) == ("1", 3600, "delay_600")
    assert second["lease"]["start"] == 3660
    hosts = read_platform(Path("out/p.xml")).compute_hosts()
    assert [dict(host.properties) for host in hosts] == [{"cpu": "100", "mem": "1024"}] * 4


def test_a_compressed_trace_without_site(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The hosts are those of --resources."""
    (here / "t.lwf.gz").write_bytes(gzip.compress(document(REQUEST, site="").encode(), mtime=0))
    assert "'--platform' needs '--resources'" in refused(capsys, "t.lwf.gz", "-o", "w.json", "--platform", "p.xml")
    resources = ["--resources", "3 CPU:200 Memory:512 Ponies:4"]
    assert run(["convert", "t.lwf.gz", "-o", "w.json", "--platform", "p.xml", *resources]) == 0
    hosts = read_platform(Path("p.xml")).compute_hosts()
    assert [dict(host.properties) for host in hosts] == [{"cpu": "200", "mem": "512", "capacity": "Ponies:4"}] * 3


def test_injections_images_and_overheads(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Injected leases have the last numbers; images go by submission."""
    (here / "inject.lwf").write_text(document(REQUEST.replace("00:01:00", "00:00:00"), site=""))
    (here / "images.txt").write_text("x.img 1\ny.img 2\n#\nx.img\ny.img\ny.img\ny.img\n")
    options = ["--injectionfile", "inject.lwf", "--imagefile", "images.txt", "--override-memory", "512"]
    options += ["--add-overhead", "besteffort", "--runtime-slowdown-overhead", "10", "--bootshutdown-overhead", "20"]
    assert run(["convert", "trace.lwf", "-o", "w.json", *options]) == 0
    out = capsys.readouterr().out
    assert out.startswith("1 request injected\n1 image left over\n")
    told = [(job["id"], job["walltime"], job["profile"], job["lease"]["software"]["image"]) for job in jobs()]
    assert told == [
        ("3", 3980, "delay_680", "x.img"),
        ("1", 3980, "delay_680", "y.img"),
        ("2", 3600, "delay_600", "y.img"),
    ]
    assert {job["lease"]["capacity"]["memory"] for job in jobs()} == {512}


def test_a_log_becomes_leases(capsys: pytest.CaptureFixture[str]) -> None:
    """H67: each has a request, a run time of 0 counts as 1, none is longer than its request."""
    assert run(["convert", "log.swf", "--leases", "-o", "w.json", "--platform", "p.xml"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "5 jobs in the log",
        "3 jobs kept",
        "1 dropped: run time unknown or 0",
        "1 dropped: requested time unknown or 0",
        "1 corrected: run time cut to the request",
        "1 corrected: run time 0 taken as 1 s",
        "3 best-effort leases",
        "wrote p.xml for 4 hosts",
        "wrote w.json for 4 hosts",
    ]
    assert [(job["walltime"], job["profile"]) for job in jobs()] == [
        (20, "delay_10"),
        (20, "delay_1"),
        (20, "delay_20"),
    ]
    assert {json.dumps(job["lease"]) for job in jobs()} == {
        '{"preemptible": true, "capacity": {"cpu": 100, "memory": 1024}}'
    }


def test_reservations_are_drawn_into_a_log(here: Path) -> None:
    """The same seed, the same bytes; the leases are numbered in the log's order."""
    lines = [f"{at + 1} {at} -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1" for at in range(50)]
    (here / "log.swf").write_text("; MaxProcs: 4\n" + "\n".join(lines))
    for name, seed in (("a.json", "1"), ("b.json", "1"), ("c.json", "2")):
        assert run(["convert", "log.swf", "-o", name, "--ar-share", "0.2", "--seed", seed]) == 0
    one, again, other = ((here / f"{name}.json").read_bytes() for name in "abc")
    assert one == again != other
    ahead = [job["lease"]["start"] - job["subtime"] for job in jobs("a.json") if "start" in job["lease"]]
    assert len(ahead) == 10
    assert all(3600 <= seconds <= 86400 for seconds in ahead)


def test_a_workload_becomes_a_trace_and_back(here: Path) -> None:
    """Nothing is lost on the way but the name."""
    assert run(["convert", "trace.lwf", "-o", "w.json"]) == 0
    assert run(["convert", "w.json", "-o", "again.lwf", "--resources", "4 CPU:100 Memory:1024"]) == 0
    first, again = read_lwf(here / "trace.lwf"), read_lwf(here / "again.lwf")
    assert (again.requests, again.site) == (first.requests, first.site)
    assert (again.name, again.description) == ("again", "made from w.json by batsched-py convert")
    write_lwf(here / "once_more.lwf", again)
    assert (here / "once_more.lwf").read_bytes() == (here / "again.lwf").read_bytes()


def test_dates(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    """They need the date of the start."""
    (here / "trace.lwf").write_text(document(AR.replace("+01:00:00", "2006-11-25 15:00:00")))
    assert "is a date, '2006-11-25 15:00:00', and it is not known" in refused(capsys, "trace.lwf", "-o", "w.json")
    assert run(["convert", "trace.lwf", "-o", "w.json", "--starttime", "2006-11-25 13:00:00"]) == 0
    assert jobs()[0]["lease"]["start"] == 7200


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["log.swf", "-o", "w.json", "--override-memory", "5"], "'--override-memory' is for leases"),
        (["log.swf", "-o", "w.json", "--ar-share", "1.5"], "'--ar-share': 1.5 is not in the range 0<=x<=1"),
        (["log.swf", "-o", "w.json", "--ar-share", "nan"], "'--ar-share': must be a number, not nan"),
        (["trace.lwf", "-o", "w.json", "--max-jobs", "1"], "rules of cleaning are for logs, and trace.lwf is none"),
        (["trace.lwf", "-o", "w.json", "--resources", "4 CPU:1"], "--resources: must have Memory"),
        (["trace.lwf", "-o", "w.json", "--bootshutdown-overhead", "5"], "--add-overhead: must be all or besteffort"),
        (["trace.lwf", "-o", "w.json", "--imagefile", "none"], "none: cannot be read: No such file or directory"),
        (["trace.lwf", "-o", "w.json", "--injectionfile", "log.swf"], "log.swf: is not XML: "),
        (["none.lwf", "-o", "w.json"], "none.lwf: cannot be read: No such file or directory"),
        (["none.json", "-o", "x.lwf"], "none.json: cannot be read: No such file or directory"),
        (["trace.lwf", "-o", "trace.lwf"], "'LOG' and '-o' name the same file"),
        (["log.swf", "-o", "x.lwf", "--injectionfile", "x.lwf"], "'--injectionfile' and '-o' name the same file"),
        (["trace.lwf", "-o", "x", "--platform", "trace.lwf/p.xml"], "trace.lwf/p.xml: cannot be written"),
        (["trace.lwf", "-o", "x", "--starttime", "now"], "'--starttime': 'now' does not match the formats"),
    ],
)
def test_wrong_options(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    """One line, exit code 2, and nothing is written."""
    assert said in refused(capsys, *arguments)


def test_too_few_images(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file of images is named."""
    (here / "i.txt").write_text("a 1\n#\na\n")
    said = refused(capsys, "trace.lwf", "-o", "w.json", "--imagefile", "i.txt")
    assert "i.txt: must name an image for each lease; it names 1 image for 2" in said


def test_a_platform_for_a_log(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has as many hosts as the machine; the number must be given or in the log."""
    assert run(["convert", "log.swf", "-o", "w.json", "--platform", "out/p.xml"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["wrote out/p.xml for 4 hosts", "wrote w.json for 4 hosts"]
    assert len(read_platform(Path("out/p.xml")).compute_hosts()) == 4
    (here / "unknown.swf").write_text(SWF.partition("\n")[2])
    said = refused(capsys, "unknown.swf", "-o", "x.json", "--platform", "x.xml")
    assert "'--platform' needs '--hosts': unknown.swf does not say how many there are" in said
    assert run(["convert", "unknown.swf", "-o", "x.json", "--platform", "x.xml", "--hosts", "7"]) == 0
    assert len(read_platform(Path("x.xml")).compute_hosts()) == 7


def test_a_workload_for_each_part(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names sort by time; numbers of parts without a job are left out, and told."""
    lines = [
        f"{number} {time} -1 5 1 -1 -1 1 20 -1 1 7 -1 -1 -1 -1 -1 -1" for number, time in ((1, 0), (2, 9), (3, 105))
    ]
    (here / "long.swf").write_text("; MaxProcs: 4\n; UnixStartTime: 1000\n" + "\n".join(lines))
    assert run(["convert", "long.swf", "-o", "weeks/w.json", "--every", "10s"]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "wrote weeks/w-01.json for 4 hosts: 2 jobs submitted from 0 s to 10 s",
        "wrote weeks/w-11.json for 4 hosts: 1 job submitted from 100 s to 110 s",
        "9 parts without a job: not written",
    ]
    assert [job["subtime"] for job in jobs("weeks/w-11.json")] == [5]
    last = json.loads(Path("weeks/w-11.json").read_bytes())
    assert last["log_start"] == "1970-01-01T00:18:20+00:00"
    assert last["description"] == "made from long.swf by batsched-py convert: submitted from 100 s to 110 s"


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--from", "8"], ["3", "5"]),
        (["--start", "8", "--end", "9"], ["3"]),
        (["--skip", "8s", "--to", "9"], ["3"]),
        (["--from", "1970-01-01T00:16:48"], ["3", "5"]),
        (["--from", "1970-01-01 01:16:48+01:00", "--to", "1970-01-01T00:16:49"], ["3"]),
    ],
)
def test_a_part_of_a_log(here: Path, options: list[str], ids: list[str]) -> None:
    """By seconds, after the first submission, or by date; submission times count from its beginning."""
    (here / "dated.swf").write_text("; UnixStartTime: 1000\n" + SWF)
    assert run(["convert", "dated.swf", "-o", "w.json", *options]) == 0
    assert [(job["id"], job["subtime"]) for job in jobs()] == [(name, int(name) // 5) for name in ids]
    assert json.loads(Path("w.json").read_bytes())["log_start"] == "1970-01-01T00:16:48+00:00"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["log.swf", "-o", "w.json", "--from", "2024-05-31"], "--from: is a date, and log.swf does not tell at which"),
        (["log.swf", "-o", "w.json", "--from", "5", "--skip", "5"], "--skip: cannot be combined with --from"),
        (["log.swf", "-o", "w.json", "--from", "5", "--to", "5"], "log.swf: there is no time from 5 to 5"),
        (["log.swf", "-o", "w.json", "--from", "5", "--start", "6"], "'--from' / '--start' may be given once"),
        (
            ["log.swf", "-o", "w.json", "--input-format", "sacct", "--input-format", "sacct"],
            "'--input-format' may be given once",
        ),
        (
            ["log.swf", "-o", "w.json", "--from", "pbs"],
            "must be seconds, a time like 90min, 12h or 2.5d, or a date",
        ),
        (
            ["log.swf", "-o", "w.json", "--input-format", "sacct"],
            "log.swf: line 1: has no field jobid: call sacct --allusers",
        ),
        (["log.swf", "-o", "w.json", "--every", "0"], "--every: must be greater than 0 s, not 0"),
        (["log.swf", "-o", "w.lwf", "--every", "7d"], "'--every' is for workloads of jobs, not for leases"),
        (["trace.lwf", "-o", "w.json", "--from", "5"], "cut logs and workloads of jobs; trace.lwf is none"),
        (["log.swf", "-o", "log.swf", "--every", "7d"], "'LOG' and '-o' name the same file"),
    ],
)
def test_wrong_parts(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    """One line, exit code 2, and nothing is written."""
    assert said in refused(capsys, *arguments)


def test_accounting_of_slurm(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its jobs are cut and counted like those of a log, in CPUs or nodes."""
    (here / "s.txt").write_text(
        "JobID|User|State|Submit|Start|End|ReqCPUS|ReqNodes\n"
        "1|ada|COMPLETED|2024-05-31T08:00:00|2024-05-31T08:00:00|2024-05-31T08:10:00|16|2\n"
        "1.batch||COMPLETED|2024-05-31T08:00:00|2024-05-31T08:00:00|2024-05-31T08:10:00|16|2\n"
        "2|bob|RUNNING|2024-05-31T08:30:00|2024-05-31T08:30:00|Unknown|16|2\n"
        "3|bob|FAILED|2024-05-31T09:00:00|2024-05-31T09:00:00|2024-05-31T09:01:00|8|1\n"
    )
    assert (
        run(
            [
                "convert",
                "s.txt",
                "--input-format",
                "sacct",
                "--from",
                "2024-05-31 09:00",
                "--unit",
                "nodes",
                "-o",
                "w.json",
            ]
        )
        == 0
    )
    assert capsys.readouterr().out.splitlines() == [
        "3 jobs in the log",
        "1 job kept",
        "1 dropped: not ended, or end unknown",
        "1 left out: submitted outside the window",
        "1 corrected: no request, walltime = run time",
        "1 row of job steps: passed over",
        "wrote w.json",
    ]
    assert [(job["id"], job["subtime"], job["res"], job["user"]) for job in jobs()] == [("3", 0, 1, "bob")]
    assert run(["convert", "s.txt", "--input-format", "sacct", "--keep", "ReqNodes", "-o", "w.json"]) == 0
    assert [job["reqnodes"] for job in jobs()] == ["2", "1"]


def test_a_unit_is_for_the_output_of_sacct(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would have no effect on other logs."""
    (here / "log.swf").write_text("1 0 0 10 4 -1 -1 4 20 -1 1 1 1 1 1 1 -1 -1\n")
    line = refused(capsys, "log.swf", "--unit", "nodes", "-o", "w.json")
    assert "log.swf: unit: has no effect on a log in the Standard Workload Format" in line


def test_fields_of_a_log_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """Fields that describe a job are kept."""
    assert "--keep: 'run': unknown; there are: group, executable, queue, partition" in refused(
        capsys, "log.swf", "-o", "w.json", "--keep", "queue,run"
    )
    Path("queued.swf").write_text(SWF.replace("1 7 -1 -1 -1 -1", "1 7 4 -1 2 -1"))
    assert run(["convert", "queued.swf", "-o", "w.json", "--keep", "group,queue"]) == 0
    assert [(job["user"], job["group"], job["queue"]) for job in jobs()] == [(7, 4, 2)] * 3


def test_a_part_of_a_workload(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With all members and profiles; the rules for logs are not for it."""
    whole = {
        "nb_res": 4,
        "log_start": "2024-05-31T08:00:00+00:00",
        "jobs": [
            {"id": "a", "subtime": 5, "res": 1, "profile": "twice", "user": "ada"},
            {"id": "b", "subtime": 25, "res": 2, "walltime": 90, "profile": "once"},
        ],
        "profiles": {
            "once": {"type": "delay", "delay": 5},
            "twice": {"type": "composed", "repeat": 2, "seq": ["once"]},
        },
    }
    (here / "whole.json").write_text(json.dumps(whole))
    assert run(["convert", "whole.json", "-o", "w.json", "--from", "2024-05-31T08:00:10", "--platform", "p.xml"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2 jobs in the workload",
        "1 job kept",
        "1 left out: submitted outside the window",
        "wrote p.xml for 4 hosts",
        "wrote w.json for 4 hosts",
    ]
    written = json.loads(Path("w.json").read_bytes())
    assert written["jobs"] == [{"id": "b", "subtime": 15, "res": 2, "walltime": 90, "profile": "once"}]
    assert (written["profiles"], written["log_start"]) == (whole["profiles"], "2024-05-31T08:00:10+00:00")
    assert run(["convert", "whole.json", "-o", "v.json", "--every", "20"]) == 0
    assert [job["subtime"] for name in ("v-1.json", "v-2.json") for job in jobs(name)] == [5, 5]
    capsys.readouterr()
    assert "whole.json: has no job that the rules keep, of 2" in refused(
        capsys, "whole.json", "-o", "x.json", "--from", "30"
    )
    assert "rules of cleaning are for logs, and whole.json is none" in refused(
        capsys, "whole.json", "-o", "x.json", "--max-jobs", "1"
    )


#: Options that choose a rule -> the members that it gives to jobs.
RULES = {
    "--cancelled": ("cancelled_after",),
    "--dependencies": ("depends_on", "singleton"),
    "--feedback": ("submitted_after",),
    "--demands": ("demand",),
    "--slurm-members": ("slurm",),
    "--recorded-waits": ("recorded_wait",),
    "--keep=group": ("group",),
}
LOGS = [name for name in INPUTS if FORMATS[name].content is SwfLog]


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("option", RULES)
def test_no_option_is_passed_over(option: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For each format: a job changes, or one line has the option, as an error or as that it had no effect."""
    path = example(FORMATS[name], tmp_path)
    code = run(["convert", str(path), option, "-o", "w.json"])
    out, err = capsys.readouterr()
    changed = code == 0 and any(member in job for job in jobs() for member in RULES[option])
    spelled = option.partition("=")[0]
    said = [line for line in (out + err).splitlines() if f"{spelled} had no effect" in line]
    if code:
        assert code == 2
        assert spelled in err or ": has no " in err  # the column or field that the option needs
    else:
        assert len(said) == (not changed)


def test_cancelled_jobs_follow_others_of_their_users(here: Path) -> None:
    """Both rules together; the second job was cancelled 5 s after it was submitted, 10 s after the end of the first."""
    rows = ["1|CANCELLED|u|2024-05-31T08:00:20|Unknown|2024-05-31T08:00:25|1|1|00:01:00"]
    rows.insert(0, "0|COMPLETED|u|2024-05-31T08:00:00|2024-05-31T08:00:00|2024-05-31T08:00:10|1|1|00:01:00")
    text = "\n".join(["JobID|State|User|Submit|Start|End|ReqCPUS|AllocCPUS|Timelimit", *rows])
    (here / "log").write_text(text + "\n")
    assert run(["convert", "log", "--feedback", "--cancelled", "-o", "w.json"]) == 0
    second = jobs()[1]
    assert second["cancelled_after"] == 5
    assert second["submitted_after"] == {"job": "0", "when": "end", "delay": 10}
