"""Options of batsched in the words of `serve`: each means the same, or is refused by its name."""

from __future__ import annotations

from itertools import pairwise

import pytest

from batsched_py.cli.shared.batsched_words import VARIANTS, serve_words
from batsched_py.errors import OptionError

#: Variants that take options of their own.
REFUSED = {name for name in VARIANTS if name.startswith(("energy_bf", "easy_bf_plot", "sleeper", "submitter"))}


def options(*words: str) -> list[str]:
    """Return the values of -o."""
    said = serve_words(words)
    return [value for word, value in pairwise(said) if word == "-o"]


def test_defaults_are_those_of_batsched() -> None:
    """But for the address, which only this machine reaches."""
    assert serve_words([]) == [
        "serve",
        "-s",
        "filler",
        "-b",
        "tcp://127.0.0.1:28000",
        "-o",
        "order=fcfs",
        "-o",
        "ties=id",
    ]


def test_what_wrench_says() -> None:
    """Values are separate words, or joined by an equals sign."""
    words = "-v conservative_bf -o lcfs -s tcp://*:33309 --rjms_delay 2.5 --verbosity=silent --policy=contiguous"
    said = serve_words(words.split())
    assert said[:5] == ["serve", "-s", "conservative", "-b", "tcp://*:33309"]
    assert said[-1] == "--quiet"
    assert options(*words.split()) == [
        "reserve=hosts", "promises=in_turn", "order=lcfs", "ties=id", "slack=2.5", "selection=contiguous",
    ]  # fmt: skip


def test_orders_by_slowdown_are_by_arrival() -> None:
    """batsched serves so, whatever their names say."""
    assert options("-v", "easy_bf", "-o", "desc_slowdown") == options("-v", "easy_bf")


def test_only_variants_with_an_order_take_it() -> None:
    """WRENCH passes one to all."""
    assert options("-v", "fcfs_fast", "-o", "asc_size", "-p", "contiguous") == []
    assert options("-v", "easy_bf_fast", "-o", "asc_size") == ["promise=first", "slack=5"]


def test_options_without_effect_are_noted() -> None:
    """Not the defaults, which WRENCH passes to all, and nothing if only warnings are wanted."""
    notes: list[str] = []
    words = ["-v", "fcfs_fast", "-o", "asc_size", "-p", "contiguous"]
    serve_words(words, notes.append)
    assert notes == [
        "--queue_order: asc_size has no effect on fcfs_fast, as in batsched",
        "--policy: contiguous has no effect on fcfs_fast, as in batsched",
    ]
    for more in (["--verbosity=silent"], ["--verbosity=quiet"]):
        serve_words([*words, *more], notes.append)
    serve_words(["-v", "fcfs", "-o", "fcfs", "-p", "basic"], notes.append)
    serve_words(["-v", "filler", "-o", "asc_size", "-p", "contiguous"], notes.append)
    assert len(notes) == 2


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant_is_served_or_refused(variant: str) -> None:
    """A refusal names the nearest algorithm."""
    if variant in REFUSED:
        with pytest.raises(OptionError, match=f"--variant: {variant} is not offered .* serve -s "):
            serve_words(["-v", variant])
    else:
        assert serve_words(["-v", variant])[0] == "serve"


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("-v fast_conservative_bf", "--variant: must be one of .*; did you mean conservative_bf?"),
        ("-o random", "--queue_order: must be one of fcfs, lcfs"),
        ("-p best", "--policy: must be one of basic, contiguous, not 'best'"),
        ("-d 5s", "--rjms_delay: must be a number of seconds from 0, not '5s'"),
        ("-d -1", "--rjms_delay: must be a number of seconds from 0, not '-1'"),
        ("-d nan", "--rjms_delay: must be"),
        ("--verbosity loud", "--verbosity: must be one of debug"),
        ('--variant_options {"a":1}', "--variant_options: is not supported"),
        ("--variant_options_filepath x.json", "--variant_options_filepath: is not supported"),
        ("--call_make_decisions_on_single_nop false", "--call_make_decisions_on_single_nop: is not supported"),
        ("--nonsense 1", "option --nonsense not recognized"),
        ("-v", "option -v requires argument"),
        ("easy_bf", "takes no argument 'easy_bf'"),
        ("-v easy_bf --variant filler", "--variant: is given twice"),
    ],
)
def test_others_are_refused(words: str, rule: str) -> None:
    """By the name of the option."""
    with pytest.raises(OptionError, match=rule.replace("?", r"\?").replace("{", r"\{")):
        serve_words(words.split())
