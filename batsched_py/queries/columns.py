"""Columnar storage of records: queries are evaluated for all records at once, part by part."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from batsched_py.queries.expression import (
    Arithmetic,
    Attribute,
    Comparison,
    Expression,
    FunctionCall,
    Junction,
    Literal,
    Not,
    Xor,
)
from batsched_py.queries.functions import ARITHMETIC, COMPARISONS
from batsched_py.queries.values import Result, Undefined, Value, enter

# Values are kept by attribute and not by record, because a query reads few attributes of all records. An answer is two
# integers, a bit for each row: true, and undefined. With these Kleene's three-valued `and`, `or` and `not` are a few
# operations on bits for all rows. For 16 384 records a query of two comparisons and a `match` took 450 ms record by
# record and 36 ms in columns; comparing and calculating whole columns by `map` has made that 3 to 9 ms since (ADR 29,
# docs/performance.md).
#
# Between two calls all columns have `length` values, a row without a record has MISSING in each, and `version` has
# grown with each change of a value. An answer is kept by the text of its part of the query, and holds as long as no
# attribute that the part reads has changed since and no row was added. Parts, not whole queries: with `$load < 1` in
# each query nothing of a whole answer would outlast a start, while its static parts are never computed again. Answers
# are computed for all rows, empty ones too, and masked at the end (`select`).
#
# A value is replaced if its type differs, even if it is equal: 1, 1.0 and true are equal in Python and different in
# MIL.
#
# `may_be_true` asks whether a host can ever suit, with what is unknown left open; it judges each comparison by itself,
# so that it may find too many rows, but none too few.
#
# Cost: O(rows) for each part that reads a changed attribute, a few operations on integers for each junction, and
# O(attributes) where nothing has changed: 2 us for a whole query.

#: Number of cached results of parts of queries.
_KEPT: Final = 512
_NUMBERS: Final = frozenset({int, float})
#: Operations on numbers that always have a result; a product with an infinity may be undefined.
_SAFE: Final = frozenset({"+", "-", "*"})
#: Functions of numbers that equal Python's.
_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {"max": max, "min": min, "int": int, "float": float}
_DIGITS: Final = bytes.maketrans(b"\x00\x01", b"01")


class Truth(NamedTuple):
    """Truth values by rows, as bit sets: the rows where they are true and where they are undefined; else false."""

    true: int
    undefined: int


class _Vector(NamedTuple):
    """Values of an expression by rows, and their types."""

    values: Sequence[Result]
    types: frozenset[type]

    @property
    def numeric(self) -> bool:
        """True if all are numbers."""
        return self.types <= _NUMBERS


class Columns:
    """Values of attributes by rows; rows may be empty.

    Attributes:
        rows: bits of the rows that have a record.
        length: the number of rows, empty ones too.
        version: changes whenever a value does.
    """

    def __init__(self, version: int = 0) -> None:
        self.rows = self.length = 0
        self.version = version
        self._values: dict[str, list[Result]] = {}
        #: Attribute -> the version of its last change; the version at which the last row was added.
        self._changed: dict[str, int] = {}
        self._grown = version
        #: Attribute -> version, and its vector.
        self._vectors: dict[str, tuple[int, _Vector]] = {}
        #: Text of a query or a part of one -> version, and answer.
        self._answers: dict[str, tuple[int, Truth]] = {}

    def add(self, attributes: Mapping[str, Value]) -> int:
        """Add a row at the end, and return its number."""
        row = self.length
        self.length += 1
        self.version += 1
        self._grown = self.version
        self.rows |= 1 << row
        for values in self._values.values():
            values.append(Undefined.MISSING)
        self.update(row, attributes)
        return row

    def remove(self, row: int) -> None:
        """Empty a row."""
        self.replace(row, {})
        self.rows &= ~(1 << row)
        self.version += 1

    def replace(self, row: int, attributes: Mapping[str, Value]) -> None:
        """Change all values of a row."""
        for name, values in self._values.items():
            if name not in attributes and values[row] is not Undefined.MISSING:
                values[row] = Undefined.MISSING
                self.version += 1
                self._changed[name] = self.version
        self.update(row, attributes)

    def update(self, row: int, attributes: Mapping[str, Value]) -> None:
        """Change values of a row."""
        for name, given in attributes.items():
            values = self._values.get(name)
            if values is None:
                values = self._values[name] = [Undefined.MISSING] * self.length
            value, before = enter(given), values[row]
            if type(before) is not type(value) or before != value:
                values[row] = value
                self.version += 1
                self._changed[name] = self.version

    def get(self, row: int) -> dict[str, Value]:
        """Return the values of a row."""
        return {name: value for name, values in self._values.items() if not isinstance(value := values[row], Undefined)}

    def values(self, name: str) -> Sequence[Result] | None:
        """Return the values of an attribute by rows, valid until the next change; None if no record ever had it."""
        return self._values.get(name)

    def select(self, query: Expression) -> Truth:
        """Return the rows for which a query is true, and those for which it is undefined."""
        found = self._truth(query)
        return Truth(found.true & self.rows, found.undefined & self.rows)

    def may_be_true(self, query: Expression, unknown: Collection[str]) -> int:
        """Return the rows for which a query is true for some values of the `unknown` attributes."""
        return self._possible(query, unknown)[0] & self.rows

    def _possible(self, query: Expression, unknown: Collection[str]) -> tuple[int, int]:
        """Return the rows for which a query may be true, and those for which it may be false."""
        if isinstance(query, Not):
            true, false = self._possible(query.operand, unknown)
            return false, true
        if isinstance(query, Xor):
            (left, not_left), (right, not_right) = (self._possible(part, unknown) for part in query.parts())
            return left & not_right | not_left & right, left & right | not_left & not_right
        if isinstance(query, Junction):
            some, every = 0, self._all
            for part in query.operands:
                true, false = self._possible(part, unknown)
                some |= true if query.decisive else false
                every &= false if query.decisive else true
            return (some, every) if query.decisive else (every, some)
        if not query.names.isdisjoint(unknown):
            return self._all, self._all
        found = self._truth(query)
        return found.true, self._all & ~(found.true | found.undefined)

    def _truth(self, query: Expression) -> Truth:
        """Return the truth for all rows, also empty ones; it is cached until a value that the query reads changes."""
        known = self._answers.get(query.text)
        if known is not None and self._stands(known[0], query):
            return known[1]
        if len(self._answers) >= _KEPT:
            self._answers.clear()
        answer = self._compute(query)
        self._answers[query.text] = self.version, answer
        return answer

    def _stands(self, version: int, query: Expression) -> bool:
        """Return whether nothing that a query reads has changed since a version."""
        changed = self._changed
        for name in query.names:  # no generator: called many times for each decision
            if changed.get(name, 0) > version:
                return False
        return version >= self._grown

    def _compute(self, query: Expression) -> Truth:
        if isinstance(query, Junction):
            return self._junction(query)
        if isinstance(query, Not):
            true, undefined = self._truth(query.operand)
            return Truth(self._all & ~(true | undefined), undefined)
        if isinstance(query, Xor):
            left, right = self._truth(query.left), self._truth(query.right)
            undefined = left.undefined | right.undefined
            return Truth((left.true ^ right.true) & ~undefined, undefined)
        return self._ask(query)

    @property
    def _all(self) -> int:
        return (1 << self.length) - 1

    def _junction(self, query: Junction) -> Truth:
        found = [self._truth(operand) for operand in query.operands]
        true, possible = (0, 0) if query.decisive else (self._all, self._all)
        for each in found:
            if query.decisive:
                true |= each.true
                possible |= each.true | each.undefined
            else:
                true &= each.true
                possible &= each.true | each.undefined
        return Truth(true, possible & ~true)

    def _ask(self, part: Expression) -> Truth:
        """Return the truth of a part that is not a junction."""
        values, types = self._vector(part)
        if types == {bool}:
            return Truth(_bits(values), 0)
        true, false = _bits([value is True for value in values]), _bits([value is False for value in values])
        return Truth(true, self._all & ~(true | false))

    def _vector(self, part: Expression) -> _Vector:
        """Return the values of a part for all rows."""
        if isinstance(part, Attribute):
            return self._column(part.name)
        if isinstance(part, Literal):
            return _Vector([part.value] * self.length, frozenset({type(part.value)}))
        vectors = [self._vector(each) for each in part.parts()]
        numeric = all(vector.numeric for vector in vectors)
        if isinstance(part, Comparison) and (numeric or all(vector.types == {str} for vector in vectors)):
            compare: Callable[[Any, Any], Any] = COMPARISONS[part.sign]
            return _Vector(list(map(compare, *[vector.values for vector in vectors])), frozenset({bool}))
        columns = [vector.values for vector in vectors]
        plain = _plain(part, vectors) if numeric else None
        if plain is not None:
            try:
                results = list(map(plain, *columns))
            except OverflowError:  # an integer too large for a float, or an infinity, which has no integer value
                return _described(list(map(part.compute, *columns)))
            if not any(map(operator.ne, results, results)):  # NaN differs from itself
                return _described(results)
        if isinstance(part, FunctionCall) and part.name == "match":
            return _described(_match(part, columns))
        return _described(list(map(part.compute, *columns)))

    def _column(self, name: str) -> _Vector:
        version = max(self._grown, self._changed.get(name, 0))
        known = self._vectors.get(name)
        if known is not None and known[0] == version:
            return known[1]
        vector = _described(self._values.get(name) or [Undefined.MISSING] * self.length)
        self._vectors[name] = version, vector
        return vector


def _described(values: Sequence[Result]) -> _Vector:
    return _Vector(values, frozenset(map(type, values)))


def _plain(part: Expression, vectors: Sequence[_Vector]) -> Callable[..., Any] | None:
    """Return a vectorised function for a part of these numbers; None if numbers must be checked one by one."""
    if isinstance(part, FunctionCall):
        return _FUNCTIONS.get(part.name)
    if not isinstance(part, Arithmetic):
        return None
    if part.sign in _SAFE:
        return ARITHMETIC[part.sign]
    dividends, divisors = vectors
    if 0 in divisors.values:
        return None
    if dividends.types == divisors.types == {int}:  # Python rounds down, MIL toward zero
        unsigned = min(dividends.values, default=0) >= 0 and min(divisors.values, default=0) >= 0  # type: ignore[type-var,operator]
        return (operator.floordiv if part.sign == "/" else operator.mod) if unsigned else None
    return operator.truediv if part.sign == "/" and {float} in (dividends.types, divisors.types) else None


def _match(part: FunctionCall, columns: Sequence[Sequence[Result]]) -> list[Result]:
    """Return whether texts match; each distinct text is searched once."""
    known = {pair: part.compute(*pair) for pair in set(zip(*columns, strict=True))}
    return [known[pair] for pair in zip(*columns, strict=True)]


def _bits(values: Iterable[Any]) -> int:
    """Return the rows with a truth value of True as bits."""
    return int(bytes(values)[::-1].translate(_DIGITS) or b"0", 2)
