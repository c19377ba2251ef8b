"""Descriptors: bytes in one of the formats to a valid experiment, or a list of all faults (M6, M7, M18)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final, Literal

from batsched_py.errors import WorkloadError
from batsched_py.experiments.aggregator import with_aggregator
from batsched_py.experiments.descriptor_errors import DescriptorSizeError, DescriptorSyntaxError, InvalidDescriptorError
from batsched_py.experiments.model import Experiment
from batsched_py.experiments.parsing.json_form import Parsed, parse_document
from batsched_py.experiments.parsing.ovf import parse_ovf
from batsched_py.experiments.validation import Situation, validate
from batsched_py.reading.faults import FieldError, Place, of_file
from batsched_py.reading.json_document import parse_object, refuse_doubled
from batsched_py.reading.limits import LIMITS, LimitError, check_depth
from batsched_py.reading.notes import Notes

Form = Literal["json", "xml"]
#: Maximum size of a descriptor in bytes.
LARGEST: Final = 1_000_000
#: The situation of a document that is checked, but not deployed.
ANYWHERE: Final = Situation()


def read_descriptor(
    file: str,
    content: bytes,
    situation: Situation = ANYWHERE,
    *,
    form: Form | None = None,
    origin: datetime | None = None,
    warn: Callable[[str], None] | None = None,
) -> Experiment:
    """Return the experiment of a descriptor, with its aggregator.

    Args:
        file: the name of the document, for messages.
        content: the document.
        situation: the testbed, the time, and whether there are reservations.
        form: format of the document; None to detect it.
        origin: the instant of second 0 of the simulation; None if it has none.
        warn: called with a line for each kind of part without effect in a valid document.

    Raises:
        DescriptorSizeError: it is larger than 1 MB.
        DescriptorSyntaxError: it is not JSON or XML.
        InvalidDescriptorError: it breaks rules; the error lists all faults, at most 100.
    """
    if len(content) > LARGEST:
        raise DescriptorSizeError(file, "", f"must have at most {LARGEST} bytes, not {len(content)}")
    notes = Notes(file)
    try:
        parsed = _parse(content, form, origin, notes)
        experiment = with_aggregator(parsed.experiment)
        added = len(experiment.resources) - len(parsed.paths)
        place = Place()
        validate(experiment, (*("aggregator",) * added, *parsed.paths), place, situation)
        place.refuse()
    except FieldError as error:
        raise of_file(InvalidDescriptorError, file, error) from None
    if warn is not None:
        for line in notes.lines():
            warn(line)
    return experiment


def _parse(content: bytes, form: Form | None, origin: datetime | None, notes: Notes) -> Parsed:
    file = notes.file
    if form == "xml" or (form is None and content.lstrip().startswith((b"<", b"\xef\xbb\xbf<"))):
        return parse_ovf(file, content, origin, notes)
    try:
        document = parse_object(file, content.removeprefix(b"\xef\xbb\xbf"))
    except WorkloadError as error:
        if not error.field:  # JSON, but not an object
            raise FieldError("", error.rule) from None
        raise DescriptorSyntaxError(file, error.field, error.rule) from None
    try:
        refuse_doubled(file, content)
    except WorkloadError as error:
        raise FieldError(error.field, error.rule) from None
    try:
        check_depth(document, LIMITS)
    except LimitError as error:
        raise FieldError("", str(error)) from None
    return parse_document(document, origin)
