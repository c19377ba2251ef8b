"""`batsched-py slurm fit`: a log in which one partition is delayed on purpose, and what cannot be compared."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run

CONF = """\
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0
SelectType=select/linear
NodeName=n[1-4] CPUs=2
PartitionName=fast Nodes=n[1-2] Default=YES
PartitionName=slow Nodes=n[3-4]
"""
HEADER = "JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|ReqNodes"
FIT = ("slurm", "fit", "log.txt", "-p", "cluster.xml", "-o", "conf=slurm.conf")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("slurm.conf").write_text(CONF)
    assert run(["slurm", "platform", "slurm.conf", "-o", "cluster.xml"]) == 0


def time(seconds: int) -> str:
    """The time of sacct, so many seconds after noon."""
    return datetime.fromtimestamp(1_717_156_800 + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def row(number: int, partition: str, submitted: int, wait: int, user: str = "ada") -> str:
    """The row of a job of two nodes for 100 s."""
    start = submitted + wait
    times = f"{time(submitted)}|{time(start)}|{time(start + 100)}|100|10|2"
    return f"{number}|{user}|math|{partition}|COMPLETED|{times}"


def write_log(rows: Sequence[str], path: str = "log.txt") -> None:
    Path(path).write_text("\n".join([HEADER, *rows, ""]))


#: Jobs of two nodes arrive each 50 s in both partitions, and so wait 0, 50, 100 and 150 s; those of slow 600 s more.
DELAYED = [
    row(2 * number + late, partition, 50 * number, 50 * number + 600 * late, "<b>" if late and number == 3 else "ada")
    for number in range(4)
    for late, partition in enumerate(("fast", "slow"))
]


def fitted(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Run the command, and return its JSON."""
    capsys.readouterr()
    assert run([*FIT, *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_partition_that_is_delayed_on_purpose_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """All of the deviation, 4 times 600 s, is of slow, which has half of the jobs."""
    write_log(DELAYED)
    found = fitted(capsys, "-o", "delays=none")
    assert (found["jobs"], found["within"]) == (8, 4)
    assert (found["recorded"]["mean"], found["replayed"]["mean"]) == (375.0, 75.0)
    assert (found["mean_difference"], found["mean_deviation"]) == (-300.0, 300.0)
    first = found["classes"][0]
    assert (first["by"], first["group"], first["jobs_share"], first["deviation_share"]) == ("partition", "slow", 0.5, 1)
    assert (first["deviation"], first["mean_difference"], first["within"]) == (2400.0, -600.0, 0)


def test_the_table_names_it_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Classes without more than their part are not named."""
    write_log(DELAYED)
    assert run([*FIT, "-o", "delays=none"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "within 2 s or 5 % of the recorded wait: 50.0 % (4 jobs)" in lines
    assert "difference (replayed - recorded): mean -300.0 s, mean without sign 300.0 s" in lines
    head = lines.index("Classes with more than their part of the deviation:")
    assert lines[head + 3].split() == ["partition", "slow", "100.0", "50.0", "4", "675.0", "75.0", "-600.0", "0.0"]
    assert not any(line.startswith("partition fast") for line in lines)


def test_delays_of_recordings_are_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    """A job starts when the main thread looks: up to a second and a bit after it could."""
    write_log([row(1, "fast", 0, 1)])
    exact, recorded = fitted(capsys, "-o", "delays=none"), fitted(capsys)
    assert exact["replayed"]["mean"] == 0
    assert 0 < recorded["replayed"]["mean"] <= 1.1


def test_a_workload_with_recorded_waits_gives_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """Also a part of one: the waits count from the submissions."""
    write_log(DELAYED)
    convert = ["convert", "log.txt", "--slurm-members", "--dependencies", "--hosts", "4", "--recorded-waits", "--unit"]
    assert run([*convert, "nodes", "-o", "log.json", "--demands"]) == 0
    jobs = {job["id"]: job["recorded_wait"] for job in json.loads(Path("log.json").read_bytes())["jobs"]}
    assert [jobs[str(number)] for number in range(8)] == [0, 600, 50, 650, 100, 700, 150, 750]
    from_log = fitted(capsys)
    assert run(["slurm", "fit", "log.json", "-p", "cluster.xml", "-o", "conf=slurm.conf", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == from_log
    assert run(["convert", "log.json", "--skip", "100", "-o", "part.json"]) == 0
    part = {job["id"]: job["recorded_wait"] for job in json.loads(Path("part.json").read_bytes())["jobs"]}
    assert part == {name: wait for name, wait in jobs.items() if int(name) >= 4}


def test_a_window_leaves_out_the_warm_up(capsys: pytest.CaptureFixture[str]) -> None:
    """All jobs are replayed; those that were submitted before are not compared."""
    write_log(DELAYED)
    found = fitted(capsys, "--skip", "150", "-o", "delays=none")
    assert (found["jobs"], found["recorded"]["mean"], found["replayed"]["mean"]) == (2, 450.0, 150.0)


def test_reservations_have_the_dates_of_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    """A job whose limit of 10 minutes reaches into a reservation waits until its end, in the log and in the replay."""
    Path("res.txt").write_text(
        f"ReservationName=r StartTime={time(300)} EndTime={time(900)} Nodes=n[3-4] Flags=MAINT Users=root\n"
    )
    write_log([row(1, "fast", 0, 0), row(2, "slow", 0, 900)])
    reserved = fitted(capsys, "-o", "reservations=res.txt", "-o", "delays=none")
    assert (reserved["within"], reserved["replayed"]["max"]) == (2, pytest.approx(900, abs=45))
    assert fitted(capsys, "-o", "delays=none")["within"] == 1


def test_a_clock_replaces_the_date_of_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    """Except for reservations, whose dates it would contradict: then it must be that of the log's start."""
    write_log([row(1, "fast", 65, 0)])
    Path("res.txt").write_text("No reservations in the system\n")
    assert fitted(capsys, "-o", "clock=77")["jobs"] == 1
    assert fitted(capsys, "-o", "clock=65", "-o", "reservations=res.txt")["jobs"] == 1
    assert run([*FIT, "-o", "clock=77", "-o", "reservations=res.txt"]) == 2
    rule = "date is the log's start, 2024-05-31T12:01:05+00:00, as reservations need one"
    assert f"error: -o clock: must be 65 or left out, not 77: {rule}" in capsys.readouterr().err


def test_jobs_without_a_user_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """They have root's priorities and limits."""
    for users, line in (
        (("", "", "ada"), "2 jobs without a user: they count"),
        (("", "ada"), "1 job without a user: it"),
    ):
        write_log([row(number, "fast", 500 * number, 0, user) for number, user in enumerate(users)])
        capsys.readouterr()
        assert run(FIT) == 0
        assert line in capsys.readouterr().err
    write_log([row(1, "fast", 0, 0)])
    assert run(FIT) == 0
    assert "without a user" not in capsys.readouterr().err


def test_a_window_after_the_end_names_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    """And not the algorithm."""
    write_log([row(1, "fast", 0, 0)])
    assert run([*FIT, "--skip", "30d"]) == 2
    assert "error: log.txt: there is no time from 2592000" in capsys.readouterr().err


def test_names_of_the_log_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    """Control characters do not reach the terminal."""
    write_log([row(1, "fast", 0, 0), row(2, "slow", 0, 500, "eve\x1b[2J")])
    assert run(FIT) == 0
    out, err = capsys.readouterr()
    assert "user eve\\x1b[2J" in out
    assert "\x1b" not in out + err


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            '{"nb_res": 4, "jobs": [], "profiles": {}}',
            "log.txt: no job has a recorded wait: 'convert --recorded",
        ),
        (
            "; Computer: X\n1 0 0 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n",
            "log.txt is no output of sacct: make",
        ),
        ("", "log.txt is empty: slurm fit needs the output of sacct, or a workload"),
        (" \n\n", "log.txt is empty"),
    ],
)
def test_what_is_no_log_is_refused(capsys: pytest.CaptureFixture[str], text: str, rule: str) -> None:
    """In one line."""
    Path("log.txt").write_text(text)
    capsys.readouterr()
    assert run(FIT) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert rule in err


def test_recorded_waits_of_a_log_in_swf(capsys: pytest.CaptureFixture[str]) -> None:
    """Any log has them; a job whose wait is unknown has none, and leases have none."""
    lines = ["1 0 7 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1", "2 5 -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1"]
    Path("l.swf").write_text("; MaxProcs: 4\n" + "\n".join(lines))
    assert run(["convert", "l.swf", "--recorded-waits", "-o", "l.json"]) == 0
    jobs = json.loads(Path("l.json").read_bytes())["jobs"]
    assert [job.get("recorded_wait") for job in jobs] == [7, None]
    assert run(["convert", "l.swf", "--recorded-waits", "--leases", "-o", "l.lwf"]) == 2
    assert "'--recorded-waits' is for workloads of jobs, not for leases" in capsys.readouterr().err
