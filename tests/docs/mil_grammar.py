"""Picture of the language of queries, drawn from its grammar; `python -m tests.docs.mil_grammar` writes it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from batsched_py.queries.parser import GRAMMAR
from tests.clone import ROOT
from tests.docs.railroad import Box, Choice, Loop, Part, Row, Skip, draw_rules

PICTURE: Final = ROOT / "docs" / "mil-grammar.svg"

#: Terminal -> how it is written; of one that is one of several signs, all of them.
LABELS: Final = {
    "_OR": ["or"],
    "_XOR": ["xor"],
    "_AND": ["and"],
    "_NOT": ["not"],
    "TRUE": ["true"],
    "FALSE": ["false"],
    "COMPARISON": ["==", "!=", "<>", "<=", ">=", "<", ">"],
    "SUM": ["+", "-"],
    "PRODUCT": ["*", "/", "mod"],
    "SIGN": ["~"],
    "NUMBER": ["12"],
    "STRING": ['"text"'],
    "ATTRIBUTE": ["$name"],
    "NAME": ["function"],
}
#: Rule and terminal -> what is taken there of its signs.
TAKEN: Final = {("unary", "SUM"): ["-"]}
_RULE: Final = re.compile(r"^\??([a-z]+): (.*(?:\n +\|.*)*)", re.MULTILINE)
_TERMINAL: Final = re.compile(r"^([A-Z_]+)(?:\.\d)?: (?:/((?:.|\n +)*?)/[sx]?|\"(.*)\")$", re.MULTILINE)
_TOKEN: Final = re.compile(r'"[^"]*"|[A-Za-z_]+|[()\[\]|*?]')


def terminals() -> dict[str, str]:
    """Return the regular expressions of terminals, by their names."""
    return {name: pattern or re.escape(text) for name, pattern, text in _TERMINAL.findall(GRAMMAR)}


def rules() -> dict[str, Part]:
    """Return the rules as parts of a picture, the loosest first."""
    found = {name: re.sub(r"-> \w+", "", text) for name, text in _RULE.findall(GRAMMAR)}
    return {name: _Reader(name, _TOKEN.findall(text)).choice() for name, text in found.items() if name != "start"}


class _Reader:
    """Reads the right side of a rule."""

    def __init__(self, rule: str, tokens: list[str]) -> None:
        self._rule, self._tokens = rule, tokens

    def choice(self) -> Part:
        """Read what stands between two |, until the end or a closing bracket."""
        options = [self._row()]
        while self._tokens and self._tokens[0] == "|":
            self._tokens.pop(0)
            options.append(self._row())
        return options[0] if len(options) == 1 else Choice(options)

    def _row(self) -> Part:
        parts: list[Part] = []
        while self._tokens and self._tokens[0] not in ("|", ")", "]"):
            part = self._part()
            sign = self._tokens.pop(0) if self._tokens and self._tokens[0] in ("*", "?") else ""
            if sign == "*":  # x (, x)*
                assert isinstance(part, Row)
                assert part.parts[1] == parts[-1], f"{self._rule}: only x (separator x)* can be drawn"
                parts[-1] = Loop(parts[-1], part.parts[0])
            else:
                parts.append(Skip(part) if sign else part)
        return parts[0] if len(parts) == 1 else Row(parts)

    def _part(self) -> Part:
        token = self._tokens.pop(0)
        if token in ("(", "["):
            inside = self.choice()
            self._tokens.pop(0)
            return Skip(inside) if token == "[" else inside
        if token.startswith('"'):
            return Box(token[1:-1], literal=True)
        if token.islower():
            return Box(token, literal=False)
        signs = TAKEN.get((self._rule, token), LABELS[token])
        return (
            Box(" ".join(signs), literal=True)
            if len(signs) == 1
            else Choice([Box(sign, literal=True) for sign in signs])
        )


def drawing() -> str:
    """Return the picture, as SVG."""
    return draw_rules(rules())


def write(path: Path = PICTURE) -> None:
    """Draw it anew."""
    path.write_text(drawing())


if __name__ == "__main__":
    write()
