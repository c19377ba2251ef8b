"""Typed options: reading, refusing, describing."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from batsched_py.errors import OptionError
from batsched_py.named import Named
from batsched_py.plugins import load
from batsched_py.schedulers import BUILT_INS
from batsched_py.scheduling.options import (
    NoOptions,
    OptionInfo,
    describe_options,
    named,
    option,
)
from batsched_py.session.option_values import Origin, parse_options, read_values


@dataclass(frozen=True, slots=True)
class Taste:
    """A thing with a name."""

    name: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One option of each type."""

    order: Literal["fcfs", "sjf"] = option("fcfs", "who comes first")
    depth: int = option(1, "how many promises", minimum=1)
    factor: float = option(1.5, "how much slack", minimum=0, maximum=4.5)
    greedy: bool = option(False, "take all")
    limit: int | None = option(None, "at most so many", minimum=0)
    label: str = option("x", "a text")


def parse(**given: Any) -> Sample:
    return parse_options(Sample, given, "sample")


def test_defaults_hold_where_nothing_is_given() -> None:
    """No option, all defaults."""
    assert parse() == Sample()


def test_text_is_converted_to_the_type() -> None:
    """The command line gives text."""
    got = parse(order="sjf", depth="3", factor="2", greedy="yes", limit="none", label="7")
    assert got == Sample("sjf", 3, 2.0, True, None, "7")


def test_json_values_are_taken_as_they_are() -> None:
    """A file or Batsim's sched-config gives typed values; an integer is a number."""
    assert parse(depth=3, factor=2, greedy=True, limit=4) == Sample("fcfs", 3, 2.0, True, 4)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"orders": "sjf"}, "option orders: sample has no such option; did you mean order? It has: order, depth,"),
        ({"tea": "sjf"}, "option tea: sample has no such option; it has: order, depth, factor, greedy, limit"),
        ({"order": "sfj"}, "option order of sample: must be fcfs | sjf, not 'sfj'; did you mean sjf?"),
        ({"order": "lifo"}, "option order of sample: must be fcfs | sjf, not 'lifo'"),
        ({"depth": "two"}, "option depth of sample: must be a whole number, not 'two'"),
        ({"depth": 1.5}, "must be a whole number, not 1.5"),
        ({"depth": True}, "must be a whole number, not True"),
        ({"depth": 0}, "must be at least 1, not 0"),
        ({"factor": "nan"}, "must be a number, not 'nan'"),
        ({"depth": "9" * 400}, "must be a whole number, not '999"),
        ({"factor": -1}, "must be at least 0"),
        ({"factor": "4.6"}, "option factor of sample: must be at most 4.5, not 4.6"),
        ({"greedy": "maybe"}, "must be true or false, not 'maybe'"),
        ({"greedy": 1}, "must be true or false, not 1"),
        ({"limit": "-1"}, "must be at least 0"),
        ({"label": 7}, "must be a text, not 7"),
    ],
)
def test_a_wrong_option_is_named_with_its_rule(given: dict[str, Any], words: str) -> None:
    """Unknown names, wrong types and values out of range are one line."""
    with pytest.raises(OptionError) as caught:
        parse(**given)
    assert words in str(caught.value)


@dataclass(frozen=True, slots=True)
class Ruled:
    """Options with a rule of their own."""

    low: int = option(1, "the smaller")
    high: int = option(2, "the larger")

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low must not be above high")


def test_rules_of_an_options_class_are_option_errors() -> None:
    """Errors of __post_init__ are reported like any wrong option."""
    with pytest.raises(OptionError, match="options of ruled: low must not be above high"):
        parse_options(Ruled, {"low": 3}, "ruled")


def test_options_describe_themselves() -> None:
    """`batsched-py describe` shows these lines."""
    assert describe_options(Sample)[:2] == (
        OptionInfo("order", "fcfs | sjf", "fcfs", "who comes first"),
        OptionInfo("depth", "whole number", "1", "how many promises"),
    )
    assert describe_options(NoOptions) == ()


TASTES: Named[Taste] = Named(
    "taste", {"sweet": Taste("sweet"), "sour": Taste("sour")}, ("x",), lambda name, _: Taste(name)
)


@dataclass(frozen=True, slots=True)
class Choosy:
    """An option that is chosen by name."""

    taste: Taste = named("sweet", "of what", TASTES)


def test_the_default_of_a_named_option_is_its_name() -> None:
    """Functions and classes, too, are shown by name, never by their place in memory."""
    defaults = {option.name: option.default for option in describe_options(load("placer").options_type)}
    assert (defaults["place"], defaults["policy"]) == ("best", "none")
    for name in BUILT_INS:
        assert not [option for option in describe_options(load(name).options_type) if " at 0x" in option.default]


def test_a_named_option_is_the_thing_of_that_name() -> None:
    """The options object has the thing, not its name; a user's function is adopted."""
    assert Choosy().taste is TASTES["sweet"]
    assert parse_options(Choosy, {"taste": "sour"}, "choosy").taste is TASTES["sour"]
    assert parse_options(Choosy, {"taste": "math:sqrt"}, "choosy").taste == Taste("math:sqrt")


def test_a_named_option_is_described_by_its_names() -> None:
    """Names, the default's name, and the way to bring one's own."""
    expected = OptionInfo("taste", "sweet | sour | module:function", "sweet", "of what", "taste")
    assert describe_options(Choosy) == (expected,)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("sour?", "option taste of choosy: must be sweet | sour | module:function, not 'sour?'; did you mean sour?"),
        ("salty", "option taste of choosy: must be sweet | sour | module:function, not 'salty'"),
        (7, "option taste of choosy: must be sweet | sour | module:function, not 7"),
        ("math:nothing", "option taste of choosy: taste math:nothing: math has no nothing"),
        ("no.module:x", "option taste of choosy: taste module no.module: ModuleNotFoundError"),
    ],
)
def test_a_named_option_that_is_not_there_is_one_line(value: Any, words: str) -> None:
    """As with all other options."""
    with pytest.raises(OptionError) as caught:
        parse_options(Choosy, {"taste": value}, "choosy")
    assert words in str(caught.value)


def given_by_peer(options_type: type[Any], **given: Any) -> dict[str, Any]:
    return read_values(options_type, given, "sample", Origin.PEER)


@dataclass(frozen=True, slots=True)
class Wordy:
    """Texts, of which a peer may set one."""

    plain: str = option("", "a text")
    words: str = option("", "words", peer_text=r"[a-z]+(,[a-z]+)*")
    bare: str = ""
    maybe: str | None = None
    path: Path = Path()


def test_a_peer_chooses_among_built_in_things() -> None:
    """The same values as the user's."""
    assert given_by_peer(Choosy, taste="sour") == {"taste": TASTES["sour"]}
    values = given_by_peer(Sample, order="sjf", depth=3, factor="2", greedy=True, limit=None)
    assert values == {"order": "sjf", "depth": 3, "factor": 2.0, "greedy": True, "limit": None}
    assert given_by_peer(Wordy, words="rack,room") == {"words": "rack,room"}
    assert given_by_peer(Wordy, words="") == {"words": ""}


@pytest.mark.parametrize("value", ["math:sqrt", "mine.py:f", "no.module:x"])
def test_a_peer_names_no_function(value: str) -> None:
    """The message does not say that it could."""
    with pytest.raises(OptionError) as caught:
        given_by_peer(Choosy, taste=value)
    assert str(caught.value) == f"option taste of sample: must be sweet | sour, not '{value}'"


@pytest.mark.parametrize("name", ["plain", "bare", "maybe", "path"])
def test_a_peer_sets_no_text_that_is_not_declared_harmless(name: str) -> None:
    """Nor any other type than numbers, truth values and choices: whoever writes an algorithm says which."""
    with pytest.raises(OptionError, match="is set by the user alone"):
        given_by_peer(Wordy, **{name: "x"})


@pytest.mark.parametrize("value", ["../x", "/etc/passwd", "a,b\n", "a:b", "a,", "x" * 201])
def test_a_text_of_a_peer_is_of_the_declared_form(value: str) -> None:
    """As a whole, and of bounded length."""
    with pytest.raises(OptionError) as caught:
        given_by_peer(Wordy, words=value)
    assert len(str(caught.value)) < 200


#: The options that are texts and that a peer may set nevertheless, and why that is harmless.
HARMLESS_TEXTS = {
    "zone": "compared with names of host properties",
    "user": "compared with names of members of jobs",
    "speeds": "numbers",
    "allowed_users": "compared with names of members of jobs",
    "allowed_hours": "two numbers",
    "inertia": "a letter and a number",
    "date": "digits and signs of a date",
    "topology": "a name and numbers, which must make as many hosts as the platform has",
}


def test_what_a_peer_may_set_is_known() -> None:
    """It is numbers, truth values, names of built-in things, and the texts above; no documents, in any algorithm."""
    texts = set()
    for name in BUILT_INS:
        options_type = load(name).options_type
        hints = get_type_hints(options_type)
        for field in dataclasses.fields(options_type):
            kind = hints[field.name]
            pieces = get_args(kind) if get_origin(kind) in (UnionType, Union) else (kind,)
            if field.metadata.get("things") is not None:
                assert isinstance(field.metadata["things"], Named)
            elif "parse" in field.metadata:
                with pytest.raises(OptionError, match="is set by the user alone"):
                    read_values(options_type, {field.name: "some.json"}, name, Origin.PEER)
            elif str in pieces:
                texts.add(field.name)
                assert field.metadata["peer_text"]
            else:
                assert all(piece in (bool, int, float, NoneType) or get_origin(piece) is Literal for piece in pieces)
    assert texts == HARMLESS_TEXTS.keys()
