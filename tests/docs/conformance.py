"""Pages of docs/conformance: a row for each requirement of a source document, and how many of them are met.

`python -m tests.docs.conformance` writes the table of numbers in docs/conformance/README.md anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.clone import ROOT, below

FOLDER: Final = ROOT / "docs" / "conformance"
INDEX: Final = FOLDER / "README.md"

#: Page -> the letters before the numbers of its requirements, and of its acceptance cases, which have a hyphen.
LETTERS: Final[Mapping[str, tuple[str, str]]] = {
    "batsim": ("BP", "BPA"),  # its cases are in docs/observations.md
    "bonfire": ("M", "MA"),
    "firewheel": ("F", "FA"),
    "haizea": ("H", "HA"),
    "legion": ("L", "LA"),
}

#: How a cell begins that says how a requirement is met, if it is not met altogether.
VERDICTS: Final = ("partly", "not met", "not applicable")

_ROW: Final = re.compile(r"^\| ([A-Z]+)(-?)(\d+) \|.*\|$", re.MULTILINE)
_TEST: Final = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Row:
    """A requirement.

    Attributes:
        code: as in `H34`, or `HA-2` for an acceptance case.
        letters: what its code begins with.
        number: what its code ends in.
        is_case: True for an acceptance case.
        cells: the code, the requirement, how it is met, and the tests.
    """

    code: str
    letters: str
    number: int
    is_case: bool
    cells: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """One of VERDICTS, or `met`."""
        return next((verdict for verdict in VERDICTS if self.cells[2].startswith(f"{verdict}: ")), "met")

    @property
    def tests(self) -> list[str]:
        """Its tests, as path::name."""
        return _TEST.findall(self.cells[-1])


def pages() -> list[Path]:
    """The pages but for their index."""
    return [page for page in below("docs/conformance", "*.md") if page != INDEX]


def rows(page: Path) -> list[Row]:
    """The rows of a page, from top to bottom."""
    return [
        Row(
            code=f"{match[1]}{match[2]}{match[3]}",
            letters=match[1],
            number=int(match[3]),
            is_case=match[2] == "-",
            cells=tuple(re.split(r"(?<!\\) \| ", match[0].removeprefix("| ").removesuffix("|").strip() + " ")),
        )
        for match in _ROW.finditer(page.read_text())
    ]


def cited(page: str) -> re.Pattern[str]:
    """A code of this page as comments, docstrings and names of cases cite it: `(H34, H35)`, `HA-27`, `HA-26c: ...`."""
    requirement, case = LETTERS[page]
    return re.compile(rf"(?<![\w.+'-])({requirement}[1-9]\d{{0,2}}(?![\w.(]|\s*=)|{case}-\d+)")


def numbers() -> str:
    """The table of the index: how many requirements and cases of each page are met."""
    lines = ["| document | rows | number | met | partly | not met | not applicable |", "|---|---|---|---|---|---|---|"]
    for page in pages():
        title = page.read_text().partition("\n")[0].removeprefix("# ")
        for kind, is_case in (("requirements", False), ("acceptance cases", True)):
            verdicts = [row.verdict for row in rows(page) if row.is_case is is_case]
            if verdicts:
                counts = [str(verdicts.count(verdict)) for verdict in ("met", *VERDICTS)]
                cells = [f"[{title}]({page.name})", kind, str(len(verdicts)), *counts]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Put the table of numbers into the index."""
    before, rest = INDEX.read_text().split("| document |", 1)
    _, blank, after = rest.partition("\n\n")
    INDEX.write_text(before + numbers().removesuffix("\n") + blank + after)


if __name__ == "__main__":
    main()
