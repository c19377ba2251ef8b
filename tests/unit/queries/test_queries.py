"""MIL: the cases LA-1 to LA-18 and LA-40 to LA-63 of Legion, and what queries from anybody may do."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from batsched_py.errors import QueryError
from batsched_py.queries import expression as mil
from batsched_py.queries.columns import Columns
from batsched_py.queries.expression import Expression
from batsched_py.queries.parser import DEEPEST, LONGEST, parse
from batsched_py.queries.values import Undefined, Value, enter, parse_number
from batsched_py.traces.record_file import read_records
from tests.clone import ROOT
from tests.mil_queries import expressions

RECORDS = dict(read_records(ROOT / "tests" / "data" / "collection" / "legion.json"))
ALL = "h0 h1 h2 h3"
FOUND = {
    "LA-1": [("true", ALL)],
    "LA-2": [('$arch == "x86" and $load < 0.5', "h2")],
    "LA-3": [('match("Linux", $os)', "h1 h2")],
    "LA-4": [("$mem >= 512 or $load > 0.8 and $cpus == 2", ALL)],
    "LA-5": [("($mem >= 512 or $load > 0.8) and $cpus == 2", "h1")],
    "LA-6": [('not $arch == "x86"', "h0 h3")],
    "LA-7": [("$cpus == 010", "h2")],
    "LA-9": [("$mem mod 1000 == 24", "h2")],
    "LA-10": [("max($mem, 600) == 600", "h0 h1")],
    "LA-12": [("int($load * 10) == 9", "h1")],
    "LA-13": [("- 1 + 2 * 3 == 5", ALL)],
    "LA-14": [("~0 == -1", ALL)],
    "LA-16": [("$load != 0.2", "h1 h2")],
    "LA-18": [("2 - 1 - 1 == 0 and 7 / 2 == 3", ALL)],
    "LA-40": [('not match("Linux", $os)', "h0")],
    "LA-41": [('$os == "x" or $mem > 2000', "h3")],
    "LA-42": [('not ($os == "x" and false)', ALL)],
    "LA-43": [('$arch == "x86" xor $mem > 500', "h0 h1 h3")],
    "LA-45": [('$arch <> "x86"', "h0 h3")],
    "LA-46": [("$mem == 512.0", "h0")],
    "LA-47": [("$load < 5e-1", "h0 h2"), ("$load < .5", "h0 h2")],
    "LA-48": [("-7 / 2 == -3 and -7 mod 3 == -1 and 7.5 mod 2 == 1.5", ALL)],
    "LA-50": [("min($mem, 600) == 512", "h0")],
    "LA-51": [('$arch < "b"', "h3")],
    "LA-54": [('float("1e3") == 1000', ALL), ('int("abc") == 0', "")],
    "LA-55": [(r'match("^Linux 2\\.[24]$", $os)', "h1 h2")],
    "LA-59": [("$mem", ""), ("1 and $mem > 0", "")],
    "LA-60": [('$ARCH == "x86"', ""), ("$or == 1", "")],
    "LA-63": [("$arch > 3 or $mem == 512", "h0")],
}
WRONG = {
    "LA-15": [("$mem >", 6, "the query ends too early")],
    "LA-53": [("1 < 2 < 3", 6, "unexpected '<'")],
    "LA-57": [('match("[", $os)', 6, "no regular expression")],
    "LA-58": [("08 == 8", 0, "unexpected '0'"), ("tRUE", 4, "ends too early"), ("NOT true", 4, "unexpected 't'")],
    "unknown function": [("1 == foo(1)", 5, "there is no function 'foo'")],
    "arguments": [("max(1) == 1", 0, "max takes 2 arguments, not 1"), ("int() == 1", 0, "int takes 1 argument, not 0")],
    "brackets": [("(true", 5, "ends too early"), ("true)", 4, "unexpected ')'")],
    "sign": [("+1 == 1", 0, "there is no sign +")],
    "large": [("1e999 == 1", 0, "too large"), (f"{'9' * 400} == 1", 0, "too large")],
    "text": [('"abc', 0, "unexpected"), ("", 0, "ends too early")],
}


def names(query: str, records: Mapping[str, Mapping[str, Value]] = RECORDS) -> str:
    """The records for which it is true; asked one by one, and all together."""
    expression, columns = parse(query), Columns()
    entered = [{key: enter(value) for key, value in record.items()} for record in records.values()]
    for record in entered:
        columns.add(record)
    one_by_one = [expression.evaluate(record) for record in entered]
    true, undefined = columns.select(expression)
    assert [value is True for value in one_by_one] == [bool(true >> row & 1) for row in range(len(entered))]
    defined = [isinstance(value, bool) for value in one_by_one]
    assert defined == [not undefined >> row & 1 for row in range(len(entered))]
    return " ".join(name for name, value in zip(records, one_by_one, strict=True) if value is True)


@pytest.mark.parametrize("case", FOUND)
def test_a_query_finds_its_records(case: str) -> None:
    """One by one, and in columns."""
    for query, found in FOUND[case]:
        assert names(query) == found


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_query_names_the_place_and_the_rule(case: str) -> None:
    """It finds no host."""
    for query, position, rule in WRONG[case]:
        with pytest.raises(QueryError) as caught:
            parse(query)
        assert caught.value.position == position
        assert rule in caught.value.rule
        assert str(caught.value) == f"at offset {position}: {caught.value.rule}"


def test_a_text_that_looks_like_a_number_is_both() -> None:
    """LA-62: a text beside texts, a number beside numbers, by the rules of literals."""
    racks: dict[str, dict[str, Value]] = {"a": {"rack": "010"}, "b": {"rack": "08"}}
    assert names('$rack == "010"', racks) == "a"
    assert names("$rack == 8", racks) == "a"
    assert names("$rack == 10", racks) == ""
    assert names('$rack == "08"', racks) == "b"
    assert names("$rack + 1 == 9 and max($rack, 3) == 8", racks) == "a"


@pytest.mark.parametrize(
    ("text", "number"),
    [("010", 8), ("0x1f", 31), ("-12", -12), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("08", None), ("1_0", None)],
)
def test_numbers_are_those_of_literals(text: str, number: float | None) -> None:
    """Decimal, octal, hexadecimal, with a point or an exponent."""
    assert parse_number(text) == number


def test_truth_values_are_values() -> None:
    """L28: `$up` stands for itself, and equals true."""
    records: dict[str, dict[str, Value]] = {"a": {"up": True}, "b": {"up": False}, "c": {}}
    assert names("$up", records) == names("$up == true", records) == names("$up <> false", records) == "a"
    assert names("not $up", records) == "b"
    assert names("$up < true or $up + 1 == 2", records) == ""


def test_what_cannot_be_computed_is_undefined() -> None:
    """Division by zero, infinities that cancel each other, and integers that no float can hold."""
    huge = " * ".join(["9000000000000000000"] * 20)
    for query in ("1 / 0 == 1", "1.0 mod 0 == 1", f"{huge} * 1.0 == 0.5", "1e300 * 1e300 - 1e300 * 1e300 == 0"):
        assert names(query) == "", query
        assert names(f"{query} or true") == ALL


@given(expressions())
@example(mil.Negation("-", mil.Negation("-", mil.Literal(1))))
@example(mil.Not(mil.Comparison(mil.Literal(1), "<", mil.Literal(2))))
def test_a_query_that_is_printed_and_read_again_has_the_same_value(query: Expression) -> None:
    """On every record; and columns agree."""
    text = str(query)
    again = parse(text)
    assert str(again) == text
    for record in RECORDS.values():
        entered = {key: enter(value) for key, value in record.items()}
        before, after = query.evaluate(entered), again.evaluate(entered)
        assert before == after
        assert type(before) is type(after)
    names(text)


TOO_LONG = "a query has at most"
TOO_DEEP = "nested deeper than"
#: Query -> a part of the rule that it breaks; the names of what it finds if it breaks none.
HOSTILE = {
    "parentheses": ("(" * 100_000, TOO_LONG),
    "long": ("$a == 1 or " * 100_000 + "true", TOO_LONG),
    "digits": ("9" * 100_000 + " == 1", TOO_LONG),
    "fewer digits": ("9" * 9_000 + " == 1", "too large"),
    "digits in a text": ('int("' + "9" * 9_000 + '") == 1', ""),
    "octal digits": ("0" + "7" * 9_000 + " == 1", "too large"),
    "hexadecimal digits": ("0x" + "f" * 9_000 + " == 1", "too large"),
    "exponent": ("1e" + "9" * 9_000 + " == 1", "too large"),
    "product": (" * ".join(["9000000000000000000"] * 400) + " == 1", TOO_DEEP),
    "open": ("(" * 9_000, "the query ends too early"),
    "brackets": ("(" * 1500 + "1" + ")" * 1500 + " == 1", ""),
    "nots": ("not " * 2000 + "true", TOO_DEEP),
    "signs": ("-" * 5000 + "1 == 1", TOO_DEEP),
    "sum": ("1+" * 4000 + "1 == 1", TOO_DEEP),
    "regular expression": ('match("' + "(a*)*" * 500 + 'b", "' + "a" * 3000 + '")', ""),
    "catastrophe": ('match("^(a+)+$", "' + "a" * 5000 + 'b")', ""),
    "repetition": ('match("((a{100}){100}){100}", "a")', "no regular expression"),
    "texts": ('"' + "\\" * 9000, "unexpected"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_query_costs_an_error(case: str) -> None:
    """Otherwise it is answered soon: it would take years without bounds."""
    query, rule = HOSTILE[case]
    if rule:
        with pytest.raises(QueryError) as caught:
            parse(query)
        assert rule in caught.value.rule
        assert 0 <= caught.value.position <= len(query)
    else:
        assert names(query) == (ALL if case == "brackets" else "")


def test_queries_have_bounds() -> None:
    """Length and depth are bounded; queries just within are answered."""
    with pytest.raises(QueryError, match=f"at most {LONGEST} characters, not {LONGEST + 1}"):
        parse("true".ljust(LONGEST + 1))
    assert parse("true".ljust(LONGEST)).evaluate({}) is True
    with pytest.raises(QueryError, match=f"nested deeper than {DEEPEST} levels"):
        parse("not " * DEEPEST + "true")
    assert parse("not " * (DEEPEST - 1) + "true").evaluate({}) is (DEEPEST % 2 == 1)


@given(st.text(alphabet='$abcortndx ()<>=!~+-*/."\\0123456789', max_size=40))
def test_a_text_is_a_query_or_an_error(text: str) -> None:
    """An error has a place in it and a rule; a query is printed and read again, and has a value or none."""
    wrong: QueryError | None = None
    try:
        query = parse(text)
    except QueryError as error:
        wrong = error
    if wrong is not None:
        assert 0 <= wrong.position <= len(text)
        assert wrong.rule.isprintable()
        return
    assert isinstance(query.evaluate({"a": 1, "b": "x"}), bool | int | float | str | Undefined)
    assert str(parse(str(query))) == str(query)
