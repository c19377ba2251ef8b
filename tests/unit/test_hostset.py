"""Sets of hosts, and their spelling as interval sets."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from procset import ProcSet

from batsched_py import bits as bit_sets
from batsched_py.bits import MAX_HOST, bit_runs, format_bits, interval_bits, lowest
from batsched_py.hostset import HostSet

members = st.frozensets(st.integers(0, 300))
CANONICAL = re.compile(r"(\d+(-\d+)?( \d+(-\d+)?)*)?")


@st.composite
def spellings(draw: st.DrawFn) -> tuple[frozenset[int], str]:
    """A set, and one of the many ways to write it: any order, pieces that touch or overlap, blanks or commas."""
    pieces = draw(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9), st.booleans()), max_size=6))
    hosts = frozenset(host for low, length, _ in pieces for host in range(low, low + length + 1))
    texts = [f"{low}-{low + length}" if length or dash else str(low) for low, length, dash in pieces]
    between = draw(st.sampled_from([" ", ",", "  ", " , ", "\t"]))
    return hosts, between.join(texts)


@pytest.mark.parametrize("ask", [HostSet.of(1, 2, 5).first, HostSet.range])
def test_a_negative_count_is_refused(ask: Callable[[int], HostSet | None]) -> None:
    """By the rule that it breaks."""
    with pytest.raises(ValueError, match="a number of hosts must be 0 or more, not -3"):
        ask(-3)


@given(spellings())
def test_any_legal_spelling_is_read(case: tuple[frozenset[int], str]) -> None:
    """In any order and pieces, it is the set of its numbers."""
    hosts, text = case
    assert set(HostSet.parse(text)) == hosts


@given(spellings())
def test_both_ways_to_read_give_the_same_bits(case: tuple[frozenset[int], str]) -> None:
    """One for small machines, where a shift for each piece is fastest, one for large ones."""
    assert bit_sets._read_bits(case[1], 80) == bit_sets._read_bits(case[1], MAX_HOST)


@given(spellings())
def test_what_is_written_is_canonical_and_reads_back_equal(case: tuple[frozenset[int], str]) -> None:
    """Disjoint, maximal, ascending; a singleton is one number (BA-3)."""
    host_set = HostSet.parse(case[1])
    text = str(host_set)
    assert CANONICAL.fullmatch(text)
    bounds = [int(number) for number in re.findall(r"\d+", text.replace("-", " "))]
    assert bounds == sorted(set(bounds))
    lows_and_highs = [tuple(map(int, (piece.split("-") * 2)[:2])) for piece in text.split()]
    assert all(low > high + 1 for (_, high), (low, _) in pairwise(lows_and_highs))
    assert HostSet.parse(text) == host_set


@pytest.mark.parametrize(
    ("hosts", "text"),
    [((), ""), ((0,), "0"), ((0, 1), "0-1"), ((3, 1, 2, 5), "1-3 5"), ((0, 2, 4), "0 2 4"), ((7, 9), "7 9")],
)
def test_the_canonical_spelling(hosts: tuple[int, ...], text: str) -> None:
    """Closed intervals, separated by one blank."""
    assert str(HostSet.of(*hosts)) == text


@pytest.mark.parametrize("text", ["5 2-2 1-3", "1-3 5", "1,2,3,5", "5,1-3", "3 2 1 5 5", "1-3  5", " 1-2 2-3 5 "])
def test_spellings_of_one_set_are_equal(text: str) -> None:
    """BA-3."""
    assert HostSet.parse(text) == HostSet.of(1, 2, 3, 5)


@pytest.mark.parametrize(
    "text",
    [
        "a", "-", "-1", "1-", "1--2", "1-2-3", "2-1", "0x1", "1.0", "1e3", "+1", "1_0", "\u0663", "\u00b2", "0 1 x",
        "0;1", "[0]", str(MAX_HOST + 1), f"0-{MAX_HOST + 1}", "9" * 5000, "0-" + "9" * 19,
    ],
)  # fmt: skip
def test_what_is_no_interval_set_is_refused(text: str) -> None:
    """With a short line that quotes the piece."""
    with pytest.raises(ValueError, match=r"host|interval") as caught:
        HostSet.parse(text)
    assert len(str(caught.value)) < 120


@given(st.text())
def test_any_text_is_a_set_or_a_value_error(text: str) -> None:
    """Nothing else comes out."""
    try:
        host_set = HostSet.parse(text)
    except ValueError:
        return
    assert HostSet.parse(str(host_set)) == host_set


def test_the_highest_host_is_read() -> None:
    """The limit itself is inside."""
    assert str(HostSet.parse(f"{MAX_HOST}")) == str(MAX_HOST)


@given(members, members)
def test_operations_are_those_of_sets(one: frozenset[int], other: frozenset[int]) -> None:
    """Python's own sets say what is right."""
    left, right = HostSet.from_ids(one), HostSet.from_ids(other)
    operations: list[tuple[Callable[[], HostSet], frozenset[int]]] = [
        (lambda: left | right, one | other),
        (lambda: left & right, one & other),
        (lambda: left - right, one - other),
    ]
    for operation, expected in operations:
        assert frozenset(operation()) == expected


@given(members, members)
def test_comparisons_are_those_of_sets(one: frozenset[int], other: frozenset[int]) -> None:
    """Equal, inside, apart."""
    left, right = HostSet.from_ids(one), HostSet.from_ids(other)
    assert (left == right, left <= right, left.isdisjoint(right)) == (one == other, one <= other, one.isdisjoint(other))


@given(members)
def test_a_set_is_iterated_in_ascending_order(hosts: frozenset[int]) -> None:
    """Same input, same bytes."""
    assert list(HostSet.from_ids(hosts)) == sorted(hosts)


@given(members)
def test_length_truth_and_membership_are_those_of_sets(hosts: frozenset[int]) -> None:
    """For members and others."""
    host_set = HostSet.from_ids(hosts)
    assert (len(host_set), bool(host_set)) == (len(hosts), bool(hosts))
    assert [host for host in range(-2, 302) if host in host_set] == sorted(hosts)


@given(members)
def test_equal_sets_have_equal_hashes(hosts: frozenset[int]) -> None:
    """They may be keys."""
    assert hash(HostSet.from_ids(hosts)) == hash(HostSet.from_ids(sorted(hosts, reverse=True)))


def test_a_set_is_not_equal_to_its_bits() -> None:
    """Nor to any other type."""
    bits: object = 1
    assert HostSet.of(0) != bits


@given(members)
def test_intervals_are_maximal_runs(hosts: frozenset[int]) -> None:
    """Both ends are inside, their neighbours are not."""
    intervals = list(HostSet.from_ids(hosts).intervals())
    assert [host for low, high in intervals for host in range(low, high + 1)] == sorted(hosts)
    assert all(low - 1 not in hosts and high + 1 not in hosts for low, high in intervals)


@given(members, st.integers(0, 320))
def test_the_first_members_are_the_lowest_or_none_if_there_are_fewer(hosts: frozenset[int], count: int) -> None:
    """This holds for any number."""
    first = HostSet.from_ids(hosts).first(count)
    assert first == (None if count > len(hosts) else HostSet.from_ids(sorted(hosts)[:count]))


@given(members)
def test_a_procset_holds_the_same_hosts_in_both_directions(hosts: frozenset[int]) -> None:
    """For code that works with that library."""
    host_set = HostSet.from_ids(hosts)
    procset = host_set.to_procset()
    assert frozenset(procset) == hosts
    assert HostSet.from_procset(procset) == HostSet.from_ids(procset) == host_set


@pytest.mark.parametrize("wrong", [ProcSet(MAX_HOST + 1), ProcSet(0, MAX_HOST + 1), ProcSet((5, 10**12))])
def test_a_procset_with_numbers_that_no_host_has_is_refused(wrong: ProcSet) -> None:
    """Before an integer of so many bits is made of it."""
    with pytest.raises(ValueError, match="is not between 0 and"):
        HostSet.from_procset(wrong)


@given(members)
def test_the_canonical_spelling_is_that_of_procset(hosts: frozenset[int]) -> None:
    """An independent writer of the same words."""
    assert str(HostSet.from_ids(hosts)) == str(ProcSet(*hosts))


def test_a_range_begins_at_zero() -> None:
    """Hosts 0 to count - 1."""
    assert HostSet.range(3) == HostSet.of(0, 1, 2)


def test_an_empty_range_is_the_empty_set() -> None:
    """No hosts at all."""
    assert HostSet.range(0) == HostSet()


@pytest.mark.parametrize("host", [-1, MAX_HOST + 1])
def test_host_numbers_have_limits(host: int) -> None:
    """From 0 to MAX_HOST."""
    with pytest.raises(ValueError, match=f"host {host} is not between 0 and {MAX_HOST}"):
        HostSet.of(host)


def test_a_set_never_changes() -> None:
    """It may be shared."""
    host_set = HostSet.of(1)
    with pytest.raises(AttributeError):
        setattr(host_set, "bits", 4)  # noqa: B010  # the type checker refuses the plain assignment


@given(members)
def test_a_set_survives_pickling_and_copying(hosts: frozenset[int]) -> None:
    """Experiments send it to other processes."""
    host_set = HostSet.from_ids(hosts)
    assert pickle.loads(pickle.dumps(host_set)) == copy.deepcopy(host_set) == host_set


def test_its_representation_makes_it_again() -> None:
    """For a test's failure, or a shell."""
    assert repr(HostSet.of(0, 1, 5)) == "HostSet.parse('0-1 5')"


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_bits_of_an_interval_are_one_run(low: int, length: int) -> None:
    """Both ends inside."""
    assert list(bit_runs(interval_bits(low, low + length))) == [(low, low + length)]


@given(members, st.integers(0, 320))
def test_the_lowest_bits_are_as_many_as_asked_for(hosts: frozenset[int], count: int) -> None:
    """No other bit below the highest of them is left out."""
    bits = HostSet.from_ids(hosts).bits
    found = lowest(bits, count)
    if found is None:
        assert count > len(hosts)
    else:
        assert found.bit_count() == count
        assert found == bits & ((1 << found.bit_length()) - 1)


def test_what_was_written_is_read_back_however_much_was_written_meanwhile() -> None:
    """Spellings that are remembered and those that were forgotten mean the same."""
    sets = [HostSet(0b1011 << shift) for shift in range(5000)]
    written = [str(hosts) for hosts in sets]
    assert [HostSet.parse(text) for text in (*written, *reversed(written))] == [*sets, *reversed(sets)]


def test_the_empty_spelling_is_the_empty_set_whatever_was_written() -> None:
    """A negative number is no set, and must not become one."""
    assert format_bits(-5) == ""
    assert HostSet.parse("") == HostSet()
