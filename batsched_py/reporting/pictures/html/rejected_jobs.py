"""Tables of the rejected jobs of runs: a section of the report page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from batsched_py.reporting.formatting import clock
from batsched_py.reporting.pictures.html import markup
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.text.wording import NARROW_BLANK, counted

#: The largest number of rejected jobs listed for each run.
MOST_REJECTED: Final = 100


def rejected_tables(schedules: Sequence[Schedule]) -> list[str]:
    """Return a table of the rejected jobs of each run that has any."""
    tables = []
    for schedule in schedules:
        rejected = [record for record in schedule.jobs if record.rejected]
        if not rejected:
            continue
        rows = [
            [escape(record.job.id), str(record.job.size), clock(record.job.submit_time), escape(record.metadata)]
            for record in rejected[:MOST_REJECTED]
        ]
        more = len(rejected) - len(rows)
        caption = f"{schedule.name}: {counted(len(rejected), 'job', blank=NARROW_BLANK)}" + (
            f", the first {len(rows)} of them" if more else ""
        )
        tables.append(markup.plain_table(caption, ["job", "size", "submitted", "metadata"], rows))
    return tables
