"""`batsched-py placements`: where something could be placed, for people, for scripts, and as a job brings it along."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from batsched_py.collection.alternatives import ObjectPlacement, read_alternatives
from tests.integration.test_placer import PLATFORM

HOSTS = (
    '<host id="n0" speed="1Gf"><prop id="arch" value="x86"/><prop id="allowed_users" value="ann"/></host>'
    '<host id="n1" speed="1Gf"><prop id="arch" value="x86"/></host><host id="n2" speed="1Gf"/>'
    '<host id="va" speed="1Gf"><prop id="role" value="storage"/><prop id="size" value="100"/></host>'
    '<host id="vb" speed="1Gf"><prop id="role" value="storage"/><prop id="size" value="50"/></host>'
)


@pytest.fixture
def platform(tmp_path: Path) -> str:
    """Three hosts and two vaults."""
    (tmp_path / "p.xml").write_text(PLATFORM.format(HOSTS))
    return str(tmp_path / "p.xml")


def test_candidates_one_a_line(platform: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In the order in which they would be proposed; vaults are none, nor are hosts that would refuse who asks."""
    assert run(["placements", "-p", platform, "--plain"]) == 0
    assert capsys.readouterr().out == "n0\nn1\nn2\n"
    assert run(["placements", "-p", platform, '$arch == "x86"', "--plain", "--as", "bob"]) == 0
    assert capsys.readouterr().out == "n1\n"


def test_schedules_as_json_are_read_again(platform: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The first whole, the others as what differs."""
    assert run(["placements", "-p", platform, "--hosts", "2", "--space", "60", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [list(one) for one in document] == [["placements"], ["difference"]]
    assert read_alternatives(document) == [
        (ObjectPlacement("0", "n0", "va"), ObjectPlacement("1", "n1")),
        (ObjectPlacement("0", "n0", "va"), ObjectPlacement("1", "n2")),
    ]


def test_people_see_a_table(platform: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With how many hosts and vaults there are to choose from."""
    assert run(["placements", "-p", platform, "--vault", '$name == "vb"', "--alternatives", "2"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[2:] == ["1 0 n0 vb", "2: but 0 n1 vb", "2 alternatives of 3 hosts and 1 vault that may be chosen"]


def test_a_class_says_where(platform: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its hosts, its constraint and its order."""
    (tmp_path / "c.json").write_text(json.dumps({"Foo": {"hosts": ["n1", "n2"], "placer": "round-robin"}}))
    files = ["-p", platform, "--classes", str(tmp_path / "c.json")]
    assert run(["placements", *files, "--class", "Foo", "--plain"]) == 0
    assert capsys.readouterr().out == "n1\nn2\n"
    assert run(["placements", *files, "--class", "Fooo"]) == 2
    assert "'--class': unknown; there are: Foo" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (["$arch <"], "at offset 7: the query ends too early"),
        (["--vault", "foo(1)"], "at offset 0: there is no function 'foo'"),
        (["--place", "bets"], "'--place': must be best | random | round-robin | file.py:Class, not 'bets'"),
        (["--class", "Foo"], "'--class' needs '--classes'"),
        (["--hosts", "0"], "'--hosts': 0 is not in the range"),
    ],
)
def test_mistakes_are_one_line(platform: str, given: list[str], rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2."""
    assert run(["placements", "-p", platform, *given]) == 2
    assert rule in capsys.readouterr().err.splitlines()[-1]
