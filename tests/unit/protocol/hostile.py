"""Hypothesis strategies for messages with something wrong in them: values, members, bytes."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from tests.unit.protocol.messages import Document
from tests.unit.protocol.strategies import Values, json_values, texts


def nested(levels: int, inner: Any = 1) -> Any:
    """A list in an object in a list..."""
    for level in range(levels):
        inner = {"": inner} if level % 2 else [inner]
    return inner


#: Values that once broke a decoder somewhere.
NASTY: Values = st.sampled_from(
    [
        None, True, False, 0, -1, 10**30, -(10**30), 10**4000, 2**63, 2**64 - 1, 1e308, -0.0, 5e-324,
        float("nan"), float("inf"), float("-inf"), "", " ", "0-99999999999", "5-1", "1--2", "-", "0  1", "\u0663",
        "a!b!c", "!", "NaN", "1e999", "\ud800", "a\nb",
        "SIMULATION_BEGINS", "SIMULATION_ENDS", "x" * 1000,
    ]
)  # fmt: skip
#: New objects for each draw: they are changed in turn.
ANYTHING: Values = (
    NASTY | st.builds(list) | st.builds(dict) | st.builds(nested, st.sampled_from([2, 300])) | json_values
)


def containers(value: Any) -> list[Any]:
    """All objects and lists of a document, itself the first."""
    found = []
    if isinstance(value, (dict, list)):
        found.append(value)
        for inner in value.values() if isinstance(value, dict) else value:
            found += containers(inner)
    return found


@st.composite
def mutations(draw: st.DrawFn, valid: Document) -> Document:
    """A valid document with one or two members replaced, deleted or inserted anywhere."""
    changed = deepcopy(valid)
    for _ in range(draw(st.integers(1, 2))):
        where = draw(st.sampled_from(containers(changed)))
        keys = list(where) if isinstance(where, dict) else list(range(len(where)))
        deed = draw(st.sampled_from(["replace", "delete", "insert"] if keys else ["insert"]))
        if deed == "delete":
            del where[draw(st.sampled_from(keys))]
        elif deed == "replace":
            where[draw(st.sampled_from(keys))] = draw(ANYTHING)
        elif isinstance(where, dict):
            where[draw(texts)] = draw(ANYTHING)
        else:
            where.insert(draw(st.integers(0, len(where))), draw(ANYTHING))
    return changed


@st.composite
def damages(draw: st.DrawFn, valid: bytes) -> bytes:
    """A valid message with some of its bytes replaced by others."""
    begin = draw(st.integers(0, len(valid)))
    end = min(len(valid), begin + draw(st.integers(0, 20)))
    return valid[:begin] + draw(st.binary(max_size=20)) + valid[end:]
