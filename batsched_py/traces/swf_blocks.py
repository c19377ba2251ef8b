"""Records of lines of a log in the Standard Workload Format that are whole numbers alone, many lines at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any, Final

import orjson

from batsched_py.reading.limits import LONGEST
from batsched_py.traces.swf_log import FIELDS, SwfRecord

# Almost all lines of a log are 18 whole numbers with blanks between them. With commas instead of blanks they are arrays
# of JSON, which orjson parses several times as fast as `int` parses the fields. This route is only for lines about
# which the reader of single lines would have nothing to say, and leads to the same records. What makes it equal:
#
# * Only the characters of _PLAIN are allowed, so that nothing is a fraction, a comment, another end of a line, or a
#   number that only `int` accepts (1_000, digits of other scripts).
# * JSON is stricter than `int` (no 007, no lone minus); orjson makes a float of a number above 64 bits, and the sum of
#   all numbers is then a float as well.
# * The rules for values are those of single lines. Whatever fails, the whole block is left to the reader of lines,
#   which finds the line and the rule.

#: The characters of plain lines.
_PLAIN: Final = b"0123456789- \t\n"
#: Texts that occur in lines in which blanks do not separate each number from the next one.
_UNEVEN: Final = (b"  ", b" \n", b"\n ", b"\t")
_NUMBER: Final = itemgetter(0)
#: The fields with times used in a workload: submit, run, requested_time.
_TIMES: Final = tuple(map(itemgetter, (1, 3, 8)))
#: Returns the record with these fields, which are not counted.
record_of: Final[Callable[[Iterable[Any]], SwfRecord]] = partial(tuple.__new__, SwfRecord)


def plain_records(lines: Sequence[bytes]) -> list[SwfRecord]:
    """Return the records of lines that all have 18 whole numbers within their limits; no record if one has not."""
    block = b"".join(lines)
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
    if block.translate(None, _PLAIN):
        return []
    if block.startswith(b" ") or any(text in block for text in _UNEVEN):
        arrays = b"],[".join([b",".join(line.split()) for line in lines])
    else:
        arrays = block.removesuffix(b"\n").replace(b"\n", b"],[").replace(b" ", b",")
    try:
        rows: list[list[int]] = orjson.loads(b"[[%b]]" % arrays)
    except ValueError:
        return []
    if set(map(len, rows)) != {FIELDS} or type(sum(chain.from_iterable(rows))) is not int:
        return []
    if min(map(_NUMBER, rows)) < 0 or any(max(map(time, rows)) > LONGEST for time in _TIMES):
        return []
    return list(map(record_of, rows))
