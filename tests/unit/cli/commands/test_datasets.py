"""The catalogue of public data: its schema and citations, and its commands, each of which converts an invented file."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from batsched_py.cli.main import run
from batsched_py.traces.public_data import Citation, citations_of, find_data, public_data
from tests.public_samples import SAMPLES, SWF

#: Name of data -> number of jobs that are kept of its sample; 1 for others.
KEPT: Final = {"pm100": 2, "f-data": 3, "helios": 2, "alibaba-gpu-2020": 2, "alibaba-2018": 2, "philly": 2}
CONVERTED: Final = [data for data in public_data().values() if data.command]
FIELDS: Final = {
    "article": {"author", "title", "journal", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.mark.parametrize("data", public_data().values(), ids=lambda data: data.name)
def test_data_has_an_address_terms_and_a_citation(data: object) -> None:
    """The file is decoded strictly; names are those of options, and what is unknown is empty."""
    found = find_data(getattr(data, "name", ""))
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", found.name)
    assert re.fullmatch(r"https://\S+", found.address)
    assert found.title
    assert found.terms
    assert found.citations
    assert len(citations_of(found)) == len(found.citations), "a key is not among the citations"
    assert not found.sha256 or re.fullmatch(r"[0-9a-f]{64}", found.sha256)
    assert found.jobs is None or found.jobs > 0


def test_each_citation_is_used_once_and_complete() -> None:
    """Its braces are balanced, and it has the fields that BibTeX requires."""
    entries = citations_of(*public_data().values())
    used = {key for data in public_data().values() for key in data.citations}
    assert sorted(entry.key for entry in entries) == sorted(used)
    for entry in entries:
        assert FIELDS.get(entry.type, {"title", "year"}) <= entry.fields.keys(), entry.key
        assert entry.bibtex.count("{") == entry.bibtex.count("}"), entry.key
        assert re.fullmatch(r"\d{4}", entry.fields["year"])


@pytest.mark.parametrize("data", CONVERTED, ids=lambda data: data.name)
def test_its_command_converts_a_file_of_its_schema(
    data: object, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under the name that the data has; a log is recognised by its content."""
    found = find_data(getattr(data, "name", ""))
    words = shlex.split(found.command)
    assert found.file in words
    (here / found.file).write_bytes(SAMPLES.get(found.name, SWF.encode()))
    assert run(words) == 0, capsys.readouterr().err
    written = Path(words[words.index("-o") + 1])
    assert len(json.loads(written.read_bytes())["jobs"]) == KEPT.get(found.name, 1)


def test_the_list_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    """In the order of the catalogue; --json has the same data as objects with whole citations."""
    assert run(["datasets"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines() if line.split() and line.split()[0] in public_data()] == list(
        public_data()
    )
    assert run(["datasets", "--json"]) == 0
    objects = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in objects] == list(public_data())
    assert objects[0]["citations"][0]["fields"]["year"] == "2014"


def test_one_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """With its command and what to cite; --json has one object."""
    assert run(["datasets", "hpc2n"]) == 0
    out = capsys.readouterr().out
    assert "\nsize     527371 jobs\n" in out
    assert "\nbatsched-py convert HPC2N-2002-2.2-cln.swf.gz -o hpc2n.json --platform hpc2n.xml\n" in out
    assert "\n@article{feitelson2014experience,\n" in out
    assert run(["datasets", "hpc2n", "--bibtex"]) == 0
    assert capsys.readouterr().out == citations_of(find_data("hpc2n"))[0].bibtex + "\n"
    assert run(["datasets", "hpc2n", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"] == 527371


def test_data_in_a_format_that_is_not_read(capsys: pytest.CaptureFixture[str]) -> None:
    """There is no command for it."""
    name = next(data.name for data in public_data().values() if not data.command)
    assert run(["datasets", name]) == 0
    assert "\nconvert has no reader for this format.\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (["hpc"], "'hpc' is unknown; did you mean hpc2n?"),
        (["--json", "--bibtex"], "'--json' and '--bibtex' are two formats"),
    ],
)
def test_wrong_arguments_are_one_line(arguments: list[str], rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With exit code 2."""
    assert run(["datasets", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, rule in err, err.count("\n")) == ("", True, 1)


def test_a_citation_is_an_entry() -> None:
    """In the form that BibTeX reads."""
    entry = Citation("a2020", "misc", {"title": "{A} b", "year": "2020"})
    assert entry.bibtex == "@misc{a2020,\n  title = {{A} b},\n  year = {2020},\n}"
