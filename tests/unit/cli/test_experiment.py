"""`batsched-py experiment`: what it prints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run as command
from tests.clone import ROOT

DATA = ROOT / "tests" / "data" / "experiments"


def test_the_order_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """With the times at which each resource is there."""
    assert command(["experiment", "show", str(DATA / "all.ovf"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [one["resource"] for one in shown["order"]][:3] == ["BonFIRE-Monitor", "data", "lan"]
    assert (shown["name"], shown["duration"], shown["start"], shown["deployed"]) == ("all", 7200, 3600, 0)


def test_delays_are_those_of_the_testbed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """MA-28: C is asked for when A's address is known."""
    (tmp_path / "testbed.yaml").write_text(
        "locations: {hp: {creation_delay: 10, address_delay: 300}, epcc: {creation_delay: {compute: 10}}}"
    )
    computes: list[dict[str, Any]] = [{"name": "A", "locations": ["hp"]}, {"name": "B", "locations": ["epcc"]}]
    computes.append({"name": "C", "locations": ["epcc"], "contexts": [{"a": ["A", "wan"]}]})
    document = {"name": "MA-28", "duration": 120, "resources": [{"compute": one} for one in computes]}
    (tmp_path / "e.json").write_text(json.dumps(document))
    given = ["experiment", "show", str(tmp_path / "e.json"), "--testbed", str(tmp_path / "testbed.yaml"), "--json"]
    assert command(given) == 0
    shown = json.loads(capsys.readouterr().out)
    found = {one["resource"]: (one["requested"], one["created"], one["addressed"]) for one in shown["order"]}
    assert found == {"A": (0, 10, 310), "B": (0, 10, 10), "C": (310, 320, 320)}
    assert shown["deployed"] == 320


def test_all_faults_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """As lines or as JSON; the error names the first one."""
    assert command(["experiment", "show", str(DATA / "faults.ovf")]) == 2
    listed = (DATA / "faults.txt").read_text().splitlines()
    first, *others = capsys.readouterr().err.splitlines()
    assert first.endswith(f"faults.ovf: {listed[0]} (and {len(others)} other errors)")
    assert others == [f"  {line}" for line in listed[1:]]
    assert command(["experiment", "show", str(DATA / "faults.ovf"), "--json"]) == 2
    shown = json.loads(capsys.readouterr().out)
    assert [f"{one['path']}: {one['message']}" for one in shown["faults"]] == listed


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "e.json: line 1, column 2: is not JSON"),
        ("[]", "e.json: must be an object, not []"),
        (" " * 1_000_001, "e.json: must have at most 1000000 bytes, not 1000001"),
        ("<a", "e.json: is not XML"),
    ],
)
def test_what_is_no_descriptor_is_one_line(
    content: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the file and the rule."""
    monkeypatch.chdir(tmp_path)
    Path("e.json").write_text(content)
    assert command(["experiment", "show", "e.json"]) == 2
    assert f"error: {told}" in capsys.readouterr().err
