"""Picture of states and of which may follow which, as SVG, drawn from a table of transitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

State = TypeVar("State")
_WIDTH, _HEIGHT, _COLUMN, _ROW, _MARGIN = 132, 30, 150, 86, 76
_STYLE = (
    "text{font:11.5px sans-serif;text-anchor:middle;fill:#222}.m{font-size:10px;fill:#a33}"
    "rect{fill:#eef;stroke:#446}.f{fill:#ded}path{fill:none;stroke:#446}"
)

_HEAD_OF_ARROWS = (
    '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0 0L8 4L0 8z" style="fill:#446"/></marker></defs>'
)


@dataclass(frozen=True)
class StatePicture(Generic[State]):
    """The states and transitions of a picture, and their places.

    Attributes:
        transitions: state -> those that may follow it.
        places: state -> the column and row at which it is drawn, in the order of drawing.
        label: a state as text.
        order: the order of arrows from one state.
        final: states that nothing follows.
        marks: states to which almost every other may change: these are marks at the others, not arrows.
    """

    transitions: Mapping[State, Collection[State]]
    places: Mapping[State, tuple[int, int]]
    label: Callable[[State], str]
    order: Callable[[State], int]
    final: Collection[State]
    marks: Mapping[State, str] = field(default_factory=dict)

    def draw(self) -> str:
        """Return the picture."""
        lines = [self._arrow(state, after) for state in self.places for after in self._followers(state)]
        lines += [line for state in self.places for line in self._box(state)]
        columns, rows = (max(place[axis] for place in self.places.values()) for axis in (0, 1))
        width, height = columns * _COLUMN + 2 * _MARGIN, rows * _ROW + 2 * _MARGIN
        told = ", ".join(f"{mark}: may become {self.label(state)}" for state, mark in self.marks.items())
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
                f"<style>{_STYLE}</style>",
                _HEAD_OF_ARROWS,
                f'<rect width="{width}" height="{height}" style="fill:#fff;stroke:none"/>',
                *lines,
                *([f'<text class="m" x="{width // 2}" y="{height - 16}">{told}</text>'] if told else []),
                "</svg>",
                "",
            ]
        )

    def _followers(self, state: State) -> list[State]:
        return sorted((after for after in self.transitions[state] if after not in self.marks), key=self.order)

    def _centre(self, state: State) -> tuple[float, float]:
        column, row = self.places[state]
        return _MARGIN + column * _COLUMN, _MARGIN + row * _ROW

    def _box(self, state: State) -> list[str]:
        x, y = self._centre(state)
        kind = ' class="f"' if state in self.final else ""
        marks = " ".join(mark for other, mark in self.marks.items() if other in self.transitions[state])
        mark_x, mark_y = x + _WIDTH / 2 - 14, y + _HEIGHT / 2 + 11
        return [
            f'<rect{kind} x="{x - _WIDTH / 2:g}" y="{y - _HEIGHT / 2:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>',
            f'<text x="{x:g}" y="{y + 4:g}">{self.label(state)}</text>',
            *([f'<text class="m" x="{mark_x:g}" y="{mark_y:g}">{marks}</text>'] if marks else []),
        ]

    def _arrow(self, state: State, after: State) -> str:
        """Return a curve to the left of its direction, so that there and back are two; the longer, the more bent."""
        (x, y), (to_x, to_y) = self._centre(state), self._centre(after)
        length = math.hypot(to_x - x, to_y - y)
        bend = 14 + length / 14
        middle = (x + to_x) / 2 + (to_y - y) / length * bend, (y + to_y) / 2 - (to_x - x) / length * bend
        (x, y), (to_x, to_y) = _edge((x, y), middle), _edge((to_x, to_y), middle)
        name = f"{self.label(state)} to {self.label(after)}"
        curve = f"M{x:.1f} {y:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {to_x:.1f} {to_y:.1f}"
        return f'<path d="{curve}" marker-end="url(#a)"><title>{name}</title></path>'


def _edge(centre: tuple[float, float], towards: tuple[float, float]) -> tuple[float, float]:
    """Return where a line from the centre of a box leaves it."""
    across, down = towards[0] - centre[0], towards[1] - centre[1]
    share = min(_WIDTH / 2 / abs(across) if across else math.inf, _HEIGHT / 2 / abs(down) if down else math.inf)
    return centre[0] + across * share, centre[1] + down * share
