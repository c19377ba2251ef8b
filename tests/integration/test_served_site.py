"""A site beside a Batsim that connects: the embedded simulator over a socket, with and without latencies."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from batsched_py.site.client import SiteClient
from tests.clone import ROOT
from tests.forked.program import forked
from tests.integration.test_site import wait_for
from tests.site_process import LOADED

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

PLATFORM = str(ROOT / "platforms" / "tiny4.xml")


DYNAMIC = "--enable-dynamic-jobs"

#: A client of a site, and the processes `serve` and `simulate`.
Served = tuple[SiteClient, list[subprocess.Popen[str]]]


@contextmanager
def served(folder: Path, *options: str, simulated: tuple[str, ...] = (DYNAMIC,)) -> Iterator[Served]:
    """Open a site beside the simulator, whose workload has two jobs."""
    profile = {"type": "delay", "delay": 100}
    jobs = [{"id": str(n), "subtime": 50 * n, "res": 2, "walltime": 200, "profile": "p"} for n in (1, 2)]
    (folder / "w.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": {"p": profile}}))
    program, address, data = forked(os.environ, *LOADED), f"ipc://{folder}/b.ipc", str(folder / "s")
    command = [*program, "serve", "-s", "leases", "-b", address, "--site", "127.0.0.1:0", "--data", data, *options]
    command += ["-e", str(folder / "t")]
    serve = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert serve.stderr is not None
    told = serve.stderr.readline() + serve.stderr.readline()
    found = re.search(r"http://\S+", told)
    assert found is not None, told + serve.stderr.read()
    command = [*program, "simulate", "-p", PLATFORM, "-w", str(folder / "w.json"), "--socket", address, "--quiet"]
    command += ["-e", str(folder / "out"), *simulated]
    simulate = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield SiteClient(found[0], patience=60), [serve, simulate]
    finally:
        for process in (simulate, serve):
            if process.poll() is None:
                process.terminate()
            process.communicate()


def final_states(folder: Path) -> set[str]:
    """Return the final states of the leases, as the algorithm's own table has them."""
    with (folder / "t_leases.csv").open(newline="") as file:
        return {row["state"] for row in csv.DictReader(file)}


@pytest.mark.parametrize(
    ("simulated", "jobs"),
    [
        ((DYNAMIC,), "out_jobs.csv"),
        ((DYNAMIC, "--message-latency"), "out_jobs.csv"),
        (("--protocol", "v5"), "outjobs.csv"),
    ],
    ids=["at-once", "latency", "v5"],
)
def test_requests_join_the_messages_of_a_batsim(tmp_path: Path, simulated: tuple[str, ...], jobs: str) -> None:
    """Leases run among the jobs of its workload; once the site is closed, the simulation ends, and replays."""
    with served(tmp_path, "--pace", "1000", "--wakeup-interval", "10", simulated=simulated) as (client, processes):
        number = client.post("api", "leases", body={"nodes": 4, "duration": 500})["number"]
        # it may be over before anybody looks: half a second is all that it takes
        wait_for(lambda: client.get("api", "leases", number)["state"] in ("Active", "Done"))
        late = client.post("api", "leases", body={"nodes": 1, "duration": 60})["number"]
        wait_for(lambda: client.get("api", "leases", late)["state"] == "Done")
        client.post("api", "close", body={})
        assert [process.wait(60) for process in processes] == [0, 0]
    rows = (tmp_path / jobs).read_text().splitlines()[1:]
    assert {row.split(",")[0].partition("#")[0] for row in rows} == {"1", "2"}
    # What was suspended for another was killed, and has gone on as another job.
    assert "REJECTED" not in {row.split(",")[7] for row in rows}
    assert final_states(tmp_path) == {"Done"}
    assert run(["replay", str(tmp_path / "s" / "transcript.jsonl")]) == 0


def test_decisions_are_written_when_the_simulation_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`explain` reads them with the jobs file of Batsim."""
    with served(tmp_path, "--pace", "1000", "--wakeup-interval", "10") as (client, processes):
        client.put("api", "clock", body={"paused": True})
        reserved = {"nodes": 4, "duration": 60, "start": client.get("api", "clock")["now"] + 1000}
        number = client.post("api", "leases", body=reserved)["number"]
        client.put("api", "clock", body={"paused": False})
        client.post("api", "close", body={})
        assert [process.wait(60) for process in processes] == [0, 0]
    (tmp_path / "out_jobs.csv").rename(tmp_path / "t_jobs.csv")  # where Batsim would write it
    capsys.readouterr()
    assert run(["explain", str(tmp_path / "t"), f"site!{number}", "--json"]) == 0
    (own,) = json.loads(capsys.readouterr().out)["intervals"]
    assert (own["reason"], own["to"]) == ("own_start", own["promise"])  # which the decisions alone have


def test_a_site_that_is_stopped_stops_batsim(tmp_path: Path) -> None:
    """Neither waits for ever."""
    with served(tmp_path, "--pace", "100") as (client, (serve, simulate)):
        client.post("api", "leases", body={"nodes": 4, "duration": "unlimited"})
        serve.terminate()
        assert serve.wait(60) == 143
        assert simulate.wait(60) != 0
