"""The command `haizea`: what it writes and prints, and what it refuses before anything is written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from batsched_py.haizea.data import write_data
from batsched_py.haizea.ini import format_sections
from batsched_py.haizea.reader import read_config
from batsched_py.haizea.sample import KINDS
from tests.unit.haizea.configurations import LEAST, sections
from tests.unit.leases.accounting.books import booked, quickstart

MULTI = ("haizea", "multi", "-c", "sample_multi.conf", "-d", "out/conf")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_samples_are_written_beside_each_other(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They share their requests."""
    for kind in KINDS:
        assert run(["haizea", "--sample", kind]) == 0
    names = {
        "sample_trace.conf", "sample_trace_barebones.conf", "sample.lwf", "sample_multi.conf", "run.sh.template",
        "condor.template",
    }  # fmt: skip
    names |= {f"traces/{name}.lwf" for name in ("withprematureend", "withoutprematureend", "inj1", "inj2")}
    assert {str(path.relative_to(here)) for path in here.rglob("*") if path.is_file()} == names
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(f"wrote {name}" for name in names)


def test_without_a_kind_the_sample_has_comments(here: Path) -> None:
    """It is the one to read."""
    assert run(["haizea", "--sample"]) == 0
    assert "# loglevel" in (here / "sample_trace.conf").read_text()


def test_a_file_of_ones_own_is_not_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor is any other written then."""
    (here / "run.sh.template").write_text("mine")
    assert run(["haizea", "--sample", "multi"]) == 2
    assert "run.sh.template: exists already, and is not overwritten" in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["run.sh.template"]


def quickstart_files(here: Path, *lines: str) -> None:
    """The sample with both requests, and these lines at the end of its section of accounting."""
    assert run(["haizea", "--sample", "barebones"]) == 0
    trace = here / "sample.lwf"
    kept = [line for line in trace.read_text().splitlines() if not line.strip().startswith(("<!--", "-->"))]
    trace.write_text("\n".join(kept))
    text = (here / "sample_trace_barebones.conf").read_text()
    (here / "my.conf").write_text(text.replace("[accounting]\n", "\n".join(["[accounting]", *lines, ""])))


@pytest.mark.parametrize(
    "arguments", [["my.conf", "-e", "out/x"], ["-e", "out/x", "my.conf"], ["run", "my.conf", "-eout/x"]]
)
def test_a_configuration_is_run(here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    """HA-2: the log on standard output, the leases and their reservations in tables."""
    quickstart_files(here)
    capsys.readouterr()
    assert run(["haizea", *arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "[2006-11-25 13:30:00.00] VMSCHED Started VMs for lease 2 on nodes [2, 3, 4, 1]\n" in out
    assert out.endswith("[2006-11-25 14:31:04.00] RM      ---- End summary ----\n")
    leases = (here / "out" / "x_leases.csv").read_text().splitlines()
    assert [line.split(",")[:6] for line in leases] == [
        ["lease", "type", "state", "submit_time", "start_time", "end_time"],
        ["1", "BE", "Done", "0", "0", "5464"],
        ["2", "AR", "Done", "900", "1800", "3600"],
    ]
    reservations = (here / "out" / "x_reservations.csv").read_text().splitlines()
    assert [line.split(",")[:5] for line in reservations[:4]] == [
        ["lease", "kind", "start", "end", "hosts"],
        ["1", "vm", "0", "1768", "0"],
        ["1", "suspend", "1768", "1800", "0"],
        ["2", "vm", "1800", "3600", "0-3"],
    ]


def test_a_run_writes_its_data_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the folder of the configuration; its attributes are columns."""
    quickstart_files(here, "datafile: data/run.dat", "attributes: profile=mine")
    assert run(["haizea", "my.conf"]) == 0
    capsys.readouterr()
    assert run(["haizea", "data", "-t", "counter", "-c", "Accepted AR", "data/run.dat"]) == 0
    assert capsys.readouterr().out == "profile,time,value\nmine,0,0\nmine,900,1\nmine,5464,1\n"


def test_an_attribute_that_nothing_reads_is_a_warning(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run takes place without it."""
    quickstart_files(here)
    trace = here / "sample.lwf"
    trace.write_text(trace.read_text().replace("<lease ", '<lease colour="red" '))
    capsys.readouterr()
    assert run(["haizea", "my.conf"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("batsched-py: warning: sample.lwf: attribute colour of element lease is unknown and has no")


def test_what_has_no_counterpart_is_a_warning(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run takes place."""
    quickstart_files(here)
    (here / "my.conf").write_text((here / "my.conf").read_text() + "\n[opennebula]\nhost: localhost\n")
    capsys.readouterr()
    assert run(["haizea", "my.conf"]) == 0
    assert capsys.readouterr().err == ("batsched-py: warning: my.conf: opennebula.host: OpenNebula is not supported\n")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("mode: simulated", "mode: simulate"), "my.conf: general.mode: must be simulated, not "),
        (("tracefile: sample.lwf", "tracefile: none.lwf"), "none.lwf: cannot be read: No such file or directory"),
        (("4 CPU:100", "0 CPU:100"), "my.conf: simulation.resources: must begin with a number of hosts from 1"),
        (("[accounting]", "[accounting]\ndatafile: sample.lwf"), "name the same file, sample.lwf"),
        (("[accounting]", "[accounting]\ndatafile: my.conf/x"), "my.conf/x: cannot be written"),
    ],
)  # fmt: skip
def test_a_wrong_configuration_is_one_line_and_nothing_is_written(
    here: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], line: str
) -> None:
    """Before the run begins."""
    quickstart_files(here)
    before = {path: path.read_bytes() for path in here.iterdir()}
    path = here / "my.conf"
    path.write_text(path.read_text().replace(*change))
    before[path] = path.read_bytes()
    capsys.readouterr()
    assert run(["haizea", "my.conf", "-e", "x"]) == 2
    err = capsys.readouterr().err
    assert line in err
    assert len(err.splitlines()) == 1
    assert {path: path.read_bytes() for path in here.iterdir()} == before


@pytest.mark.parametrize(
    ("lines", "options", "line"),
    [
        ("", ("-e", "x"), "'-e' and '--events' need simulation.clock: simulated"),
        ("victim-order: oldest\nhold-cpu: False\n", (), "my.conf: scheduling.hold-cpu: needs simulation.clock: sim"),
        ("policy-admission: mine.Mine\n", (), "my.conf: scheduling.policy-admission: "),
        ("", ("--listen", "nowhere"), "nowhere"),
    ],
)  # fmt: skip
def test_what_a_live_site_cannot_be(
    here: Path, capsys: pytest.CaptureFixture[str], lines: str, options: tuple[str, ...], line: str
) -> None:
    """Nothing is begun."""
    pytest.importorskip("litestar")
    quickstart_files(here)
    path = here / "my.conf"
    text = path.read_text().replace("clock: simulated", "clock: real")
    path.write_text(text.replace("[scheduling]\n", f"[scheduling]\n{lines}"))
    capsys.readouterr()
    assert run(["haizea", "my.conf", *options]) == 2
    assert line in capsys.readouterr().err.splitlines()[-1]
    assert not (here / "site-data").exists()


def test_without_a_configuration_haizeas_places_are_looked_at(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's own; without it they are named."""
    monkeypatch.setenv("HOME", str(here))
    assert run(["haizea"]) == 2
    assert "no /etc/haizea/haizea.conf and no ~/.haizea/haizea.conf either" in capsys.readouterr().err
    quickstart_files(here)
    (here / ".haizea").mkdir()
    for name in ("my.conf", "sample.lwf"):
        (here / name).rename(here / ".haizea" / name.replace("my", "haizea"))
    capsys.readouterr()
    assert run(["haizea"]) == 0
    assert "Completed leases: 2\n" in capsys.readouterr().out


def test_multi_writes_each_configuration(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """HA-38: four profiles, two traces, two injections; twice the same bytes."""
    assert run(["haizea", "--sample", "multi"]) == 0
    capsys.readouterr()
    assert run([*MULTI]) == 0
    assert capsys.readouterr().out == "wrote out/conf: 24 configurations\n"
    written = {path.name: path.read_bytes() for path in (here / "out" / "conf").iterdir()}
    assert len(written) == 24
    read = read_config(here / "out" / "conf" / "backfilling+SR_withprematureend+inj1.conf")
    assert read.traces is not None
    assert read.traces.trace.resolve() == here / "traces" / "withprematureend.lwf"
    assert run([*MULTI]) == 0
    assert {path.name: path.read_bytes() for path in (here / "out" / "conf").iterdir()} == written


def test_the_script_runs_each_configuration_or_those_without_data(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shell can read it, whatever the folder is called."""
    assert run(["haizea", "--sample", "multi"]) == 0
    (here / "results").mkdir()
    (here / "results" / "nobackfilling_withprematureend.dat").write_text("{}")
    folder = "a folder's"
    counts = []
    for more in ([], ["-m"]):
        capsys.readouterr()
        command = ["haizea", "multi", "-c", "sample_multi.conf", "-d", folder, "-t", "run.sh.template", *more]
        assert run(command) == 0
        out, err = capsys.readouterr()
        assert err == f"wrote {folder}: 24 configurations\n"
        fakes = here / "bin"
        fakes.mkdir(exist_ok=True)
        (fakes / "batsched-py").write_text('#!/bin/sh\n[ "$1" = haizea ] && [ -f "$2" ] && echo ran\n')
        (fakes / "batsched-py").chmod(0o755)
        environment = {**os.environ, "PATH": f"{fakes}:{os.environ['PATH']}"}
        done = subprocess.run(["sh", "-e"], input=out, env=environment, capture_output=True, text=True, check=True)
        counts.append(done.stdout.count("ran"))
    assert counts == [24, 23]


def without(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """The words of a command without options that are given others values: pairs behind two names."""
    pairs = zip(words[2::2], words[3::2], strict=True)
    return [*words[:2], *(word for pair in pairs if pair[0] not in options for word in pair)]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["-m"], "'-m' needs '-t'"),
        (["--table", "-t", "run.sh.template"], "'--table' and '-t' both write to standard output"),
        (["-t", "none"], "none: cannot be read: No such file or directory"),
        (["-t", "sample_multi.conf", "-d", "sample_multi.conf"], "sample_multi.conf"),
        (["-c", "condor.template"], "condor.template: line 1: must begin with a section, like [general]"),
    ],
)
def test_multi_refuses_what_is_wrong_before_anything_is_written(
    here: Path, capsys: pytest.CaptureFixture[str], options: list[str], line: str
) -> None:
    """In one line."""
    assert run(["haizea", "--sample", "multi"]) == 0
    capsys.readouterr()
    assert run([*without(MULTI, options), *options]) == 2
    err = capsys.readouterr().err
    assert line in err
    assert err.count("\n") == 1
    assert not (here / "out").exists()


def test_multi_runs_all_and_makes_a_table(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row for each run, by its attributes; the data files are those of which `data` makes the same."""
    quickstart_files(here)
    options = {key: text for key, text in LEAST.items() if not key.startswith("tracefile.")}
    several = {f"common:{key}": text for key, text in options.items() if key != "scheduling.suspension"} | {
        "multi.tracedir": ".", "multi.tracefiles": "sample.lwf", "multi.datadir": "data",
        "common:scheduling.policy-preemption": "ar-preempts-everything", "common:accounting.probes": "best-effort",
        "all:scheduling.suspension": "all", "none:scheduling.suspension": "none",
    }  # fmt: skip
    (here / "several.conf").write_text(format_sections(sections(several)))
    capsys.readouterr()
    assert run(["haizea", "multi", "-c", "several.conf", "-d", "out", "--table"]) == 0
    out, err = capsys.readouterr()
    assert [line.split(",")[:4] for line in out.splitlines()] == [
        ["profile", "tracefile", "injectfile", "Total best-effort completed"],
        ["all", "sample.lwf", "none", "1"],
        ["none", "sample.lwf", "none", "1"],
    ]
    assert [line.split(",")[4] for line in out.splitlines()[1:]] == ["5464", "7200"]
    assert err == "wrote out: 2 configurations\n"
    assert run(["haizea", "data", "-t", "per-run", "data/all_sample.dat", "data/none_sample.dat"]) == 0
    assert capsys.readouterr().out == out


def test_what_multi_does_not_look_at_is_a_warning(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Told once, and the configurations are written."""
    assert run(["haizea", "--sample", "multi"]) == 0
    with (here / "sample_multi.conf").open("a") as file:
        file.write("\n[common:tracefile]\ntracefile: x.lwf\n")
    assert run([*MULTI]) == 0
    assert capsys.readouterr().err == (
        "batsched-py: warning: sample_multi.conf: [common:tracefile] tracefile: is ignored, because [multi] sets it\n"
    )


@pytest.fixture
def data_files(here: Path) -> tuple[str, ...]:
    """The data of two runs."""
    for name, suspension in (("a.dat", "all"), ("b.dat", "none")):
        ledger = booked(quickstart(), "ar best-effort", suspension=suspension)
        write_data(here / name, ledger.accounting, {"profile": name})
    return "a.dat", "b.dat"


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (["-t", "per-lease", "-f", "csv"], "lease_id,Waiting time,Slowdown/1,0,1.517778/1,3600,2"),
        (["-t", "counter", "-c", "Accepted AR"], "time,value/0,0/900,1/5464,1/0,0/900,1/7200,1"),
        (["--type", "counter", "--counter", "Queue size"], "time,value,average/0,0,0/0,0,0"),
    ],
)
def test_data_makes_one_table_of_several_files(
    data_files: tuple[str, ...], capsys: pytest.CaptureFixture[str], options: list[str], lines: str
) -> None:
    """Rows begin with the attributes of their runs."""
    assert run(["haizea", "data", *options, *data_files]) == 0
    table = [line.split(",", 1) for line in capsys.readouterr().out.splitlines()]
    assert "/".join(rest for _, rest in table) == lines
    assert {first for first, _ in table} == {"profile", "a.dat", "b.dat"}


def test_counters_are_listed_whatever_else_is_given(
    data_files: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each once."""
    assert run(["haizea", "data", "-l", "-t", "counter", "-c", "X", *data_files]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Accepted AR", "Rejected AR", "Best-effort completed", "Queue size",
    ]  # fmt: skip


def test_an_unknown_counter_is_told_in_haizeas_words(
    data_files: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is Haizea's, too."""
    assert run(["haizea", "data", "-t", "counter", "-c", "X", *data_files]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "batsched-py: error: The specified datafile does not have a counter called 'X'\n"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["a.dat"], "Missing option '-t' / '--type', or '-l'"),
        (["-t", "counter", "a.dat"], "'-t counter' and '-c' must be given together"),
        (["-t", "per-run", "-c", "X", "a.dat"], "'-t counter' and '-c' must be given together"),
        (["-t", "per-run"], "Missing argument 'FILE...'"),
        (["-t", "per-run", "none.dat"], "none.dat: cannot be read"),
        (["-t", "per-run", "--limit", "file-size=10", "a.dat"], "a.dat: must be at most 10 bytes"),
    ],
)
def test_data_refuses_what_is_wrong(
    data_files: tuple[str, ...], capsys: pytest.CaptureFixture[str], options: list[str], line: str
) -> None:
    """In one line."""
    assert run(["haizea", "data", *options]) == 2
    err = capsys.readouterr().err
    assert line in err
    assert err.count("\n") == 1


def test_a_sample_is_not_written_on_the_way_to_something_else(capsys: pytest.CaptureFixture[str]) -> None:
    """One thing at a time."""
    assert run(["haizea", "--sample", "multi", "data", "x"]) == 2
    assert "'--sample' cannot be combined with 'data'" in capsys.readouterr().err
