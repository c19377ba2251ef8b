"""Files that `generate` and `convert` write: as they were drawn before, in little memory, for studies of energy."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.traces.lublin import Drawn
from tests.memory import measured

#: Arguments -> begin of the SHA-256 of the file that they made before jobs were written as they are drawn.
FORMER = [
    ("--jobs 1 --hosts 1 --seed 0", "747653256c5e0bceb65a5f21407d3802"),
    ("--jobs 500 --hosts 64 --seed 7 --load 0.9", "e328675eada6b8f18f5321af6cccf453"),
    ("--jobs 300 --hosts 16 --seed 1 --load 0.4", "3e576bc52ac90849bb9f2142911ecc66"),
    ("--jobs 2000 --hosts 256 --seed 3", "39700beaa1d0ec5325d57fdf43125787"),
    (
        "--jobs 1234 --hosts 100 --seed 5 --load 1.2 --overestimate 0",
        "89130946e3203254eff59a9878612b87",
    ),
    (
        "--jobs 9999 --hosts 4096 --seed 11 --overestimate 9.5",
        "776fe808efbc282f296fe39fd7271472",
    ),
    ("--jobs 10 --hosts 2 --seed 2", "255c68f3a299ad028206c75b68b2e1e5"),
]
POWER = ("--power", "100:120:220,sleep=8:5:110:100:150")
FAILURES = ("--failures", "mtbf=9,repair=9", "--events", "e", "--until", "9")
SWF = """; MaxProcs: 4
1 0 -1 10 2 -1 -1 2 20 -1 1 7 -1 -1 -1 -1 -1 -1
2 5 -1 30 1 -1 -1 1 20 -1 1 7 -1 -1 -1 -1 -1 -1
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text(SWF)
    return tmp_path


def written(name: str = "w.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(name).read_bytes())
    return found


def work(name: str = "w.json") -> list[float]:
    """Return the work of each job of a file: seconds of a delay, or flops on each host."""
    document = written(name)
    profiles = [document["profiles"][job["profile"]] for job in document["jobs"]]
    return [profile["delay"] if profile["type"] == "delay" else profile["cpu"] for profile in profiles]


@pytest.mark.parametrize(("arguments", "digest"), FORMER)
def test_the_same_seed_gives_the_same_bytes_as_ever(arguments: str, digest: str) -> None:
    """It does so for all sizes of workloads and machines."""
    assert run(["generate", *arguments.split(), "-o", "w.json"]) == 0
    assert hashlib.sha256(Path("w.json").read_bytes()).hexdigest().startswith(digest)


def test_memory_does_not_grow_with_the_number_of_jobs() -> None:
    """But for profiles, of which there are as many as different run times."""
    peaks = []
    for jobs in ("2000", "8000"):
        with measured() as memory:
            assert run(["generate", "--jobs", jobs, "--hosts", "64", "--load", "0.9", "-o", "w.json"]) == 0
        peaks.append(memory.peak)
        profiles = len(written()["profiles"])
    assert peaks[1] - peaks[0] < 1500 * profiles  # 6000 jobs more took 30 MB


def test_jobs_that_compute_take_as_long_as_delays(capsys: pytest.CaptureFixture[str]) -> None:
    """The same jobs and the same metrics, but hosts draw more power."""
    model = ("generate", "--jobs", "30", "--hosts", "8", "--load", "0.5")
    assert run([*model, "-o", "delay.json", "--platform", "p.xml", *POWER]) == 0
    assert run([*model, "-o", "compute.json", "--profiles", "compute"]) == 0
    assert [flops / 1e9 for flops in work("compute.json")] == work("delay.json")
    figures = {}
    for name in ("delay", "compute"):
        assert run(["simulate", "-p", "p.xml", "-w", f"{name}.json", "-s", "fcfs", "-E", "-e", name, "--quiet"]) == 0
        capsys.readouterr()
        assert run(["metrics", name, "--format", "json"]) == 0
        figures[name] = json.loads(capsys.readouterr().out)["runs"][0]["figures"]
    for metric in ("mean_wait", "makespan", "utilisation"):
        assert figures["compute"][metric] == pytest.approx(figures["delay"][metric])
    sizes = [job["res"] for job in written("delay.json")["jobs"]]
    seconds = sum(size * run_time for size, run_time in zip(sizes, work("delay.json"), strict=True))
    assert figures["compute"]["energy"] - figures["delay"]["energy"] == pytest.approx((220 - 100) * seconds)


def test_the_description_makes_the_same_file_again() -> None:
    """With the speed, if it is not the usual one."""
    command = "generate --jobs 5 --hosts 4 --seed 3 --load 0.5 --profiles compute --speed 2.5Gf -o w.json"
    assert run(command.split()) == 0
    told = written()["description"].partition("batsched-py ")[2]
    assert told == "generate --jobs 5 --hosts 4 --seed 3 --load 0.5 --profiles compute --speed 2500000000"
    assert run([*told.split(), "-o", "again.json"]) == 0
    assert written("again.json") == written()


def test_compare_generates_jobs_that_compute() -> None:
    """The parameter is told beside the results."""
    assert run(["generate", "--jobs", "1", "--hosts", "4", "-o", "w.json", "--platform", "p.xml", *POWER]) == 0
    model = ("--generate", "lublin:jobs=9,speed=1e9")
    options = ("-E", "--processes", "1", "--quiet", "--csv", "all.csv", "-e", "out")
    assert run(["compare", "-p", "p.xml", *model, "-s", "fcfs", *options]) == 0
    names, values = (line.split(",") for line in Path("all.csv").read_text().splitlines())
    assert float(dict(zip(names, values, strict=True))["generator_speed"]) == 1e9
    assert written("out/lublin-0/workload.json")["description"].endswith(" --profiles compute")


def test_convert_writes_profiles_that_compute() -> None:
    """It does so for a log, cut to the request as before, and for a workload of delays."""
    assert run(["convert", "log.swf", "-o", "w.json", "--profiles", "compute", "--speed", "2Gf"]) == 0
    assert work() == [20e9, 40e9]
    assert run(["convert", "log.swf", "-o", "delays.json", "--platform", "p.xml", *POWER]) == 0
    assert work("delays.json") == [10, 20]
    assert run(["convert", "delays.json", "-o", "w.json", "--profiles", "compute"]) == 0
    assert work() == [10e9, 20e9]
    assert run(["convert", "delays.json", "-o", "w.json", "--profiles", "compute", "--protocol", "v5"]) == 0
    assert {one["type"] for one in written()["profiles"].values()} == {"ParallelTaskHomogeneousProfile"}
    assert run(["simulate", "-p", "p.xml", "-w", "delays.json", "-s", "easy_idle_sleeper", "-E", "--quiet"]) == 0


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["generate", "--jobs", "1", "--hosts", "1", "-o", "x.json", *POWER], "'--power' goes with '--platform'"),
        (["convert", "log.swf", "-o", "x.json", "--speed", "2Gf"], "'--speed' goes with '--profiles compute' or "),
        (
            ["convert", "log.swf", "-o", "x.json", "--profiles", "compute", "--speed", "0"],
            "--speed: must be greater than",
        ),
        (["convert", "log.swf", "-o", "x.json", "--platform", "p.xml", "--power", "1"], "--power: must be IDLE:EPSI"),
        (["convert", "log.swf", "-o", "x.json", "--leases", "--profiles", "compute"], "not for leases"),
        (["generate", "--hosts", "9", *FAILURES, "--profiles", "compute"], "'--profiles' goes with '--jobs'"),
    ],
)
def test_what_means_nothing_is_refused(capsys: pytest.CaptureFixture[str], words: list[str], rule: str) -> None:
    """In one line, before anything is written."""
    assert run(words) == 2
    assert rule in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["log.swf"]


def test_jobs_request_parts_of_hosts() -> None:
    """Each draws one of the demands; the same seed gives the same file, which no longer is one of the plain model."""
    options = ["--jobs", "30", "--hosts", "8", "--demand", '{"cores": 2}', "--demand", '{"gpus": 1, "gpu_share": 0.5}']
    assert run(["generate", *options, "-o", "w.json"]) == 0
    assert run(["generate", *options, "-o", "again.json"]) == 0
    assert written() == written("again.json")
    found = [job["demand"] for job in written()["jobs"]]
    assert {json.dumps(demand) for demand in found} == {'{"cores": 2}', '{"gpus": 1, "gpu_share": 0.5}'}
    assert Drawn.of_description(written()["description"]) is None


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["--demand", '{"gpus": -1}'], "demand.gpus: must be a whole number of GPUs from 0 to 1000, not -1"),
        (["--demand", "{"], "Invalid value for '--demand'"),
    ],
)
def test_a_wrong_demand_is_refused(arguments: list[str], rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is written."""
    assert run(["generate", "--jobs", "3", "--hosts", "8", "-o", "w.json", *arguments]) == 2
    assert rule in capsys.readouterr().err
    assert not Path("w.json").exists()


def test_jobs_of_a_log_request_cores(here: Path) -> None:
    """Each processor is a task of one core."""
    assert run(["convert", "log.swf", "--demands", "-o", "w.json"]) == 0
    assert [job["demand"] for job in written()["jobs"]] == [{"cores": 1}] * 2
    (here / "jobs.txt").write_text("JobID|State|Submit|Start|End|ReqCPUS|ReqNodes|ReqTRES\n")
    assert run(["convert", "jobs.txt", "--demands", "--unit", "cpus", "-o", "other.json"]) == 2
