"""The jobs for continuous integration do what their page says: pass, and fail when a decision changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.clone import ROOT
from tests.docs import session
from tests.docs.pages import PIPELINES, blocks, steps

PAGE = ROOT / "docs" / "how-to" / "continuous-integration.md"

#: What is not run here: it needs a network.
INSTALLS = "python -m pip install -r requirements.txt"


def pipeline(title: str) -> dict[Any, Any]:
    [block] = [block for block in blocks(PAGE) if block.title == title]
    found = yaml.safe_load(block.text)
    assert isinstance(found, dict)
    return found


def commands(title: str) -> list[str]:
    """Return the commands that the service would run, in its order."""
    if title == ".gitlab-ci.yml":
        job = pipeline(title)["replay"]
        return [*job["before_script"], *job["script"]]
    steps = pipeline(title)["jobs"]["replay"]["steps"]
    return [step["run"] for step in steps if "run" in step]


def run(folder: Path, title: str) -> list[int]:
    """Exit codes; each command in a shell that ends at the first failure, as services run it."""
    todo = [command for command in commands(title) if command != INSTALLS]
    (folder / "script").write_text("".join(todo))
    return [code for code, _ in session.run(folder, ["bash -e script"])]


@pytest.mark.parametrize("title", PIPELINES)
def test_the_job_passes_and_fails_when_a_decision_changes(title: str, tmp_path: Path) -> None:
    """With the page's recording, and with the change that the page makes."""
    session.prepare(tmp_path, [block for block in blocks(PAGE) if block.title])
    todo = [step.command for step in steps(PAGE)]
    [change] = [number for number, command in enumerate(todo) if command.startswith("sed ")]
    assert {code for code, _ in session.run(tmp_path, todo[:change])} == {0}
    assert run(tmp_path, title) == [0]
    session.run(tmp_path, [todo[change]])
    assert run(tmp_path, title) == [1]


@pytest.mark.parametrize("title", PIPELINES)
def test_the_job_installs_before_it_replays(title: str) -> None:
    """The one command that is not run here."""
    assert commands(title)[0] == INSTALLS
    assert len(commands(title)) == 2


def test_the_github_workflow_has_what_github_wants() -> None:
    """A name, when it runs (a bare `on` is read as true), and jobs of steps that use an action or run something."""
    found = pipeline(PIPELINES[0])
    assert found["name"]
    assert (found.get("on") or found.get(True)) == ["push", "pull_request"]
    for job in found["jobs"].values():
        assert job["runs-on"]
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])


def test_the_gitlab_job_has_what_gitlab_wants() -> None:
    """An image that has Python, and a script of texts."""
    job = pipeline(PIPELINES[1])["replay"]
    assert job["image"].startswith("python:3.")
    assert all(isinstance(command, str) for command in [*job["before_script"], *job["script"]])
