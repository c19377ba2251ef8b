"""`gantt` and `plot`: what they write, draw and refuse."""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path

import pytest

from batsched_py.cli.commands.plot import KINDS
from batsched_py.cli.main import run
from batsched_py.reporting.pictures.paper.curves import PLOTS
from tests.clone import ROOT

SWF = b"; MaxProcs: 4\n1 0 5 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1\n2 5 0 10 1 -1 -1 1 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"

HEADER = (
    "job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,finish_time,"
    "stretch,allocated_resources"
)
#: A job without hosts that takes no time.
EMPTY = "e,w0,0,0,-1,1,0,0,inf,"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Two runs of the same workload, out/easy and out/fcfs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "80")
    files = ["-p", str(ROOT / "platforms" / "energy16.xml"), "-w", str(ROOT / "workloads" / "first.json")]
    for name in ("easy", "fcfs"):
        assert run(["simulate", *files, "-s", name, "-E", "-e", f"out/{name}", "--gantt", "--quiet"]) == 0
    (tmp_path / "drawn").write_text(capsys.readouterr().out)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_the_terminal_shows_what_simulate_draws(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From its files; of several runs with their names."""
    code, out, err = said(capsys, "gantt", "out/easy_jobs.csv")
    assert (code, err) == (0, "")
    drawn = (here / "drawn").read_text()
    picture = out.removesuffix("easy on energy16.xml: first.json\n")
    assert drawn.startswith(picture)
    assert picture != out
    code, both, _ = said(capsys, "gantt", "out/easy", "out/fcfs")
    assert code == 0
    assert both.startswith("easy\n" + picture + "fcfs\n8 jobs on 16 hosts")
    assert both.endswith("easy: easy on energy16.xml: first.json\nfcfs: fcfs on energy16.xml: first.json\n")


def test_a_part_of_it_can_be_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    """Some hosts for some time; hosts keep their numbers, jobs their letters."""
    code, out, _ = said(capsys, "gantt", "out/easy", "--from", "1min", "--to", "0.025h", "--only", "2,7-8")
    assert code == 0
    rows = [line for line in out.splitlines() if "│" in line][:3]
    assert [row.partition("│")[0].strip() for row in rows] == ["8", "7", "2"]
    assert "1 min" in out
    assert "A" not in "".join(row.partition("│")[2] for row in rows)


def test_the_size_of_the_machine_can_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Hosts beyond it are storage, and jobs of these alone are not drawn."""
    code, out, err = said(capsys, "gantt", "out/easy", "--hosts", "3")
    assert (code, err.startswith("note: easy: ")) == (0, True)
    assert out.startswith("8 jobs on 3 hosts")
    assert [line.partition("│")[0].strip() for line in out.splitlines() if "│" in line][:3] == ["2", "1", "0"]
    assert said(capsys, "gantt", "out/easy", "--hosts", "1", "-o", "one.svg", "--with", "utilisation")[0] == 0
    assert said(capsys, "plot", "utilisation", "out/easy", "--hosts", "32", "-o", "u.svg")[0] == 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "command", [["gantt"], ["gantt", "-o", "g.svg"], *(["plot", kind, "-o", "p.svg"] for kind in KINDS)]
)
def test_jobs_that_took_no_time_or_no_host_are_no_error(
    here: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    """Nor is a run of nothing else."""
    (here / "short_jobs.csv").write_text(f"{HEADER}\n{EMPTY}\ns,w0,0,1,-1,1,0,0,inf,0\n")
    assert said(capsys, *command, "short", "--hosts", "4")[::2] == (0, "")


@pytest.mark.parametrize(("word", "kind"), [("wait", "waits"), ("Utilization", "utilisation"), ("queues", "queue")])
def test_other_words_for_curves_are_understood(capsys: pytest.CaptureFixture[str], word: str, kind: str) -> None:
    """The output has the usual word."""
    code, out, err = said(capsys, "plot", word, "out/easy", "-o", "p.svg")
    assert (code, out) == (0, "wrote p.svg\n")
    assert f"note: '{word}' is read as '{kind}'" in err


def test_a_character_that_the_font_does_not_have_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """It is no warning of Python's with a file and a line of the code."""
    code, out, err = said(capsys, "gantt", "out/easy", "-o", "g.svg", "--title", "\U0001f41f \t")
    assert (code, out) == (0, "wrote g.svg\n")
    assert err.startswith("batsched-py: warning: Glyph ")
    assert all(line.startswith("batsched-py: warning: Glyph ") for line in err.splitlines())


@pytest.mark.parametrize(
    ("form", "start", "runs"),
    [
        ("pdf", b"%PDF", ["out/easy"]),
        ("svg", b"<?xml", ["out/easy", "out/fcfs"]),
        ("PNG", b"\x89PNG", ["out/fcfs"]),
    ],
)
def test_a_picture_is_written_in_the_format_of_its_name(
    here: Path, capsys: pytest.CaptureFixture[str], form: str, start: bytes, runs: list[str]
) -> None:
    """Into a folder that is made; twice the same bytes."""
    options = ["--with", "utilisation,queue,power,states", "--colour-by", "state", "--title", "T", "--width", "5"]
    for name in ("a", "b"):
        path = f"pictures/{name}.{form}"
        assert said(capsys, "gantt", *runs, "-o", path, *options) == (0, f"wrote {path}\n", "")
    first, second = ((here / "pictures" / f"{name}.{form}").read_bytes() for name in "ab")
    assert first.startswith(start)
    assert first == second


@pytest.mark.parametrize("panels", [[], ["--with", "utilisation,queue,power,states"]])
def test_the_narrowest_picture_is_drawn(capsys: pytest.CaptureFixture[str], panels: list[str]) -> None:
    """One inch."""
    assert said(capsys, "gantt", "out/easy", "-o", "s.pdf", "--width", "1", *panels) == (0, "wrote s.pdf\n", "")


@pytest.mark.parametrize("kind", KINDS)
def test_curves_are_written(here: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """They are for runs and for a log."""
    (here / "log.swf.gz").write_bytes(gzip.compress(SWF))
    code, out, err = said(capsys, "plot", kind, "out/easy", "log.swf.gz", "-o", "p.svg", "--height", "2")
    assert (code, out, err) == (0, "wrote p.svg\n", "")
    assert ">easy<" in (here / "p.svg").read_text()


def test_the_commands_know_all_that_can_be_drawn() -> None:
    """Without matplotlib."""
    assert list(KINDS) == list(PLOTS)


def test_users_are_those_of_the_workload(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A jobs file has none."""
    text = (ROOT / "workloads" / "first.json").read_text().replace('"id": "A"', '"id": "A", "user": "ada"')
    text = text.replace('"id":"A"', '"id":"A","user":"ada"')
    assert "ada" in text
    (here / "w.json").write_text(text)
    assert said(capsys, "gantt", "out/easy", "-o", "u.svg", "--colour-by", "user", "-w", "w.json")[0] == 0
    assert ">ada<" in (here / "u.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gantt", "out/none"], "out/none: there is no such file"),
        (["gantt", "out/easy", "-o", "a.gif"], "must end with .pdf or .svg or .png, not be 'a.gif'"),
        (["gantt", "out/easy", "--with", "queue"], "'--with' goes with '-o'"),
        (["gantt", "out/easy", "--colour-by", "user"], "'--colour-by' goes with '-o'"),
        (["gantt", "out/easy", "--width", "4"], "'--width' goes with '-o'"),
        (["gantt", "out/easy", "--title", "x"], "'--title' goes with '-o'"),
        (["gantt", "out/easy", "-o", "a.pdf", "--width", "0.5"], "0.5 is not in the range"),
        (["gantt", "out/easy", "-o", "a.pdf", "--colour-by", "user"], "out/easy_jobs.csv: tells no users to colour by"),
        (["gantt", "out/easy", "-o", "a.pdf", "--with", "queue,noise"], "not 'noise'"),
        (["gantt", "out/easy", "-o", "a.pdf", "--with", "queue,queue"], "each once, not 'queue'"),
        (["gantt", "out/easy", "--from", "soon"], "or a date like 2024-05-31 or 2024-05-31T08:00, not 'soon'"),
        (["gantt", "out/easy", "--from", "2d"], "there is no time from 172800 to 150"),
        (["gantt", "out/easy", "--only", "x"], "must be hosts like 0-15"),
        (["gantt", "out/easy", "--only", "99"], "there is no host 99 in easy: they are numbered from 0 to 15"),
        (["gantt", "out/easy", "--hosts", "0-3"], "'--hosts': '0-3' is not a valid integer range"),
        (["gantt", "log.swf"], "log.swf: does not tell on which hosts jobs ran"),
        (["plot", "queue", "out/easy", "-o", "a.pdf", "--only", "1"], "'--only' does not go with 'queue'"),
        (["plot", "waits", "out/easy"], "Missing option '-o'"),
        (["gantt", "link.svg", "-o", "link.svg"], "name the same file"),
        (["gantt", "out/easy", "-o", "drawn/a.pdf"], "drawn/a.pdf: cannot be written: Not a directory"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    """Exit code 2; nothing is written."""
    (here / "log.swf").write_bytes(SWF)
    (here / "link.svg").symlink_to("out/easy_jobs.csv")
    before = sorted(here.rglob("*"))
    code, out, err = said(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("batsched-py: error: ")
    assert words in err
    assert err.count("\n") == 1
    assert sorted(here.rglob("*")) == before


def test_hosts_that_the_machine_has_not_are_not_drawn(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The size is in the files, or an option; a machine without hosts is none."""
    (here / "empty_jobs.csv").write_text(f"{HEADER}\n{EMPTY}\n")
    for arguments, words in (
        (["out/easy", "--hosts", "2", "--only", "2"], "there is no host 2 in easy: they are numbered from 0 to 1"),
        (["empty"], "empty_jobs.csv: has no job with a host: there is nothing to draw"),
    ):
        code, _, err = said(capsys, "gantt", *arguments)
        assert (code, err.splitlines()[-1]) == (2, f"batsched-py: error: {words}")


def test_a_picture_without_matplotlib_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the terminal it is not needed."""
    monkeypatch.setattr("batsched_py.loading.find_spec", lambda name: None)
    code, _, err = said(capsys, "gantt", "out/easy", "-o", "a.pdf")
    assert code == 2
    assert err.startswith("batsched-py: error: gantt -o: ")
    assert ".[plot]" in err
    assert said(capsys, "gantt", "out/easy")[0] == 0


def test_the_picture_in_the_documentation_is_what_its_commands_draw(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its texts: lines differ with the version of matplotlib. docs/pictures.md has the commands."""
    files = ["-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json")]
    for name in ("easy", "fcfs"):
        assert run(["simulate", *files, "-s", name, "-e", f"docs/{name}", "--quiet"]) == 0
    panels = ("--with", "utilisation,queue")
    assert said(capsys, "gantt", "docs/easy", "docs/fcfs", *panels, "-o", "gantt.svg")[0] == 0
    drawn, shown = ((folder / "gantt.svg").read_text() for folder in (here, ROOT / "docs"))
    texts = re.findall(r"<text [^>]*>([^<]+)</text>", drawn)
    assert {"easy", "fcfs", "time (seconds)", *"ABCDEFGH"} <= set(texts)
    assert re.findall(r"<text [^>]*>([^<]+)</text>", shown) == texts


def test_the_picture_of_leases_in_the_documentation_is_what_its_commands_draw(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its texts, likewise. docs/leases-tutorial.md has the commands, and the workload."""
    page = (ROOT / "docs" / "leases-tutorial.md").read_text()
    (here / "quickstart.json").write_text(page.partition('title="quickstart.json"\n')[2].partition("```")[0])
    files = ["-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", "quickstart.json"]
    options = ["-o", "policy_preemption=ar-preempts-everything", "--enable-dynamic-jobs", "--quiet"]
    assert run(["simulate", *files, "-s", "leases", *options, "-e", "quick"]) == 0
    assert said(capsys, "gantt", "quick", "--width", "5", "--height", "2.2", "-o", "leases.svg")[0] == 0
    drawn, shown = ((folder / "leases.svg").read_text() for folder in (here, ROOT / "docs"))
    texts = re.findall(r"<text [^>]*>([^<]+)</text>", drawn)
    assert {"1", "2", "1#1", "suspended", "resumed", "reservation, from its request on"} <= set(texts)
    assert re.findall(r"<text [^>]*>([^<]+)</text>", shown) == texts


FAILING = """
from batsched_py.schedulers.fcfs import Fcfs


class Failing(Fcfs):
    name = "failing"

    def decide(self, view, plan):
        if view.now > 10:
            raise ValueError("no more")
        super().decide(view, plan)
"""


def test_jobs_that_ran_at_the_end_of_a_run_are_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    """Also if none has ended; curves of ended jobs are refused."""
    Path("failing.py").write_text(FAILING)
    files = ["-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", "two.json"]
    job = {"res": 2, "profile": "d", "walltime": 60}
    jobs = [{**job, "id": "a", "subtime": 0}, {**job, "id": "b", "subtime": 5}, {**job, "id": "c", "subtime": 20}]
    profiles = {"d": {"type": "delay", "delay": 50}}
    Path("two.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    assert run(["simulate", *files, "-s", "failing.py:Failing", "-e", "out/failed", "--quiet"]) == 3
    capsys.readouterr()
    code, out, _ = said(capsys, "gantt", "out/failed")
    assert code == 0
    assert out.startswith("2 jobs on 4 hosts")
    assert "A=a  B=b" in out
    code, _, _ = said(capsys, "gantt", "out/failed", "-o", "x.svg", "--colour-by", "state")
    assert code == 0
    assert ">running<" in Path("x.svg").read_text()
    code, _, err = said(capsys, "plot", "waits", "out/failed", "-o", "x.svg")
    assert code == 2
    assert "has no job that ran" in err
