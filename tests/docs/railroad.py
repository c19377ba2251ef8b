"""Railroad diagrams: a rule of a grammar as lines through its parts, as SVG."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: Pixels: height of a box and of the room for a line above or below, radius of bends, width of a letter.
_BOX, _TRACK, _BEND, _LETTER = 24, 12, 8, 7
#: Pixels between parts of a sequence, around the picture, and between rules.
_GAP, _MARGIN, _BETWEEN = 14, 16, 26
_STYLE = (
    "text{font:11.5px sans-serif;text-anchor:middle;fill:#222}.n{text-anchor:start;font-weight:bold}"
    "rect{fill:#eef;stroke:#446}.t{fill:#ded}path{fill:none;stroke:#446}"
)


class Part(ABC):
    """A part of a rule: the line enters it on the left, and leaves it on the right at the same height."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Pixels from its left end to its right one."""

    @property
    @abstractmethod
    def above(self) -> int:
        """Pixels that it needs above the line."""

    @property
    @abstractmethod
    def below(self) -> int:
        """Pixels that it needs below the line."""

    @abstractmethod
    def draw(self, x: int, y: int) -> list[str]:
        """Return the lines of SVG that draw it from (x, y) on."""


@dataclass(frozen=True)
class Box(Part):
    """A word: one that is written as it stands, or the name of a rule."""

    text: str
    literal: bool

    @property
    def width(self) -> int:
        return len(self.text) * _LETTER + 2 * _BEND

    above = below = property(lambda self: _BOX // 2)

    def draw(self, x: int, y: int) -> list[str]:
        kind, round_ = (' class="t"', _BOX // 2) if self.literal else ("", 2)
        text = self.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return [
            f'<rect{kind} x="{x}" y="{y - _BOX // 2}" width="{self.width}" height="{_BOX}" rx="{round_}"/>',
            f'<text x="{x + self.width / 2:g}" y="{y + 4}">{text}</text>',
        ]


@dataclass(frozen=True)
class Row(Part):
    """Parts one after the other."""

    parts: Sequence[Part]

    @property
    def width(self) -> int:
        return sum(part.width for part in self.parts) + _GAP * (len(self.parts) - 1)

    @property
    def above(self) -> int:
        return max(part.above for part in self.parts)

    @property
    def below(self) -> int:
        return max(part.below for part in self.parts)

    def draw(self, x: int, y: int) -> list[str]:
        lines = []
        for number, part in enumerate(self.parts):
            if number:
                lines.append(_path(f"M{x} {y}h{_GAP}"))
                x += _GAP
            lines += part.draw(x, y)
            x += part.width
        return lines


@dataclass(frozen=True)
class Choice(Part):
    """One of several parts, the first on the line, the others below."""

    parts: Sequence[Part]

    @property
    def width(self) -> int:
        return max(part.width for part in self.parts) + 4 * _BEND

    @property
    def above(self) -> int:
        return self.parts[0].above

    @property
    def below(self) -> int:
        return self._heights()[-1] + self.parts[-1].below

    def draw(self, x: int, y: int) -> list[str]:
        lines, end = [], x + self.width
        for part, height in zip(self.parts, self._heights(), strict=True):
            left, at = x + 2 * _BEND, y + height
            lines += [*_descent(x, y, height), *part.draw(left, at)]
            lines.append(_path(f"M{left + part.width} {at}H{end - 2 * _BEND}"))
            lines += _ascent(end, y, height)
        return lines

    def _heights(self) -> list[int]:
        """Return how far below the line each part is drawn."""
        heights = [0]
        for before, part in zip(self.parts, self.parts[1:], strict=False):
            heights.append(heights[-1] + before.below + part.above + _TRACK)
        return heights


@dataclass(frozen=True)
class Skip(Part):
    """A part that may be left out: a line passes above it."""

    part: Part

    @property
    def width(self) -> int:
        return self.part.width + 4 * _BEND

    @property
    def above(self) -> int:
        return self.part.above + _TRACK

    @property
    def below(self) -> int:
        return self.part.below

    def draw(self, x: int, y: int) -> list[str]:
        end, up, inside = x + self.width, -self.above, x + 2 * _BEND
        lines = [_path(f"M{x} {y}H{inside}"), *self.part.draw(inside, y)]
        lines.append(_path(f"M{inside + self.part.width} {y}H{end}"))
        return [*lines, *_descent(x, y, up), _path(f"M{inside} {y + up}H{end - 2 * _BEND}"), *_ascent(end, y, up)]


@dataclass(frozen=True)
class Loop(Part):
    """A part that may come again, behind a separator that is drawn below it."""

    part: Part
    separator: Part

    @property
    def width(self) -> int:
        return max(self.part.width, self.separator.width) + 4 * _BEND

    @property
    def above(self) -> int:
        return self.part.above

    @property
    def below(self) -> int:
        return self._depth + self.separator.below

    @property
    def _depth(self) -> int:
        return self.part.below + _TRACK + self.separator.above

    def draw(self, x: int, y: int) -> list[str]:
        end, low = x + self.width, y + self._depth
        left, right = x + 2 * _BEND, end - 2 * _BEND
        lines = [_path(f"M{x} {y}H{left}"), *self.part.draw(left, y), _path(f"M{left + self.part.width} {y}H{end}")]
        back = f"q{_BEND} 0 {_BEND} {_BEND}V{low - _BEND}q0 {_BEND} {-_BEND} {_BEND}"
        lines.append(_path(f"M{right} {y}{back}H{left + self.separator.width}"))
        lines += self.separator.draw(left, low)
        return [*lines, _path(f"M{left} {low}q{-_BEND} 0 {-_BEND} {-_BEND}V{y + _BEND}q0 {-_BEND} {_BEND} {-_BEND}")]


def draw_rules(rules: Mapping[str, Part]) -> str:
    """Return the picture of rules, one below the other, each below its name."""
    lines, y = [], _MARGIN
    width = 2 * _MARGIN + 4 * _BEND + max(rule.width for rule in rules.values())
    for name, rule in rules.items():
        lines.append(f'<text class="n" x="{_MARGIN}" y="{y + 10}">{name}</text>')
        y += _MARGIN + rule.above
        begin, end = _MARGIN + 2 * _BEND, _MARGIN + 2 * _BEND + rule.width
        lines += [_path(f"M{_MARGIN} {y}H{begin}"), *rule.draw(begin, y), _path(f"M{end} {y}h{2 * _BEND}")]
        lines += [_path(f"M{at} {y - 5}v10") for at in (_MARGIN, end + 2 * _BEND)]
        y += rule.below + _BETWEEN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}">',
            f"<style>{_STYLE}</style>",
            f'<rect width="{width}" height="{y}" style="fill:#fff;stroke:none"/>',
            *lines,
            "</svg>",
            "",
        ]
    )


def _descent(x: int, y: int, height: int) -> list[str]:
    """Return the line from a fork to a track at another height."""
    if not height:
        return [_path(f"M{x} {y}h{2 * _BEND}")]
    bend = _BEND if height > 0 else -_BEND
    return [_path(f"M{x} {y}q{_BEND} 0 {_BEND} {bend}V{y + height - bend}q0 {bend} {_BEND} {bend}")]


def _ascent(end: int, y: int, height: int) -> list[str]:
    """Return the line from a track at another height to the join at `end`."""
    if not height:
        return [_path(f"M{end - 2 * _BEND} {y}h{2 * _BEND}")]
    bend = _BEND if height > 0 else -_BEND
    return [_path(f"M{end - 2 * _BEND} {y + height}q{_BEND} 0 {_BEND} {-bend}V{y + bend}q0 {-bend} {_BEND} {-bend}")]


def _path(data: str) -> str:
    return f'<path d="{data}"/>'
