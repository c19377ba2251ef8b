"""Reader of files with one object: YAML according to the file name's ending, otherwise JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from batsched_py.errors import ExtraError, WorkloadError
from batsched_py.files.bounded_file import read_content
from batsched_py.reading.json_document import parse_object, refuse_doubled
from batsched_py.reading.limits import LIMITS, LimitError, Limits, check_depth
from batsched_py.text.display import displayed, shown

_YAML: Final = frozenset({".yaml", ".yml"})
#: Maximum size in bytes of a YAML file: its reader needs seconds for each megabyte.
MOST_YAML: Final = 1_000_000


def read_document(path: Path, limits: Limits = LIMITS) -> dict[str, Any]:
    """Return the object in a file; WorkloadError names the file, the place and the rule.

    No object may have a member twice. ExtraError for YAML without its reader.
    """
    file, content = str(path), read_content(path, limits)
    if path.suffix.lower() in _YAML:
        return _parse_yaml(file, content, limits)
    document = parse_object(file, content)
    refuse_doubled(file, content)
    try:
        check_depth(document, limits)
    except LimitError as error:
        raise WorkloadError(file, "", str(error)) from error
    return document


def _parse_yaml(file: str, content: bytes, limits: Limits) -> dict[str, Any]:
    try:
        import yaml  # noqa: PLC0415  # an extra; only what needs it loads it
    except ImportError:
        raise ExtraError("files in YAML", "pyyaml", "yaml") from None
    if len(content) > MOST_YAML:
        raise WorkloadError(file, "", f"must be at most {MOST_YAML} bytes in YAML; in JSON it may be larger")
    try:
        _check_events(file, yaml, content, limits)
        _check_members(file, yaml, yaml.compose(content, Loader=yaml.SafeLoader))
        document = yaml.safe_load(content)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise WorkloadError(file, where, f"is not YAML that is read here: {displayed(str(error.problem))}") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date like 2026-13-01, a number of thousands of digits
        raise WorkloadError(file, "", f"is not YAML: {displayed(str(error))}") from error
    if not isinstance(document, dict):
        raise WorkloadError(file, "", f"must be an object, not {shown(document)}")
    return document


def _check_events(file: str, yaml: Any, content: bytes, limits: Limits) -> None:
    """Refuse aliases, which can expand a short text into a huge object, and deep nesting. WorkloadError."""
    depth = 0
    for event in yaml.parse(content, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        where = f"line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            raise WorkloadError(file, where, f"must have no alias, as *{displayed(event.anchor)}")
        if depth > limits.depth:
            raise WorkloadError(file, where, limits.rule("depth"))


def _check_members(file: str, yaml: Any, root: Any) -> None:
    """Refuse repeated members of an object, and names of members that are not text. WorkloadError."""
    left = [root]
    while left:
        node = left.pop()
        if isinstance(node, yaml.SequenceNode):
            left += node.value
        elif isinstance(node, yaml.MappingNode):
            names = set[str]()
            for key, value in node.value:
                where = f"line {key.start_mark.line + 1}"
                if key.tag != "tag:yaml.org,2002:str":
                    raise WorkloadError(file, where, f"the name of a member must be a text, not {shown(key.value)}")
                if key.value in names:
                    raise WorkloadError(file, where, f"has the member {shown(key.value)} twice")
                names.add(key.value)
                left.append(value)
