"""The table of reservations of a pass, against the list of them."""

from __future__ import annotations

from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.slurm.plan_table import PlannedStart, PlanTable
from tests.thoroughness import thorough

#: Begin, length and nodes of reservations.
PLANS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 10), st.integers(1, 15)), max_size=8)


def table(drawn: list[tuple[int, int, int]]) -> tuple[list[PlannedStart], PlanTable]:
    """The reservations as a list and as a table."""
    plans = [PlannedStart(str(at), begin, begin, begin + long, nodes) for at, (begin, long, nodes) in enumerate(drawn)]
    made = PlanTable()
    for one in plans:
        made.add(one)
    return plans, made


@given(PLANS, st.integers(-2, 32), st.integers(0, 12), st.integers(1, 15))
@settings(max_examples=thorough(100), deadline=None)
def test_the_table_answers_as_the_list(drawn: list[tuple[int, int, int]], begin: int, long: int, nodes: int) -> None:
    """Reserved nodes, free intervals, next ends, begins and edges."""
    plans, made = table(drawn)
    end = begin + long
    there = [one for one in plans if one.begin <= end and begin < one.end]
    reserved = 0
    for one in there:
        reserved |= one.nodes
    assert made.reserved(begin, end) == reserved
    assert made.next_end(begin, end) == min((one.end for one in there), default=inf)
    taken = [one for one in plans if one.nodes & nodes and one.overlaps(begin, end + 1)]
    assert made.is_free(nodes, begin, end + 1) == (not taken)
    assert made.next_edge(begin) == min((x for one in plans for x in (one.begin, one.end) if x > begin), default=inf)
    assert made.next_begin(begin) == min((one.begin for one in plans if one.begin > begin), default=inf)
