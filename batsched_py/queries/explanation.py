"""Explanations of queries that are not true for a record, or that cannot be computed for it (L30)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from batsched_py.queries.expression import Expression, Junction, Not
from batsched_py.queries.values import Undefined, Value
from batsched_py.text.display import shown


def explain(query: Expression, record: Mapping[str, Value]) -> str:
    """Explain why a query is false or undefined for a record, by the decisive part and its values; "" if it is true."""
    if query.evaluate(record) is True:
        return ""
    return _explain(query, record, wanted=True)


def failures(query: Expression, record: Mapping[str, Value]) -> dict[str, Undefined]:
    """Return the parts of a query that cannot be computed for a record, with the errors: types, division by zero.

    The query may be true nevertheless. Missing attributes are not errors.
    """
    return dict(_failures(query, record))


def _failures(part: Expression, record: Mapping[str, Value]) -> Iterator[tuple[str, Undefined]]:
    for one in part.parts():
        yield from _failures(one, record)
    result = part.evaluate(record)
    inherited = any(isinstance(one.evaluate(record), Undefined) for one in part.parts())
    if isinstance(result, Undefined) and result is not Undefined.MISSING and not inherited:
        yield str(part), result


def _explain(part: Expression, record: Mapping[str, Value], *, wanted: bool) -> str:
    """Explain why a part does not have the wanted truth value."""
    if isinstance(part, Not):
        return _explain(part.operand, record, wanted=not wanted)
    if isinstance(part, Junction):
        others = [one for one in part.operands if one.evaluate(record) is not wanted]
        if part.decisive is wanted:  # any of them would suffice
            return "; ".join(_explain(one, record, wanted=wanted) for one in others)
        return _explain(others[0], record, wanted=wanted)
    result = part.evaluate(record)
    if isinstance(result, Undefined):
        return f"{part} is undefined: {_culprit(part, record, result)}"
    if not isinstance(result, bool):
        return f"{part} is {shown(result)}, no truth value"
    values = _values(part, record)
    return f"{part} is {str(result).lower()}" + (f": {values}" if values else "")


def _culprit(part: Expression, record: Mapping[str, Value], why: Undefined) -> str:
    """Return the smallest part that is undefined, and why."""
    smallest = part
    while inner := next((one for one in smallest.parts() if isinstance(one.evaluate(record), Undefined)), None):
        smallest = inner
    if why is Undefined.MISSING:
        return f"there is no {smallest}"
    values = _values(smallest, record)
    return f"{smallest}: {why.value}" + (f" ({values})" if values else "")


def _values(part: Expression, record: Mapping[str, Value]) -> str:
    return ", ".join(f"${name} is {shown(record[name])}" for name in sorted(part.names) if name in record)
