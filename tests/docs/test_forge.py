"""Files for a public forge: workflows, templates and the citation say what the repository has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import batsched_py
from tests.clone import ROOT, files

WORKFLOWS = files(".github/workflows/*.yml")


def read(path: Path) -> dict[Any, Any]:
    found = yaml.safe_load(path.read_text())
    assert isinstance(found, dict)
    return found


def targets(text: str) -> set[str]:
    """The targets of make that a text names."""
    return set(re.findall(r"\bmake ([a-z-]+)", text))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_is_complete(workflow: Path) -> None:
    """It reads the repository and no more, ends in time, and its actions have a version."""
    found = read(workflow)
    assert found["name"] == workflow.stem
    assert found["permissions"] == {"contents": "read"}
    assert found[True]  # what YAML 1.1 makes of "on"
    for job in found["jobs"].values():
        assert job["runs-on"]
        assert 0 < job["timeout-minutes"] <= 90
        assert job["steps"][0]["uses"].startswith("actions/checkout@")
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert re.search(r"@v\d+(\.\d+)*$", step.get("uses", "@v0"))


def test_workflows_call_targets_of_make() -> None:
    """The targets exist; together they are all that a change must pass."""
    known = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {target for path in WORKFLOWS for target in targets(path.read_text())}
    assert named <= known
    assert targets((ROOT / ".ci" / "run").read_text()) <= named


def test_tests_run_on_each_python_that_is_supported() -> None:
    """As the classifiers of the package say."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    supported = [found[1] for one in project["classifiers"] if (found := re.fullmatch(r".*Python :: (3\.\d+)", one))]
    [workflow] = [path for path in WORKFLOWS if path.stem == "tests"]
    assert read(workflow)["jobs"]["test"]["strategy"]["matrix"]["python"] == supported


def test_the_citation_is_of_this_version() -> None:
    """With the licence of the package."""
    found = read(ROOT / "CITATION.cff")
    assert found["version"] == batsched_py.__version__
    assert found["license"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["license"]
    assert found["authors"]


@pytest.mark.parametrize("template", files(".github/ISSUE_TEMPLATE/*.md"), ids=lambda path: path.stem)
def test_a_template_has_a_name_and_a_purpose(template: Path) -> None:
    """The forge shows them."""
    head = yaml.safe_load(template.read_text().split("---")[1])
    assert head["name"]
    assert head["about"]
