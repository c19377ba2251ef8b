"""From a log to a workload: rules and their counts."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.errors import OptionError, WorkloadError
from batsched_py.model.profile import Delay
from batsched_py.model.workload import Workload
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.cleaning_report import CleaningReport
from batsched_py.traces.swf_log import SwfLog, SwfRecord

UNKNOWN = SwfRecord(1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1)


def record(number: int = 1, **changes: Any) -> SwfRecord:
    """A record that no rule touches, but for the changes."""
    good = {"submit": 0, "run": 10, "used_processors": 2, "requested_processors": 4, "requested_time": 60}
    return UNKNOWN._replace(number=number, **{**good, **changes})


def cleaned(*records: SwfRecord, **rules: Any) -> tuple[Workload, CleaningReport]:
    """Clean a log of a machine of 100 processors."""
    return clean(SwfLog("test", {"MaxProcs": "100"}, records), CleaningRules(**rules))


def counts(report: CleaningReport) -> dict[str, int]:
    """The counts that are not 0, but for the total and what was kept."""
    return {rule.name: count for rule, count in report.applied()}


def test_untouched_job() -> None:
    """A job that keeps all rules is taken as it is."""
    workload, report = cleaned(record(submit=5, user=3))
    (job,) = workload.jobs
    assert job.members == {"id": "1", "subtime": 5, "res": 4, "walltime": 60, "profile": "delay_10", "user": 3}
    assert (job.id, job.submit_time, job.size, job.walltime) == ("1", 5, 4, 60)
    assert workload.host_count == 100
    assert counts(report) == {}


def test_unknown_user_is_left_out() -> None:
    """A job has no member `user` where the log does not know it."""
    assert "user" not in cleaned(record())[0].jobs[0].members


def test_profiles_are_shared() -> None:
    """Jobs of one run time have one delay profile."""
    workload, _ = cleaned(record(1), record(2), record(3, run=20.5))
    assert [job.profile for job in workload.jobs] == ["delay_10", "delay_10", "delay_20.5"]
    profile = workload.profiles["delay_20.5"]
    assert isinstance(profile, Delay)
    assert (profile.delay, profile.members) == (20.5, {"type": "delay", "delay": 20.5})


def test_ids_are_padded() -> None:
    """The order of ids as texts is that of the log's job numbers."""
    workload, _ = cleaned(record(1000), record(7))
    assert [job.id for job in workload.jobs] == ["0007", "1000"]


DROPPED = [
    (record(2, run=0), "dropped_no_run_time"),
    (record(2, run=-1), "dropped_no_run_time"),
    (record(2, requested_processors=-1, used_processors=0), "dropped_no_processors"),
    (record(2, requested_processors=101), "dropped_too_large"),
    (record(2, submit=-1), "dropped_no_submit_time"),
    (record(1, run=5), "dropped_duplicate"),
]


@pytest.mark.parametrize(("bad", "rule"), DROPPED)
def test_dropped(bad: SwfRecord, rule: str) -> None:
    """A job that breaks a rule is dropped and counted under that rule only."""
    workload, report = cleaned(record(1), bad)
    assert [job.id for job in workload.jobs] == ["1"]
    assert counts(report) == {rule: 1}
    assert (report.jobs, report.kept) == (2, 1)


def test_duplicates_in_strict_mode() -> None:
    """A job number that comes twice is an error if the rules are strict."""
    with pytest.raises(WorkloadError, match=r"test: job 1: is in the log twice"):
        cleaned(record(1), record(1), strict=True)


def test_used_processors() -> None:
    """A job's size may be what it used."""
    assert cleaned(record(), processors="used")[0].jobs[0].size == 2


@pytest.mark.parametrize(
    ("choice", "unknown", "size"), [("requested", "requested_processors", 2), ("used", "used_processors", 4)]
)
def test_size_from_the_other_field(choice: str, unknown: str, size: int) -> None:
    """The other size is used where the chosen one is unknown, and is counted."""
    workload, report = cleaned(record(**{unknown: -1}), processors=choice)
    assert workload.jobs[0].size == size
    assert counts(report) == {"corrected_processors": 1}


def test_run_time_is_cut() -> None:
    """A job that ran longer than its request is cut to it."""
    workload, report = cleaned(record(run=61))
    assert (workload.jobs[0].profile, workload.jobs[0].walltime) == ("delay_60", 60)
    assert counts(report) == {"corrected_run_time": 1}


def test_missing_request() -> None:
    """A job without request has its run time as walltime."""
    workload, report = cleaned(record(requested_time=-1))
    assert workload.jobs[0].walltime == 10
    assert counts(report) == {"corrected_walltime": 1}


def test_perfect_estimates() -> None:
    """The walltime may be the run time, after it was cut."""
    workload, report = cleaned(record(1), record(2, run=70), record(3, requested_time=-1), walltime="run")
    assert [job.walltime for job in workload.jobs] == [10, 60, 10]
    assert counts(report) == {"corrected_run_time": 1}


def test_order_of_submission() -> None:
    """A log that is not sorted is, and the jobs that stood too late are counted."""
    workload, report = cleaned(record(1, submit=9), record(2, submit=3), record(3, submit=5), record(4, submit=9))
    assert [job.id for job in workload.jobs] == ["2", "3", "1", "4"]
    assert counts(report) == {"corrected_order": 2}


def test_window() -> None:
    """A window is half-open on the log's clock, and submission times count from its start."""
    workload, report = cleaned(*(record(i, submit=10 * i) for i in range(1, 6)), start=20, end=40)
    assert [(job.id, job.submit_time, job.members["subtime"]) for job in workload.jobs] == [("2", 0, 0), ("3", 10, 10)]
    assert counts(report) == {"left_out_by_window": 3}


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"start": math.nan}, r"--from: must be a number of seconds from 0, not nan"),
        ({"start": math.inf}, r"--from: must be a number of seconds from 0, not inf"),
        ({"start": -1.0}, r"--from: must be a number of seconds from 0, not -1\.0"),
        ({"end": math.nan}, r"--to: must be later than --from, 0, not nan"),
        ({"start": 100.0, "end": 50.0}, r"--to: must be later than --from, 100\.0, not 50\.0"),
        ({"start": 5, "end": 5}, r"--to: must be later than --from, 5, not 5"),
        ({"hosts": -1}, r"--hosts: must be 1 or more, not -1"),
        ({"max_jobs": 0}, r"--max-jobs: must be 1 or more, not 0"),
    ],
)
def test_rules_that_no_job_can_keep(rules: dict[str, Any], message: str) -> None:
    """It is the option that is wrong, not the log."""
    with pytest.raises(OptionError, match=f"^{message}$"):
        CleaningRules(**rules)


def test_a_given_machine_size_needs_no_header() -> None:
    """So a log with a wrong one can be converted."""
    log = SwfLog("test", {"MaxProcs": "abc"}, (record(),))
    assert clean(log, CleaningRules(hosts=4))[0].host_count == 4
    with pytest.raises(WorkloadError, match=r"header MaxProcs: must begin with a whole number"):
        clean(log, CleaningRules())


def test_max_jobs() -> None:
    """Only the first submitted of the good jobs are kept, as many as asked for."""
    workload, report = cleaned(record(1, submit=9), record(2, run=0), record(3), record(4, submit=5), max_jobs=2)
    assert [job.id for job in workload.jobs] == ["3", "4"]
    assert counts(report) == {"dropped_no_run_time": 1, "left_out_by_max_jobs": 1, "corrected_order": 2}


def test_given_machine_size() -> None:
    """A machine's size that is given prevails over the log's."""
    workload, report = cleaned(record(1), record(2, requested_processors=3), hosts=3)
    assert workload.host_count == 3
    assert counts(report) == {"dropped_too_large": 1}


def test_unknown_machine_size() -> None:
    """On a machine of unknown size no job is too large."""
    workload, _ = clean(SwfLog("test", {}, (record(requested_processors=10**6),)), CleaningRules())
    assert workload.host_count == 0


def test_nothing_left() -> None:
    """A log of which nothing is kept is an error."""
    with pytest.raises(WorkloadError, match=r"test: has no job that the rules keep, of 1"):
        cleaned(record(run=0))


def test_report_lines() -> None:
    """The report says in words what happened, and where first."""
    _, report = cleaned(record(1), record(2, run=0))
    assert report.lines() == ("2 jobs in the log", "1 job kept", "1 dropped: run time unknown or 0")
    assert report.places == {"dropped_no_run_time": ("job 2",)}


RECORDS = st.lists(
    st.builds(
        record,
        st.integers(0, 20),
        submit=st.integers(-1, 50),
        run=st.integers(-1, 70),
        requested_processors=st.integers(-1, 120),
        used_processors=st.integers(-1, 120),
        requested_time=st.integers(-1, 60),
    ),
    min_size=1,
)


@given(RECORDS, st.integers(0, 20), st.integers(21, 60), st.integers(1, 9))
def test_every_job_is_accounted_for(records: list[SwfRecord], start: int, end: int, max_jobs: int) -> None:
    """In any log, each job is kept or counted under one reason, and those kept are sound and in order."""
    try:
        workload, report = cleaned(*records, start=start, end=end, max_jobs=max_jobs)
    except WorkloadError:
        return
    gone = [count for rule, count in report.applied() if rule.takes]
    assert report.jobs == report.kept + sum(gone)
    assert report.kept == len(workload.jobs)
    assert list(workload.jobs) == sorted(workload.jobs, key=lambda job: (job.submit_time, job.id))
    for job in workload.jobs:
        profile = workload.profiles[job.profile]
        assert isinstance(profile, Delay)
        assert job.walltime is not None
        assert 0 < profile.delay <= job.walltime
        assert 0 < job.size <= 100


@given(
    RECORDS, st.sampled_from([{}, {"processors": "used"}, {"walltime": "run"}, {"start": 7, "end": 30}, {"hosts": 50}])
)
def test_jobs_without_a_question_are_as_by_all_rules(records: list[SwfRecord], rules: dict[str, Any]) -> None:
    """With cancelled jobs, of which these logs have none, all rules look at each job, with the same result."""
    try:
        short = cleaned(*records, **rules)
    except WorkloadError as error:
        with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
            cleaned(*records, cancelled=True, **rules)
    else:
        assert short == cleaned(*records, cancelled=True, **rules)


def test_other_fields_are_kept() -> None:
    """Known fields are kept with the user."""
    first, second = cleaned(record(1, user=3, queue=2, partition=-1), record(2, queue=0), keep=("queue", "partition"))[
        0
    ].jobs
    assert dict(first.extra) == {"user": 3, "queue": 2}
    assert dict(second.extra) == {"queue": 0}
    with pytest.raises(OptionError, match=r"--keep: 'status': unknown; there are: group, executable, queue, partition"):
        cleaned(record(), keep=("status",))
