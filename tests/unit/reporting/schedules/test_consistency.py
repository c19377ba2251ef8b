"""Results that contradict themselves are told, kind by kind; those of a correct run never are."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.hostset import HostSet
from batsched_py.reporting.api import Schedule, read_schedule
from batsched_py.reporting.schedules.consistency import find_contradictions
from batsched_py.reporting.schedules.contradictions import ContradictionKind, Contradictions
from batsched_py.results.records import JobRecord
from batsched_py.results.result_files import JOBS_HEADER
from tests.clone import ROOT
from tests.unit.reporting.records import record

DATA = ROOT / "tests" / "data"
COLUMNS = JOBS_HEADER.split(",")
#: Column -> what stands there, of a job of two hosts that waits for 5 s and runs for 20 s.
JOB = {
    **dict(zip(COLUMNS[:6], ["1", "w0", "p", "5.000000", "2", "100.000000"], strict=True)),
    **dict(zip(COLUMNS[6:10], ["1", "COMPLETED_SUCCESSFULLY", "10.000000", "20.000000"], strict=True)),
    **dict(zip(COLUMNS[10:14], ["30.000000", "5.000000", "25.000000", "1.250000"], strict=True)),
    **dict(zip(COLUMNS[14:], ["0-1", "-1.000000", '""'], strict=True)),
}
OTHER = {**JOB, "job_id": "2", "allocated_resources": "2-3"}


def written(folder: Path, *rows: dict[str, str], figures: dict[str, str] | None = None) -> Path:
    """A jobs file of these rows, and the figures of the run."""
    with (folder / "r_jobs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    if figures:
        (folder / "r_schedule.csv").write_text(f"{','.join(figures)}\n{','.join(figures.values())}\n")
    return folder / "r"


def found(path: Path, *, every: bool = True) -> Contradictions:
    return find_contradictions(read_schedule(path, every=every), None if every else 1)


def counts(contradictions: Contradictions) -> dict[ContradictionKind, int]:
    return {kind: contradictions.count(kind) for kind in contradictions.kinds}


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"submission_time": "12.000000", "waiting_time": "-2.000000", "turnaround_time": "18.000000",
          "stretch": "0.9"}, ContradictionKind.EARLY_START),
        ({"execution_time": "21.000000"}, ContradictionKind.EXECUTION),
        ({"execution_time": "nan"}, ContradictionKind.EXECUTION),
        ({"waiting_time": ""}, ContradictionKind.WAIT),
        ({"turnaround_time": "20.000000"}, ContradictionKind.TURNAROUND),
        ({"stretch": "2.500000"}, ContradictionKind.STRETCH),
        ({"success": "0"}, ContradictionKind.STATE),
        ({"final_state": "REJECTED"}, ContradictionKind.STATE),
        ({"submission_time": "-1.000000", "waiting_time": "11.000000", "turnaround_time": "31.000000",
          "stretch": "1.55"}, ContradictionKind.NEGATIVE),
        ({"requested_number_of_resources": "3"}, ContradictionKind.SIZE),
        ({"allocated_resources": ""}, ContradictionKind.NO_HOSTS),
        ({"allocated_resources": "8-9"}, ContradictionKind.OUTSIDE),
    ],
)  # fmt: skip
def test_each_kind_of_contradiction_in_a_row_is_found(
    tmp_path: Path, changed: dict[str, str], kind: ContradictionKind
) -> None:
    """No other kind is found; the message has the line of the row."""
    path = written(tmp_path, OTHER, {**JOB, **changed}, figures={"nb_computing_machines": "4"})
    contradictions = found(path)
    assert kind in counts(contradictions)
    assert {one.line for one in contradictions if one.kind is kind} == {3}
    assert set(counts(contradictions)) <= {kind, ContradictionKind.STATE}
    assert found(path, every=False).lines() == contradictions_without_lines(contradictions)


def contradictions_without_lines(contradictions: Contradictions) -> list[str]:
    """As metrics tell them, which know lines of what stands in one row alone."""
    of_several = {ContradictionKind.SIZE, ContradictionKind.NO_HOSTS, ContradictionKind.OUTSIDE}
    return [
        line.replace(" (line 3)", "") if kind in of_several else line
        for kind, line in zip(contradictions.kinds, contradictions.lines(), strict=True)
    ]


def test_rows_that_cannot_be_used_are_refused_or_all_listed(tmp_path: Path) -> None:
    """By metrics and check."""
    late = {**JOB, "job_id": "3", "finish_time": "9.000000"}
    path = written(tmp_path, JOB, late, {**OTHER, "starting_time": "nan"}, JOB, OTHER)
    with pytest.raises(InputError, match="line 3, column finish_time: must not be before the start, as"):
        read_schedule(path)
    contradictions = found(path)
    assert counts(contradictions) == {
        ContradictionKind.CELL: 1,
        ContradictionKind.REPEATED: 2,
        ContradictionKind.EARLY_END: 1,
    }
    assert [(one.line, one.job) for one in contradictions] == [(4, "w0!2"), (5, "w0!1"), (6, "w0!2"), (3, "w0!3")]


def test_two_jobs_on_a_host_are_found_with_both_names(tmp_path: Path) -> None:
    """Unless one ends when the other starts."""
    later = {**OTHER, "allocated_resources": "1-2", "starting_time": "29.000000", "finish_time": "49.000000"}
    later |= {"waiting_time": "24.000000", "turnaround_time": "44.000000", "stretch": "2.200000"}
    (first, *_) = shared = list(found(written(tmp_path, JOB, later)))
    assert [one.kind for one in shared] == [ContradictionKind.SHARED]
    assert (first.line, first.job) == (3, "w0!2")
    assert first.what == "starts at 29.000000 on host 1, which w0!1 has"
    touching = {**later, "starting_time": "30.000000", "finish_time": "50.000000", "waiting_time": "25.000000"}
    touching |= {"turnaround_time": "45.000000", "stretch": "2.250000"}
    assert not found(written(tmp_path, JOB, touching))


def test_sharing_is_no_contradiction_where_it_was_allowed(tmp_path: Path) -> None:
    """By an option, or the description of the run."""
    schedule = read_schedule(DATA / "batsim" / "o25_sharing_random")
    assert set(counts(find_contradictions(schedule))) == {ContradictionKind.SHARED, ContradictionKind.UTILISATION}
    assert find_contradictions(schedule).lines()[0].endswith("; right only if jobs were allowed to share hosts")
    assert not find_contradictions(schedule, sharing=True)


def test_more_hosts_than_there_are_is_told_where_only_numbers_are_known() -> None:
    """As in a log."""
    jobs = [record(name, finish=100, hosts="0-2") for name in "ab"]
    log = Schedule("log", tuple(_without_hosts(one) for one in jobs), 4, {}, source="log.swf")
    contradictions = find_contradictions(log, None)
    assert [(one.kind, one.job) for one in contradictions] == [
        (ContradictionKind.TOO_MANY, "w0!b"),
        (ContradictionKind.UTILISATION, ""),
    ]
    assert next(iter(contradictions)).what == "from 0.000000 on 6 of 4 are busy"


def _without_hosts(one: JobRecord) -> JobRecord:
    return replace(one, hosts=HostSet())


def test_figures_of_the_run_are_compared_with_its_jobs(tmp_path: Path) -> None:
    """Rows that were deleted, and ends that were changed."""
    figures = {"nb_computing_machines": "4", "makespan": "25.000000", "nb_jobs": "3", "nb_jobs_rejected": "0"}
    contradictions = found(written(tmp_path, JOB, OTHER, figures=figures))
    assert counts(contradictions) == {ContradictionKind.MAKESPAN: 2, ContradictionKind.FIGURES: 1}
    assert [one.what for one in contradictions][-1] == "nb_jobs is 3, by the jobs 2"
    figures |= {"makespan": "31.000000", "nb_jobs": "2"}
    assert counts(found(written(tmp_path, JOB, OTHER, figures=figures))) == {ContradictionKind.FIGURES: 1}


@pytest.mark.parametrize(
    "path", sorted(DATA.glob("batsim*/**/*jobs.csv")), ids=lambda path: str(path.relative_to(DATA))
)
def test_files_of_real_batsim_do_not_contradict_themselves(path: Path) -> None:
    """But for jobs that share hosts, whose files do not tell that they may, and executors that were mapped."""
    contradictions = find_contradictions(read_schedule(path), sharing=True)
    mapped = {ContradictionKind.SIZE} if "mapping" in str(path) else set()
    assert set(contradictions.kinds) <= mapped


def test_lines_are_counted_and_name_the_first() -> None:
    """One for each kind, in their order; what is kept does not grow."""
    contradictions = Contradictions()
    for number in range(3):
        contradictions.add(ContradictionKind.WAIT, f"w0!{number}", number + 2, "is %d", number)
    contradictions.add(ContradictionKind.CELL, "", 0, "100 %")
    assert contradictions.lines() == [
        "a cell that breaks its rule: 1 time, 100 %",
        "a waiting time that is not start - submission: 3 times, first w0!0 (line 2): is 0",
    ]
    assert (len(list(contradictions)), contradictions.total) == (2, 4)


def test_many_overlaps_take_no_longer_than_few() -> None:
    """Only for the first ones the other job is looked for."""
    jobs = tuple(record(str(k), start=k, finish=1e6, hosts="0") for k in range(3000))
    contradictions = find_contradictions(Schedule("r", jobs, 1, {}, source="r_jobs.csv"), None)
    assert contradictions.count(ContradictionKind.SHARED) == 2999
    assert [one.what for one in contradictions if "which" in one.what][-1].endswith("which w0!0 has")
