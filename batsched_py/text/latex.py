"""Escaping of text for LaTeX."""

from __future__ import annotations

import re
from typing import Final

#: Characters with a meaning of their own in LaTeX -> their escapes.
_SPECIAL: Final = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    character: f"\\{character}" for character in "&%$#_{}"
}


def latex(text: str) -> str:
    """Return a text for LaTeX."""
    return re.sub(r"[\\~^&%$#_{}]", lambda found: _SPECIAL[found[0]], text)
