"""Expressions of MIL: a tree that computes its value for a record, and prints as MIL text (L7 to L11).

Operands that are not truth values, and missing attributes, make `and`, `or`, `xor` and `not` undefined. `and`, `or` and
`not` follow three-valued logic: false and undefined is false, true or undefined is true.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from batsched_py.queries.functions import ARITHMETIC, COMPARISONS, FUNCTIONS, of_numbers
from batsched_py.queries.values import Result, Undefined, Value, as_number

#: Precedence levels of operators, the loosest first.
_OR, _XOR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _UNARY, _ATOM = range(9)


class Expression(ABC):
    """A part of a query.

    Attributes:
        depth: height of its tree: 1 for a leaf.
        size: the number of its parts, itself included.
        names: attributes that it reads.
    """

    __slots__ = ("_text", "depth", "names", "size")

    level: int = _ATOM
    depth: int
    size: int
    names: frozenset[str]

    def __init__(self, *parts: Expression) -> None:
        self.depth = 1 + max((part.depth for part in parts), default=0)
        self.size = 1 + sum(part.size for part in parts)
        self.names: frozenset[str] = frozenset().union(*(part.names for part in parts))
        self._text: str | None = None

    @property
    def text(self) -> str:
        """Its MIL text, cached because it is used often."""
        if self._text is None:
            self._text = str(self)
        return self._text

    def evaluate(self, record: Mapping[str, Value]) -> Result:
        """Return its value for a record, or the reason why it is undefined."""
        return self.compute(*[part.evaluate(record) for part in self.parts()])

    @abstractmethod
    def compute(self, *values: Result) -> Result:
        """Return its value, given the values of its parts."""

    @abstractmethod
    def __str__(self) -> str:
        """Return its MIL text."""

    def parts(self) -> tuple[Expression, ...]:
        """Return its operands."""
        return ()

    def within(self, level: int) -> str:
        """Return its MIL text as an operand, in parentheses if an operator of this level binds more tightly."""
        return str(self) if self.level >= level else f"({self})"


class Literal(Expression):
    """A number, a string or a truth value."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value

    def compute(self, *values: Result) -> Result:  # noqa: ARG002  # it has no parts
        """Return the value."""
        return self.value

    def __str__(self) -> str:
        if isinstance(self.value, bool):
            return "true" if self.value else "false"
        if isinstance(self.value, str):
            return '"' + self.value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        return str(self.value)


class Attribute(Expression):
    """The value of an attribute, `$name`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.names = name, frozenset({name})

    def evaluate(self, record: Mapping[str, Value]) -> Result:
        """Return the record's value."""
        return record.get(self.name, Undefined.MISSING)

    def compute(self, *values: Result) -> Result:  # noqa: ARG002  # it has no parts
        """Return undefined."""
        return Undefined.MISSING

    def __str__(self) -> str:
        return f"${self.name}"


class Negation(Expression):
    """`-x` of a number, or `~x`, the complement of an integer."""

    __slots__ = ("operand", "sign")

    level = _UNARY

    def __init__(self, sign: str, operand: Expression) -> None:
        super().__init__(operand)
        self.sign, self.operand = sign, operand

    def parts(self) -> tuple[Expression, ...]:
        """Return the operand."""
        return (self.operand,)

    def compute(self, *values: Result) -> Result:
        """Return the negated number, or the complement."""
        (value,) = values
        if isinstance(value, Undefined):
            return value
        number = as_number(value)
        if self.sign == "-":
            return Undefined.MISTYPED if number is None else -number
        return ~number if isinstance(number, int) else Undefined.MISTYPED

    def __str__(self) -> str:
        return f"{self.sign}{self.operand.within(_UNARY)}"


class Arithmetic(Expression):
    """`x + y`, `x - y`, `x * y`, `x / y` or `x mod y` of numbers; integers stay integers."""

    __slots__ = ("left", "right", "sign")

    def __init__(self, left: Expression, sign: str, right: Expression) -> None:
        super().__init__(left, right)
        self.left, self.sign, self.right = left, sign, right

    @property
    def level(self) -> int:  # type: ignore[override]
        """The level of the operator."""
        return _SUM if self.sign in "+-" else _PRODUCT

    def parts(self) -> tuple[Expression, ...]:
        """Return both operands."""
        return self.left, self.right

    def compute(self, *values: Result) -> Result:
        """Return the number."""
        return of_numbers(ARITHMETIC[self.sign], *values)

    def __str__(self) -> str:
        return f"{self.left.within(self.level)} {self.sign} {self.right.within(self.level + 1)}"


class Comparison(Expression):
    """A comparison such as `x == y` of two numbers or two strings; truth values can be equal or not equal only."""

    __slots__ = ("left", "right", "sign")

    level = _COMPARISON

    def __init__(self, left: Expression, sign: str, right: Expression) -> None:
        super().__init__(left, right)
        self.left, self.sign, self.right = left, "!=" if sign == "<>" else sign, right

    def parts(self) -> tuple[Expression, ...]:
        """Return both operands."""
        return self.left, self.right

    def compute(self, *values: Result) -> Result:
        """Return whether it holds."""
        left, right = values
        if isinstance(left, Undefined):
            return left
        if isinstance(right, Undefined):
            return right
        compare = COMPARISONS[self.sign]
        if isinstance(left, str) and isinstance(right, str):
            return compare(left, right)
        if isinstance(left, bool) and isinstance(right, bool):
            return compare(left, right) if self.sign in ("==", "!=") else Undefined.MISTYPED
        one, other = as_number(left), as_number(right)
        return Undefined.MISTYPED if one is None or other is None else compare(one, other)

    def __str__(self) -> str:
        return f"{self.left.within(_SUM)} {self.sign} {self.right.within(_SUM)}"


class Not(Expression):
    """`not x`."""

    __slots__ = ("operand",)

    level = _NOT

    def __init__(self, operand: Expression) -> None:
        super().__init__(operand)
        self.operand = operand

    def parts(self) -> tuple[Expression, ...]:
        """Return the operand."""
        return (self.operand,)

    def compute(self, *values: Result) -> Result:
        """Return the negated truth value."""
        value = _truth(*values)
        return value if isinstance(value, Undefined) else not value

    def __str__(self) -> str:
        return f"not {self.operand.within(_NOT)}"


class Junction(Expression):
    """`x and y and ...`, or `x or y or ...`.

    Attributes:
        decisive: the truth value of a part that determines the result.
    """

    __slots__ = ("decisive", "operands")

    def __init__(self, operands: tuple[Expression, ...], *, decisive: bool) -> None:
        super().__init__(*operands)
        self.operands, self.decisive = operands, decisive

    @property
    def level(self) -> int:  # type: ignore[override]
        """The level of the operator."""
        return _OR if self.decisive else _AND

    def parts(self) -> tuple[Expression, ...]:
        """Return all operands."""
        return self.operands

    def compute(self, *values: Result) -> Result:
        """Return the decisive value if a part has it; else undefined if a part is undefined; else the other value."""
        truths = [_truth(value) for value in values]
        if self.decisive in truths:
            return self.decisive
        return next((one for one in truths if isinstance(one, Undefined)), not self.decisive)

    def __str__(self) -> str:
        return (" or " if self.decisive else " and ").join(one.within(self.level + 1) for one in self.operands)


class Xor(Expression):
    """`x xor y`."""

    __slots__ = ("left", "right")

    level = _XOR

    def __init__(self, left: Expression, right: Expression) -> None:
        super().__init__(left, right)
        self.left, self.right = left, right

    def parts(self) -> tuple[Expression, ...]:
        """Return both operands."""
        return self.left, self.right

    def compute(self, *values: Result) -> Result:
        """Return whether exactly one of them is true."""
        left, right = map(_truth, values)
        if isinstance(left, Undefined):
            return left
        return right if isinstance(right, Undefined) else left is not right

    def __str__(self) -> str:
        return f"{self.left.within(_XOR)} xor {self.right.within(_XOR + 1)}"


class FunctionCall(Expression):
    """A function of values: one of FUNCTIONS."""

    __slots__ = ("arguments", "name")

    def __init__(self, name: str, arguments: tuple[Expression, ...]) -> None:
        super().__init__(*arguments)
        self.name, self.arguments = name, arguments

    def parts(self) -> tuple[Expression, ...]:
        """Return the arguments."""
        return self.arguments

    def compute(self, *values: Result) -> Result:
        """Return the function's value."""
        undefined = next((value for value in values if isinstance(value, Undefined)), None)
        return FUNCTIONS[self.name][1](*values) if undefined is None else undefined

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"


def both(left: Expression, right: Expression) -> Expression:
    """Return `left and right`."""
    return _join(left, right, decisive=False)


def either(left: Expression, right: Expression) -> Expression:
    """Return `left or right`."""
    return _join(left, right, decisive=True)


def _join(left: Expression, right: Expression, *, decisive: bool) -> Expression:
    if isinstance(left, Junction) and left.decisive is decisive:
        return Junction((*left.operands, right), decisive=decisive)
    return Junction((left, right), decisive=decisive)


def _truth(value: Result) -> bool | Undefined:
    return value if isinstance(value, (bool, Undefined)) else Undefined.MISTYPED
