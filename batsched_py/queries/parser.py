"""Parser of MIL, Legion's language of queries (L7, L8, L28)."""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache, reduce
from typing import Any, Final

from batsched_py.errors import ExtraError, QueryError
from batsched_py.queries import expression as mil
from batsched_py.queries.expression import Expression
from batsched_py.queries.functions import FUNCTIONS
from batsched_py.queries.matching import PATTERN, PatternError, check_library, find_pattern
from batsched_py.queries.values import parse_number
from batsched_py.text.wording import counted

# Queries come from anybody, so reading one must be bounded: length before parsing, depth while the tree is built,
# integers by value. LALR parsing is linear in the length, and regular expressions are read by RE2, whose search is
# linear in the text; Python's `re` needs 1.1 s for `^(a+)+$` on 24 letters (ADR 29). Nothing is executed: Python's
# `eval` would make a query code, and MIL is no Python (`<>`, octal numbers, `mod`, three values).
#
# lark builds the expressions while it parses (`transformer=`), without a tree of its own in between, and is imported
# with the first query, since it is an extra. Errors have a position, from lark or from the token that cannot be.
# Expressions are never changed, so parsed texts are cached, and the same query of thousands of jobs is one object.

#: Maximum number of characters of a query, and maximum depth of nesting.
LONGEST: Final = 10_000
DEEPEST: Final = 100
#: The largest integer that may be written.
_LARGEST: Final = 2**63
#: Characters that a backslash escapes in a string; before others it is literal.
_ESCAPED: Final = re.compile(r"\\([\"\\])")

#: The grammar; operators that bind the loosest are first. Comparisons cannot be chained.
GRAMMAR: Final = r"""
?start: disjunction
?disjunction: parity (_OR parity)*
?parity: conjunction (_XOR conjunction)*
?conjunction: negation (_AND negation)*
?negation: _NOT negation -> not_
    | comparison
?comparison: sum (COMPARISON sum)?
?sum: product (SUM product)*
?product: unary (PRODUCT unary)*
?unary: SIGN unary
    | SUM unary
    | atom
?atom: "(" disjunction ")"
    | TRUE -> true
    | FALSE -> false
    | NUMBER -> number
    | STRING -> string
    | ATTRIBUTE -> attribute
    | NAME "(" [disjunction ("," disjunction)*] ")" -> call

_OR.2: /or\b/
_XOR.2: /xor\b/
_AND.2: /and\b/
_NOT.2: /not\b/
TRUE.2: /(?:true|TRUE|True)\b/
FALSE.2: /(?:false|FALSE|False)\b/
COMPARISON: /==|<=|>=|<>|!=|<|>/
SUM: /[+-]/
PRODUCT.2: /[*\/]|mod\b/
SIGN: "~"
NUMBER.2: /(?:0[xX][0-9a-fA-F]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+
    |0[0-7]*|[1-9][0-9]*)(?![0-9A-Za-z_.])/x
STRING: /"(?:[^"\\]|\\.)*"/s
ATTRIBUTE: /\$[A-Za-z_][A-Za-z0-9_]*/
NAME: /[A-Za-z_][A-Za-z0-9_]*/
%ignore /[ \t\r\n]+/
"""


@lru_cache(maxsize=1024)
def parse(text: str) -> Expression:
    """Parse a query.

    Raises QueryError (position, rule) for a text that is not a query, is too long, is nested too deeply, calls an
    unknown function, or has an invalid regular expression; ExtraError if the parser is not installed.
    """
    if len(text) > LONGEST:
        raise QueryError("", 0, f"a query has at most {LONGEST} characters, not {len(text)}")
    parser, failure = _parser()
    try:
        found: Expression = parser.parse(text)
    except failure as error:
        position = getattr(error, "pos_in_stream", None)
        if position is None or position < 0 or getattr(getattr(error, "token", None), "type", "") == "$END":
            raise QueryError(text, len(text), "the query ends too early") from None
        raise QueryError(text, position, f"unexpected {text[position]!r}") from None
    except _MistakeError as mistake:
        raise QueryError(text, mistake.position, str(mistake)) from None
    return found


class _MistakeError(Exception):
    """A part of a query is invalid."""

    def __init__(self, position: int, rule: str) -> None:
        self.position = position
        super().__init__(rule)


class _Builder:
    """Builder of expressions from the parse tree; its methods have the names of grammar rules."""

    def disjunction(self, *parts: Expression) -> Expression:
        return _checked(reduce(mil.either, parts))

    def parity(self, *parts: Expression) -> Expression:
        return _checked(reduce(mil.Xor, parts))

    def conjunction(self, *parts: Expression) -> Expression:
        return _checked(reduce(mil.both, parts))

    def not_(self, operand: Expression) -> Expression:
        return _checked(mil.Not(operand))

    def comparison(self, left: Expression, sign: Any, right: Expression) -> Expression:
        return _checked(mil.Comparison(left, str(sign), right))

    def sum(self, left: Expression, *more: Any) -> Expression:
        """Return additions and subtractions, from the left; `more` alternates signs and operands."""
        for sign, right in zip(more[::2], more[1::2], strict=True):
            left = _checked(mil.Arithmetic(left, str(sign), right))
        return left

    product = sum

    def unary(self, sign: Any, operand: Expression) -> Expression:
        if sign == "+":
            raise _MistakeError(sign.start_pos, "there is no sign +")
        return _checked(mil.Negation(str(sign), operand))

    def true(self, _: Any) -> Expression:
        return mil.Literal(value=True)

    def false(self, _: Any) -> Expression:
        return mil.Literal(value=False)

    def number(self, token: Any) -> Expression:
        value = parse_number(str(token))
        if value is None or (value > _LARGEST if isinstance(value, int) else math.isinf(value)):
            raise _MistakeError(token.start_pos, "the number is too large")
        return mil.Literal(value)

    def string(self, token: Any) -> Expression:
        return mil.Literal(_ESCAPED.sub(r"\1", str(token)[1:-1]))

    def attribute(self, token: Any) -> Expression:
        return mil.Attribute(str(token)[1:])

    def call(self, name: Any, *operands: Expression | None) -> Expression:
        arguments = tuple(one for one in operands if one is not None)
        if name not in FUNCTIONS:
            raise _MistakeError(
                name.start_pos,
                f"there is no function {str(name)!r}; there are {', '.join(FUNCTIONS)}",
            )
        wanted = FUNCTIONS[name][0]
        if len(arguments) != wanted:
            raise _MistakeError(name.start_pos, f"{name} takes {counted(wanted, 'argument')}, not {len(arguments)}")
        pattern = arguments[PATTERN]
        if name == "match" and isinstance(pattern, mil.Literal) and isinstance(pattern.value, str):
            try:
                find_pattern(pattern.value)
            except PatternError as error:
                raise _MistakeError(name.end_pos + 1, f"no regular expression: {error}") from None
        return _checked(mil.FunctionCall(str(name), arguments))


def _checked(expression: Expression) -> Expression:
    if expression.depth > DEEPEST:
        raise _MistakeError(0, f"its parts are nested deeper than {DEEPEST} levels")
    return expression


def check_installed() -> None:
    """Check that the libraries for queries and their patterns are installed. ExtraError."""
    _parser()
    check_library()


@cache
def _parser() -> tuple[Any, type[Exception]]:
    try:
        import lark  # noqa: PLC0415  # an extra; only what needs it loads it
    except ImportError:
        raise ExtraError("queries", "lark", "query") from None
    members = {name: member for name, member in vars(_Builder).items() if not name.startswith("_")}
    builder = lark.v_args(inline=True)(type("Builder", (lark.Transformer,), members))
    return lark.Lark(GRAMMAR, parser="lalr", transformer=builder()), lark.exceptions.UnexpectedInput
