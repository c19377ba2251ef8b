"""Queries in Legion's language, made by chance: sensible ones, and texts that are none."""

from __future__ import annotations

from hypothesis import strategies as st

from batsched_py.queries import expression as mil
from batsched_py.queries.expression import Expression

CONSTANTS = st.one_of(
    st.integers(0, 2000), st.floats(0, 1e6), st.booleans(), st.sampled_from(["x86", "Linux", 'a "b" \\c', "010", ""])
)


def expressions() -> st.SearchStrategy[Expression]:
    """Expressions of all kinds, sensible or not."""
    leaves = st.one_of(
        CONSTANTS.map(mil.Literal), st.sampled_from(["arch", "os", "load", "mem", "cpus", "none"]).map(mil.Attribute)
    )

    def larger(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        return st.one_of(
            st.builds(mil.Negation, st.sampled_from("-~"), parts),
            st.builds(mil.Arithmetic, parts, st.sampled_from(["+", "-", "*", "/", "mod"]), parts),
            st.builds(mil.Comparison, parts, st.sampled_from(["==", "!=", "<>", "<=", ">=", "<", ">"]), parts),
            st.builds(mil.Not, parts),
            st.builds(mil.Xor, parts, parts),
            st.builds(mil.both, parts, parts),
            st.builds(mil.either, parts, parts),
            st.builds(lambda name, one: mil.FunctionCall(name, (one,)), st.sampled_from(["int", "float"]), parts),
            st.builds(
                lambda name, one, other: mil.FunctionCall(name, (one, other)),
                st.sampled_from(["max", "min"]),
                parts,
                parts,
            ),
        )

    return st.recursive(leaves, larger, max_leaves=12)


#: Pieces of which texts are made that may be queries.
PIECES = (
    *(
        "$mem",
        "$arch",
        "$none",
        "1",
        "010",
        "08",
        "0x1f",
        ".5",
        "1e3",
        "1e999",
        '"x86"',
        '"',
        "\\",
        "true",
        "TRUE",
        "tRUE",
    ),
    *("==", "<>", "!=", "<=", "<", "=", "+", "-", "~", "*", "/", "mod", "and", "or", "xor", "not", "(", ")", ",", " "),
    *(
        "match(",
        "max(",
        "min(",
        "int(",
        "float(",
        "foo(",
        '"(a*)*b"',
        '"["',
        "$",
        "\n",
        "\x00",
        "\ud800",
        "é",
        "9" * 400,
    ),
)


def texts() -> st.SearchStrategy[str]:
    """Texts: queries as they are printed, some with a piece more or less, and pieces in any order."""
    printed = expressions().map(str)
    torn = st.builds(
        lambda text, at, piece, cut: text[: at % (len(text) + 1)] + piece + text[at % (len(text) + 1) + cut :],
        printed,
        st.integers(0, 200),
        st.sampled_from(PIECES),
        st.integers(0, 3),
    )
    soup = st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join)
    deep = st.builds(lambda piece, count: piece * count + "1 == 1", st.sampled_from(PIECES), st.integers(0, 5000))
    return st.one_of(printed, torn, soup, deep)
