"""Reader of a VM's schedule as FIREWHEEL prints it: JSON as Python writes it, with Infinity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_content
from batsched_py.reading.limits import LIMITS, LimitError, Limits, check_depth
from batsched_py.text.display import displayed, shown

#: First bytes of pickles, FIREWHEEL's storage format: protocols 2 and later, and protocol 0 for objects.
_PICKLED: Final = (b"\x80", b"ccopy_reg", b"(lp", b"(dp", b"(ifirewheel")


def read_schedule(path: Path, limits: Limits = LIMITS) -> dict[str, Any]:
    """Return the object in a file of `print_schedule`; WorkloadError names the file, the place and the rule.

    Pickles are refused: loading one can run arbitrary code.
    """
    file, content = str(path), read_content(path, limits)
    if content.startswith(_PICKLED):
        raise WorkloadError(file, "", "is a pickle, which is never opened: give the JSON of FIREWHEEL's print_schedule")
    try:
        document = json.loads(content, object_pairs_hook=_object)
        check_depth(document, limits)
    except json.JSONDecodeError as error:
        raise WorkloadError(file, f"line {error.lineno}, column {error.colno}", f"is not JSON: {error.msg}") from error
    except (ValueError, RecursionError, LimitError) as error:  # a member twice, a number of thousands of digits
        raise WorkloadError(file, "", displayed(str(error))) from error
    if not isinstance(document, dict):
        raise WorkloadError(file, "", f"must be an object, not {shown(document)}")
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(name for number, (name, _) in enumerate(pairs) if name in dict(pairs[:number]))
        raise ValueError(f"an object has the member {shown(twice)} twice")
    return found
