"""Records of jobs that have ended."""

from batsched_py.results.records import BATCH, EndedJobs, JobRecord, Tally
from tests.unit.reporting.records import record, rejected

RECORDS = (record("1", start=2.0, finish=5.0, hosts="0-1"), rejected(), record("2", start=3.0, finish=9.0))


def ended(into: list[JobRecord] | None) -> EndedJobs:
    """All of the records, kept or passed on."""
    made = EndedJobs(4, None if into is None else into.extend)
    for each in RECORDS:
        made.add(each)
    return made


def test_records_are_kept_if_nobody_else_takes_them() -> None:
    """In the order in which the jobs ended."""
    kept = ended(None)
    assert (kept.tally(), tuple(kept.records), kept.count) == (None, RECORDS, 3)


def test_records_are_passed_on_and_only_their_numbers_stay() -> None:
    """The numbers are those of the same records; few wait to be passed on."""
    into: list[JobRecord] = []
    kept = ended(into)
    assert (kept.tally(), kept.records, kept.count) == (Tally.of(RECORDS, 4), [], 3)
    assert tuple(into) == RECORDS
    for _ in range(10 * BATCH):
        kept.add(RECORDS[0])
        assert len(kept.records) <= BATCH
    assert kept.tally() == Tally.of(into, 4)
