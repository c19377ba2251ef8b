"""The options of the algorithms of a comparison's page: those that were set, those that differ, and all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

from batsched_py.campaigns.study import Study
from batsched_py.campaigns.variant import Variant
from batsched_py.reporting.pictures.html import markup
from batsched_py.text.display import displayed
from batsched_py.text.wording import NOTHING, spelled

#: The largest number of characters of the options that were set of an algorithm.
_MOST_SET: Final = 1000


def variant_list(study: Study) -> str:
    """Return a list of the algorithms, each with the options that were set."""
    items = "".join(
        f"<div><dt>{escape(displayed(variant.name))}</dt><dd>{escape(_described(variant))}</dd></div>"
        for variant in study.variants
    )
    return f'<dl class="variants">{items}</dl>'


def _described(variant: Variant) -> str:
    """Return the algorithm and its options as after -s and -o."""
    name = variant.scheduler.name
    if not variant.options:
        return f"{displayed(name)} with its default options"
    options = ", ".join(f"{key}={spelled(value)}" for key, value in variant.options.items())
    return f"{displayed(name)} with {displayed(options, _MOST_SET)}"


def option_tables(study: Study) -> Iterator[str]:
    """Yield a table of the options in which the algorithms differ, and one of all others, defaults included.

    Algorithms that do not have an option do not differ in it.
    """
    options = {variant.name: _options(study, variant.name) for variant in study.variants}
    names = dict.fromkeys(name for one in options.values() for name in one)
    alike = [name for name in names if len({repr(one[name]) for one in options.values() if name in one}) == 1]
    differing = [name for name in names if name not in alike]
    heads = ["option", *(displayed(variant.name) for variant in study.variants)]
    algorithms = [["algorithm", *(escape(displayed(variant.scheduler.name)) for variant in study.variants)]]
    if len(study.variants) == 1:
        yield _table("The algorithm with all its options", heads, [*algorithms, *_rows(options, names)])
        return
    yield _table("Options in which the algorithms differ", heads, [*algorithms, *_rows(options, differing)])
    if alike:
        rest = _table("Options that are equal for all algorithms that have them", heads, _rows(options, alike))
        yield f"<details><summary>Equal options ({len(alike)})</summary>{rest}</details>"


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markup.plain_table(caption, heads, rows, "described")


def _rows(options: Mapping[str, Mapping[str, Any]], names: Mapping[str, None] | Sequence[str]) -> list[list[str]]:
    return [[escape(displayed(name)), *(_cell(one, name) for one in options.values())] for name in names]


def _cell(options: Mapping[str, Any], name: str) -> str:
    """Return the value of an option; a dash if the algorithm does not have it."""
    if name not in options:
        return NOTHING
    return markup.words(displayed(spelled(options[name])) or '""')


def _options(study: Study, variant: str) -> Mapping[str, Any]:
    """Return the options of a variant as they held, defaults included."""
    return next((outcome.options for outcome in study.of(variant) if outcome.options), {})
