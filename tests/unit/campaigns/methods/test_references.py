"""The sources of what is built in: each has an entry, and each entry is cited for something that is there."""

from __future__ import annotations

import re

from batsched_py.campaigns.methods.definitions import DEFINITIONS
from batsched_py.campaigns.methods.references import bibliography, keys_for, references
from batsched_py.campaigns.metrics import METRICS
from batsched_py.plugins import load_class
from batsched_py.schedulers import BUILT_INS, FOR_TESTS

#: Algorithms of other programs that no paper describes.
_PROGRAMS = {"filler", "random", "sequencer", "sleeper"}


def test_every_algorithm_has_a_source() -> None:
    """An entry, or a program that its class names."""
    for name in set(BUILT_INS) - FOR_TESTS:
        assert bool(keys_for(f"algorithm:{name}")) != (name in _PROGRAMS), name
        assert load_class(name).source


def test_entries_are_those_that_classes_name() -> None:
    """By the year, and by the name of an author where the class names one."""
    for name in BUILT_INS:
        for one in references():
            if f"algorithm:{name}" in one.purposes and name not in ("experiments", "timelines", "slurm"):
                found = re.search(r"year = \{(\d{4})\}", one.entry)
                assert found is not None
                year, source = found[1], load_class(name).source
                assert year in source or f"'{year[2:]}" in source, (name, one.key)


def test_entries_are_cited_for_what_exists() -> None:
    """Once each, with a key that begins with the first author's name."""
    others = {
        "software",
        "batsim",
        "intervals",
        "effect",
        "signed-rank",
        "holm",
        "precision",
        "warm-up",
        "model:lublin",
    }
    known = {f"algorithm:{name}" for name in BUILT_INS} | {f"metric:{name}" for name in METRICS} | others
    assert len({one.key for one in references()}) == len(references()) > 20
    for one in references():
        assert one.purposes
        assert set(one.purposes) <= known, one.key
        assert "keywords" not in one.entry
        assert one.entry.count("{") == one.entry.count("}")


def test_a_bibliography_has_the_cited_entries() -> None:
    text = bibliography(["holm1979", "efron1979"])
    assert re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE) == ["efron1979", "holm1979"]
    assert bibliography([]) == ""


def test_every_metric_has_a_definition() -> None:
    """As a clause, which is no sentence."""
    assert list(DEFINITIONS) == list(METRICS)
    assert not [text for text in DEFINITIONS.values() if text.endswith(".")]
