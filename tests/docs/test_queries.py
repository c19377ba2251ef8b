"""The page of queries: the picture of the grammar is that of the parser."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from batsched_py.queries.parser import GRAMMAR
from tests.docs.mil_grammar import LABELS, PICTURE, TAKEN, drawing, rules, terminals


def test_the_picture_of_the_grammar_is_drawn_from_it() -> None:
    """`python -m tests.docs.mil_grammar` draws it anew after a change."""
    assert PICTURE.read_text() == drawing()
    ElementTree.fromstring(drawing())


def test_each_word_of_the_picture_is_one_of_its_terminal() -> None:
    """As the parser reads it; signs are all there, but for those that a rule does not take."""
    patterns = terminals()
    assert patterns.keys() == LABELS.keys()
    for name, words in LABELS.items():
        for word in words:
            example = "min" if name == "NAME" else word
            assert re.fullmatch(patterns[name], example, re.DOTALL | re.VERBOSE if name == "NUMBER" else re.DOTALL)
    assert all(set(taken) < set(LABELS[terminal]) for (_, terminal), taken in TAKEN.items())


def test_each_rule_is_drawn() -> None:
    """Under its name, in the order of the grammar."""
    names = re.findall(r"^\?([a-z]+):", GRAMMAR, re.MULTILINE)
    assert ["start", *rules()] == names
    assert re.findall(r'class="n"[^>]*>(\w+)<', drawing()) == names[1:]
