"""Notes on data in the job lines of a log that has no effect, and on sizes with inconsistent units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from batsched_py.reading.notes import Notes
from batsched_py.text.display import shown
from batsched_py.text.wording import counted
from batsched_py.traces.swf_headers import EPOCH
from batsched_py.traces.swf_log import SwfRecord

#: Run time, used and requested processors, preceding job and think time; fast for hundreds of thousands of records.
_LOOKED_AT: Final = itemgetter(3, 4, 7, 16, 17)
#: Ratio of used to requested host time above which a log seems to request nodes but use processors. In
#: published logs it is 1.02.
_SUSPICIOUS: Final = 1.5
#: A site-specific description of a job, like frontier:excl:2500x112: nodes and cores.
_DESCRIPTOR: Final = re.compile(r"(?:[^:]*:)+\d{1,9}x\d{1,9}", re.ASCII)


class FurtherFields:
    """A counter of the fields that archives append to those of the format.

    Attributes:
        lines: the number of lines with such fields.
    """

    def __init__(self, notes: Notes) -> None:
        self.lines, self._notes = 0, notes
        self._like = ""

    def add(self, fields: Sequence[str], line: int) -> None:
        """Count a line with further fields, and note those that describe the size of the job."""
        self.lines += 1
        for text in fields:
            if _DESCRIPTOR.fullmatch(text[:100]):
                self._like = self._like or shown(text)
                rule = "sizes are those of fields 5 and 8"
                self._notes.add(
                    f"descriptions of jobs by their site, like {self._like}, are not obeyed: {rule}", f"line {line}"
                )


def report_records(
    records: Sequence[SwfRecord],
    notes: Notes,
    *,
    most: str = "most requests seem to count nodes",
    dependencies: bool = False,
) -> None:
    """Add notes on dependencies between jobs, on sizes with inconsistent units, and on jumps of the clock.

    `most` is the explanation in the note if most jobs used more processors than they requested. With `dependencies`,
    preceding jobs are obeyed.
    """
    following = sized = larger = 0
    used = requested = 0.0
    for run, have, asked, before, think in map(_LOOKED_AT, records):
        if (before > 0 and not dependencies) or (think > 0 >= before):
            following += 1
        if have > 0 < asked and run > 0:
            sized += 1
            larger += have > asked
            used += have * run
            requested += asked * run
    if following:
        what = "preceding job and think time (fields 17 and 18) are not obeyed: jobs are submitted at field 2"
        what = "think times (field 18) without a preceding job are not obeyed" if dependencies else what
        notes.add(what, times=following)
    if used > _SUSPICIOUS * requested:
        times = f"{used / requested:.1f} times the requested host time"
        rule = f"{larger} of {counted(sized, 'job')} used more processors than requested, {times} in all"
        end = f"; {most}" if 2 * larger > sized else ""
        notes.add(f"{rule}{end}: convert takes the requested number, with --processors used the other")
    if records and records[-1].submit - max(records[0].submit, 0) > EPOCH:
        notes.add("the last job was submitted more than ten years after the first: rates are means over this time")
