"""The panels of a comparison's page: a table for each metric, with the ratios and their intervals drawn in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Final

from batsched_py.campaigns.bootstrap import Estimate
from batsched_py.campaigns.comparison import find_best_algorithms
from batsched_py.campaigns.comparison_table import metric_headings, metric_rows
from batsched_py.campaigns.series import SeriesPart, dimensions
from batsched_py.reporting.pictures.html import markup
from batsched_py.text.display import displayed
from batsched_py.text.wording import NOTHING, spelled

#: The ratio of extreme values above which the scale is logarithmic, and the share of the scale left free at both ends.
_WIDE: Final = 4.0
_FREE: Final = 0.03


def metric_panel(parts: Sequence[SeriesPart], place: int) -> str:
    """Return the table of the metric at this place, with a row for each algorithm of each part.

    The values that distinguish the parts are in columns after the algorithm. The ratio and its interval share a cell.
    """
    most = max((part.comparison for part in parts), key=lambda one: one.study.observations)
    metric, names = most.metrics[place].metric, dimensions(parts)
    first, value, against, *headings = metric_headings(most, metric)
    sampled = most.study.observations > 1
    if sampled:
        interval, *headings = headings
        against = f"{against}, {interval}"
    means = [mean for part in parts for mean in part.comparison.metrics[place].means]
    where = _scale([mean.pairs.ratio for mean in means if mean.pairs is not None and mean.pairs.ratio is not None])
    heads = "".join(
        f'<th scope="col"{" class=against" if name is against else ""}>{escape(displayed(name))}</th>'
        for name in ("algorithm", *names, value, against, *headings)
    )
    better = "more is better" if metric.more_is_better else "less is better"
    rows = [row for part in parts for row in _rows(part, place, names, len(headings), where)]
    return markup.table(f"{first}: {better}", f"<tr>{heads}</tr>", rows, "ratios")


def _rows(
    part: SeriesPart, place: int, names: Sequence[str], others: int, where: Callable[[float], float]
) -> Iterator[str]:
    """Yield the rows of a part, filled up with empty cells to `others` cells after the ratio."""
    comparison, one = part.comparison, part.comparison.metrics[place]
    best, width = find_best_algorithms(comparison, one), 2 if comparison.study.observations > 1 else 1
    values = "".join(f"<td>{escape(displayed(spelled(part.values.get(name, NOTHING))))}</td>" for name in names)
    for cells, mean in zip(metric_rows(comparison, one), one.means, strict=True):
        name, value, *texts = (escape(displayed(cell)) for cell in cells)
        ratio, rest = texts[:width], [*texts[width:], *[""] * others][:others]
        drawn = _against(ratio, None if mean.pairs is None else mean.pairs.ratio, where)
        marked = mean.variant in best
        yield (
            f'<tr><th scope="row">{name}</th>{values}'
            f"<td{' class=best' if marked else ''}>{markup.BEST if marked else ''}{value}</td>"
            f"<td class=against>{drawn}</td>{''.join(f'<td>{cell}</td>' for cell in rest)}</tr>"
        )


def _against(texts: Sequence[str], ratio: Estimate | None, place: Callable[[float], float]) -> str:
    """Return the ratio and its interval as text and as a drawing; "" for the baseline."""
    if not texts:
        return ""
    if ratio is None:
        return texts[0] or NOTHING
    text = "".join(f"<span>{part}</span> " for part in texts)
    low, high = (ratio.value if end is None else end for end in (ratio.low, ratio.high))
    left, right = place(low), place(high)
    drawing = (
        f'<span class="ratio-scale" aria-hidden="true"><span class="one" style="left:{place(1.0):.1f}%"></span>'
        f'<span class="ends" style="left:{left:.1f}%;width:{right - left:.1f}%"></span>'
        f'<span class="value" style="left:{place(ratio.value):.1f}%"></span></span>'
    )
    return f'<span class="ratio">{text}{drawing}</span>'


def _scale(ratios: Sequence[Estimate]) -> Callable[[float], float]:
    """Return the place of a ratio in percent of the scale, which shows 1 and all intervals; logarithmic if wide."""
    ends = [1.0]
    for ratio in ratios:
        ends += [end for end in (ratio.value, ratio.low, ratio.high) if end is not None]
    low, high = min(ends), max(ends)
    of = math.log if low > 0 and high / low > _WIDE else float
    begin, length = of(low), of(high) - of(low)

    def place(ratio: float) -> float:
        part = 0.5 if length <= 0 else (of(ratio) - begin) / length
        return 100 * (_FREE + (1 - 2 * _FREE) * part)

    return place
