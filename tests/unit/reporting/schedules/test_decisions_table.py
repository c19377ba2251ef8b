"""The file of decisions, written and read."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.model.decision_row import DecisionRow
from batsched_py.reporting.api import Schedule
from batsched_py.reporting.schedules.decisions_table import DecisionTable, read_decisions, read_decisions_of
from batsched_py.results.decisions_file import COLUMNS, TERMS, decision_lines
from batsched_py.results.run_file import RunFile
from tests.builders import hosts

HEADER = ",".join(COLUMNS) + "\n"
#: Of files that tell nothing of unfinished jobs.
OLD_HEADER = ",".join(name for name in COLUMNS if name not in TERMS) + "\n"
ROWS = (
    DecisionRow(0.0, "hosts", reason="shared", hosts=hosts("0-3 7")),
    DecisionRow(1.5, "down", hosts=hosts("2")),
    DecisionRow(2.0, "held", "w0!a", reason="own", words='it said "no", so'),
    DecisionRow(2.0, "promised", "w0!a", 7.25, "first"),
    DecisionRow(3.0, "promised", "w0!a", 7.0, "ends", ("w0!x", "w0!y")),
    DecisionRow(4.0, "promised", "w0!b", 8.0, "arrivals", ("w0!x",)),
    DecisionRow(4.0, "withdrawn", "w0!a", None, "failure"),
    DecisionRow(5.0, "rejected", "w0!b", words="never", submitted=4.0, size=9, walltime=3.5),
    DecisionRow(6.0, "down"),
    DecisionRow(6.5, "unavailable", hosts=hosts("3")),
    DecisionRow(7.0, "unfinished", "w0!c", 6.0, hosts=hosts("1"), submitted=4.5, size=1),
    DecisionRow(7.0, "unfinished", "w0!d", submitted=5.5, size=4, walltime=60.0),
)


def written(folder: Path, content: str) -> Path:
    path = folder / "run_decisions.csv"
    path.write_text(content)
    return path


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """By job, and what is told of hosts by itself."""
    found = read_decisions(written(tmp_path, HEADER + decision_lines(ROWS)))
    assert found == DecisionTable(
        {
            "w0!a": [ROWS[2], ROWS[3], ROWS[4], ROWS[6]],
            "w0!b": [ROWS[5], ROWS[7]],
            "w0!c": [ROWS[10]],
            "w0!d": [ROWS[11]],
        },
        [ROWS[1], ROWS[8]],
        hosts("0-3 7"),
        True,
        [ROWS[9]],
    )


def test_words_stand_on_one_line(tmp_path: Path) -> None:
    """They are cut after 200 characters."""
    row = DecisionRow(1.0, "held", "w0!a", reason="own", words="a\r\nb\u2028" + "x" * 999)
    (found,) = read_decisions(written(tmp_path, HEADER + decision_lines([row]))).of_jobs["w0!a"]
    assert found.words == "a b " + "x" * 196


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (
            "1,slept,w0!a,,,,,",
            "line 2, column what: must be one of hosts, down, unavailable, held, released, ",
        ),
        ("1,held,w0!a,,bored,,,", "line 2, column reason: must be one of arrivals, condition, constraint, ends"),
        ("1,held,,,own,,,", "line 2, column job_id: must name a job"),
        ("1,promised,w0!a,,first,,,", "line 2, column start: must be a number, not ''"),
        ("x,held,w0!a,,own,,,", "line 2, column time: must be a number, not 'x'"),
        ("2,down,,,,,0,\n1,down,,,,,0,", "line 3, column time: must not be before the row above"),
        ("2,down,,,,,a,", "line 2, column hosts: "),
        ("2,unfinished,w0!a,,,,,", "line 2: is unfinished, which needs the columns submitted, size, walltime"),
    ],
)
def test_a_wrong_row_is_told(tmp_path: Path, line: str, rule: str) -> None:
    """File, line, column and rule."""
    path = written(tmp_path, f"{OLD_HEADER}{line}\n")
    with pytest.raises(InputError) as caught:
        read_decisions(path)
    assert str(caught.value).startswith(f"{path}: {rule}")


@pytest.mark.parametrize(
    ("terms", "rule"),
    [
        (",1,", "line 2, column submitted: must be a number, not ''"),
        ("1,-1,", "line 2, column size: must be a whole number from 0, not '-1'"),
        ("1,1,soon", "line 2, column walltime: must be a number, not 'soon'"),
    ],
)
def test_wrong_terms_of_an_unfinished_job_are_told(tmp_path: Path, terms: str, rule: str) -> None:
    """As any other cell."""
    path = written(tmp_path, f"{HEADER}2,unfinished,w0!a,,,,,,{terms}\n")
    with pytest.raises(InputError) as caught:
        read_decisions(path)
    assert str(caught.value) == f"{path}: {rule}"


def test_decisions_of_another_run_are_left_out(tmp_path: Path) -> None:
    """By what the description of the run says of the file; without a description they are believed."""
    path = written(tmp_path, HEADER + decision_lines(ROWS))
    schedule = Schedule("run", (), 8, {}, source=str(tmp_path / "run_jobs.csv"))
    described = RunFile(
        algorithm="easy", options={}, seed=None, platform=None, workloads=(), settings={}, command=(), version="1"
    )
    right = {"decisions": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert read_decisions_of(schedule) is not None
    for results, believed in ((right, True), ({"decisions": "0"}, False), ({}, False)):
        run = replace(described, results=results)
        assert (read_decisions_of(replace(schedule, run=run)) is not None) is believed
    path.unlink()
    assert read_decisions_of(schedule) is None
    assert read_decisions_of(replace(schedule, source="log.swf")) is None
