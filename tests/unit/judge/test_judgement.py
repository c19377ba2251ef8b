"""The judge and the built-in algorithms: no false accusation, exact figures, the command and its document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from batsched_py.cli.main import run
from batsched_py.judge.judgement import JudgeRequest, judge
from batsched_py.judge.played_workload import STARVING
from batsched_py.judge.rules import ALLOWANCES, JUDGED_RULES
from batsched_py.judge.workloads import CONTRACT_WORKLOADS
from batsched_py.plugins import load
from batsched_py.schedulers import BUILT_INS
from batsched_py.testing.play import play
from tests.clone import ROOT

#: Algorithms for other things than plain jobs, or that misbehave on purpose.
OTHER: Final = {"crasher", "experiments", "leases", "submitter", "sequencer", "timelines"}
#: Algorithms that break rules by design.
BY_DESIGN: Final = {
    "easy_plus_plus": ("promise",),
    "easy_subpart_sleeper": ("promise",),
    "filler": ("starve",),
    "killer": ("kill", "reject"),  # what depends on a killed job is rejected
    "placer": ("starve",),
    "random": ("starve",),
    "rejecter": ("reject",),
    "slurm": ("promise",),  # of Slurm's resolution of times
}
GREEDY: Final = """
from batsched_py.api import NoOptions, Plan, Scheduler, View


class Greedy(Scheduler[NoOptions]):
    name = "greedy"

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts is not None:
                plan.start(job, hosts)
"""
#: A constructor that fails, before the first method.
FAILING: Final = """
    def __init__(self, options: NoOptions) -> None:
        raise RuntimeError("no room")

    def decide"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.mark.parametrize("name", sorted(set(BUILT_INS) - OTHER))
def test_no_built_in_algorithm_is_accused(name: str) -> None:
    """Except of what it does by design."""
    workloads = (*CONTRACT_WORKLOADS, "twins")
    request = JudgeRequest(
        algorithm=name, options={}, workloads=workloads, allowed=BY_DESIGN.get(name, ()), scores=False
    )
    assert judge(request).verdicts == ()


def test_first_come_first_served_needs_what_the_rule_of_starvation_says() -> None:
    """The bounds of the rule are waits of a run."""
    for name, (place, needed) in STARVING.items():
        played = play(load("fcfs"), {}, CONTRACT_WORKLOADS[name].case)
        [ending] = [one for one in played.endings if one.job.id == f"w0!{place:03d}"]
        assert ending.start - ending.job.submit_time == needed


def test_the_command_shows_and_writes_all(capsys: pytest.CaptureFixture[str]) -> None:
    """Findings with their commands, costs and scores, of which `easy` has 1."""
    assert run(["judge", "easy", "--timeout", "120s", "--json", "out/easy.json"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"easy breaks no rule ({len(JUDGED_RULES)} rules, {len(CONTRACT_WORKLOADS) + 4} workloads)\n")
    document = json.loads(Path("out/easy.json").read_text())
    assert (document["format"], document["version"], document["passed"]) == (1, 1, True)
    assert document["verdicts"] == document["others"] == []
    scores = {one["algorithm"]: one["score"] for one in document["scores"]}
    assert list(scores) == ["easy", "fcfs", "conservative"]
    assert scores["easy"] == 1.0
    assert scores["fcfs"] < 1.0
    assert document["cost"]["median"] > 0
    page = (ROOT / "docs" / "judge.md").read_text()
    table = page[page.index("## The document") :]
    assert all(f"`{member}`" in table for member in (*document, *document["scores"][0], *document["cost"]))


def test_a_finding_has_its_instant_its_job_and_a_command_that_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The command is run, and finds the same."""
    Path("greedy.py").write_text(GREEDY)
    words = ["judge", "greedy.py:Greedy", "--only", "starvation", "--timeout", "120s", "--json", "first.json"]
    assert run(words) == 1
    [verdict] = json.loads(Path("first.json").read_text())["verdicts"]
    assert (verdict["rule"], verdict["workload"], verdict["job"]) == ("starvation", "large-among-small", "w0!000")
    assert verdict["time"] > 1000
    assert verdict["command"] in capsys.readouterr().out
    again = verdict["command"].split()[1:]
    assert run([*again, "--json", "again.json"]) == 1
    assert json.loads(Path("again.json").read_text())["verdicts"] == [verdict]
    assert "EXECUTE_JOB" in capsys.readouterr().out


def test_an_exception_is_claimed_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Then the rule is not judged."""
    Path("greedy.py").write_text(GREEDY)
    words = ["judge", "greedy.py:Greedy", "--workload", "large-among-small", "--timeout", "120s"]
    assert run([*words, "--allow", "starve"]) == 0
    assert "greedy breaks no rule" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["nowhere"], "algorithm nowhere: unknown"),
        (["greedy.py:Greedy"], "algorithm greedy: RuntimeError: no room (greedy.py:9)"),
        (["easy", "-o", "predictor=nothing"], "option predictor of easy"),
        (["fcfs", "--only", "hang"], "hang"),
        (["fcfs", "--workload", "plane"], "plane"),
        (["fcfs", "--only", "cost", "--workload", "plain"], "no workload of --workload can show a rule of --only"),
        ([], "Missing argument 'ALGORITHM'"),
    ],
)
def test_wrong_words_are_one_line(capsys: pytest.CaptureFixture[str], words: list[str], line: str) -> None:
    """With exit code 2."""
    Path("greedy.py").write_text(GREEDY.replace("\n    def decide", FAILING))
    assert run(["judge", *words]) == 2
    error = capsys.readouterr().err
    assert line in error
    assert error.count("\n") == 1


def test_the_rules_are_listed_here_and_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """With their texts; exceptions are those of the page."""
    assert run(["judge", "--rules"]) == 0
    out = capsys.readouterr().out
    page = (ROOT / "docs" / "judge.md").read_text()
    for rule, text in JUDGED_RULES.items():
        assert rule in out
        assert f"| `{rule}` | {text} |" in page
    assert all(name in out for name in CONTRACT_WORKLOADS)
    assert all(f"`{name}`" in page for name in ALLOWANCES)
