"""The files of a run with another simulator, from Python."""

from __future__ import annotations

import json
from pathlib import Path

from batsched_py.cli.main import run
from batsched_py.errors import AlgorithmError
from batsched_py.runs.choice import Choice, make_session
from batsched_py.runs.decision_spool import DecisionSpool
from batsched_py.runs.inputs import as_platform, as_workload
from batsched_py.runs.run_description import Call, RunInputs
from batsched_py.runs.served_run import write_served_run
from batsched_py.simulator.simulation import Simulation
from tests.clone import ROOT

PLATFORM, JOBS = ROOT / "platforms" / "cluster32.xml", ROOT / "workloads" / "lublin200.json"


def test_decisions_are_those_of_a_simulation_by_the_command(tmp_path: Path) -> None:
    """Byte for byte; the description has the algorithm's options and why the run failed, if it did."""
    words = ["-p", str(PLATFORM), "-w", str(JOBS), "-s", "easy", "-o", "reserve=hosts", "--quiet"]
    assert run(["simulate", *words, "-e", str(tmp_path / "there")]) == 0
    choice = Choice("easy", {"reserve": "hosts"})
    prefix = str(tmp_path / "here")
    with DecisionSpool(prefix) as spool:
        session = make_session(choice, log=spool.add)
        Simulation(as_platform(PLATFORM), [as_workload(JOBS)]).run(session.answer)
        failure = AlgorithmError("stopped")
        write_served_run(prefix, choice, session, RunInputs(), Call(), decisions=spool, failure=failure)
    assert (tmp_path / "here_decisions.csv").read_bytes() == (tmp_path / "there_decisions.csv").read_bytes()
    told = json.loads((tmp_path / "here_run.json").read_text())
    whole = json.loads((tmp_path / "there_run.json").read_text())
    assert (told["algorithm"], told["options"], told["given"]) == ("easy", whole["options"], ["reserve"])
    assert told["results"] == {"decisions": whole["results"]["decisions"]}
    assert (told["settings"]["protocol"], told["failure"]) == ("v4", "stopped")
