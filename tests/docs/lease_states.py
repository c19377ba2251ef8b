"""Picture of a lease's states, drawn from the table of transitions; `python -m tests.docs.lease_states` writes it."""

from __future__ import annotations

import math
from pathlib import Path

from batsched_py.leases.lifecycle import FINAL, TRANSITIONS, State
from tests.clone import ROOT

PICTURE = ROOT / "docs" / "lease-states.svg"

#: Where a state is drawn: column and row.
PLACES = {
    State.REJECTED: (1, 0),
    State.PREPARING: (4, 0),
    State.NEW: (0, 1),
    State.PENDING: (1, 1),
    State.SCHEDULED: (3, 1),
    State.READY: (5, 1),
    State.ACTIVE: (6, 1),
    State.DONE: (7, 1),
    State.QUEUED: (3, 2),
    State.SUSPENDING: (7, 2),
    State.RESUMED_READY: (3, 3),
    State.SUSPENDED_QUEUED: (5, 3),
    State.SUSPENDED_PENDING: (7, 3),
    State.RESUMING: (3, 4),
    State.SUSPENDED_SCHEDULED: (5, 4),
    State.MIGRATING: (7, 4),
}
#: States to which almost every other may change: these are marks at the others, not arrows.
MARKS = {State.CANCELLED: "C", State.FAIL: "F"}
_WIDTH, _HEIGHT, _COLUMN, _ROW, _MARGIN = 132, 30, 150, 86, 76
_STYLE = (
    "text{font:11.5px sans-serif;text-anchor:middle;fill:#222}.m{font-size:10px;fill:#a33}"
    "rect{fill:#eef;stroke:#446}.f{fill:#ded}path{fill:none;stroke:#446}"
)


def drawing() -> str:
    """The picture, as SVG."""
    lines = [_arrow(state, after) for state in PLACES for after in _drawn(state)]
    lines += [line for state in PLACES for line in _box(state)]
    width, height = 7 * _COLUMN + 2 * _MARGIN, 4 * _ROW + 2 * _MARGIN
    told = ", ".join(f"{mark}: may become {state.label}" for state, mark in MARKS.items())
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
            f"<style>{_STYLE}</style>",
            '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M0 0L8 4L0 8z" style="fill:#446"/></marker></defs>',
            f'<rect width="{width}" height="{height}" style="fill:#fff;stroke:none"/>',
            *lines,
            f'<text class="m" x="{width // 2}" y="{height - 16}">{told}</text>',
            "</svg>",
            "",
        ]
    )


def _drawn(state: State) -> list[State]:
    return sorted(TRANSITIONS[state] - MARKS.keys(), key=lambda after: after.code)


def _centre(state: State) -> tuple[float, float]:
    column, row = PLACES[state]
    return _MARGIN + column * _COLUMN, _MARGIN + row * _ROW


def _box(state: State) -> list[str]:
    x, y = _centre(state)
    kind = ' class="f"' if state in FINAL else ""
    marks = " ".join(mark for other, mark in MARKS.items() if other in TRANSITIONS[state])
    return [
        f'<rect{kind} x="{x - _WIDTH / 2:g}" y="{y - _HEIGHT / 2:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>',
        f'<text x="{x:g}" y="{y + 4:g}">{state.label}</text>',
        *(
            [f'<text class="m" x="{x + _WIDTH / 2 - 14:g}" y="{y + _HEIGHT / 2 + 11:g}">{marks}</text>']
            if marks
            else []
        ),
    ]


def _arrow(state: State, after: State) -> str:
    """A curve to the left of its direction, so that there and back are two; the longer, the more it is bent."""
    (x, y), (to_x, to_y) = _centre(state), _centre(after)
    length = math.hypot(to_x - x, to_y - y)
    bend = 14 + length / 14
    middle = (x + to_x) / 2 + (to_y - y) / length * bend, (y + to_y) / 2 - (to_x - x) / length * bend
    (x, y), (to_x, to_y) = _edge((x, y), middle), _edge((to_x, to_y), middle)
    name = f"{state.label} to {after.label}"
    curve = f"M{x:.1f} {y:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {to_x:.1f} {to_y:.1f}"
    return f'<path d="{curve}" marker-end="url(#a)"><title>{name}</title></path>'


def _edge(centre: tuple[float, float], towards: tuple[float, float]) -> tuple[float, float]:
    """Where a line from the centre of a box leaves it."""
    across, down = towards[0] - centre[0], towards[1] - centre[1]
    share = min(_WIDTH / 2 / abs(across) if across else math.inf, _HEIGHT / 2 / abs(down) if down else math.inf)
    return centre[0] + across * share, centre[1] + down * share


def write(path: Path = PICTURE) -> None:
    """Draw it anew."""
    path.write_text(drawing())


if __name__ == "__main__":
    write()
