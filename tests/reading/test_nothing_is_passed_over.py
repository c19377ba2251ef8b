"""Additions to inputs: each is obeyed, refused, or reported in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reading.readers import READERS, Reader


def names(reader: Reader) -> str:
    """The name of a case."""
    return reader.name


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Reader], object]:
    """The outcome of a reader's input without an addition, which its tests share."""
    found = dict[str, object]()

    def outcome(reader: Reader) -> object:
        if reader.name not in found:
            found[reader.name] = reader.outcome(reader.content, tmp_path_factory.mktemp("unchanged"))
        return found[reader.name]

    return outcome


@pytest.mark.parametrize("reader", READERS, ids=names)
def test_the_same_input_has_the_same_outcome(
    reader: Reader, unchanged: Callable[[Reader], object], tmp_path: Path
) -> None:
    """Otherwise any addition would seem to have an effect."""
    assert reader.outcome(reader.content, tmp_path) == unchanged(reader)


@pytest.mark.parametrize("reader", READERS, ids=names)
def test_an_addition_changes_the_result_or_is_told(
    reader: Reader, unchanged: Callable[[Reader], object], tmp_path: Path
) -> None:
    """A member, an attribute, a column of each kind, in each place: none is passed over."""
    before = unchanged(reader)
    labelled = [(label, content) for additions in reader.additions for label, content in additions(reader.content)]
    assert labelled
    passed_over = [
        label
        for number, (label, content) in enumerate(labelled)
        if reader.outcome(content, tmp_path / str(number)) == before and not label.startswith(tuple(reader.without))
    ]
    assert passed_over == []


@pytest.mark.parametrize("reader", [reader for reader in READERS if reader.twice], ids=names)
def test_a_member_that_is_given_twice_is_refused_or_told(
    reader: Reader, unchanged: Callable[[Reader], object], tmp_path: Path
) -> None:
    """Readers that take the last or the first one silently lose the other."""
    before = unchanged(reader)
    labelled = [(label, content) for twice in reader.twice for label, content in twice(reader.content)]
    assert labelled
    passed_over = [
        label
        for number, (label, content) in enumerate(labelled)
        if reader.outcome(content, tmp_path / str(number)) == before and not label.startswith(tuple(reader.without))
    ]
    assert passed_over == []
