"""A linter for the prose of README, docs and messages: words that make sentences hard to read, and what to write.

`python -m tests.docs.prose` prints what it finds, and exits with 1 if it finds anything. It does not read decisions
(docs/adr), which are history, and the API reference, which is made of docstrings.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.clone import ROOT, below, files

DOCS: Final = ROOT / "docs"


@dataclass(frozen=True, slots=True)
class Rule:
    """Words to avoid, as a regular expression in which a blank is any white space, and a proposal."""

    words: str
    instead: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that a line breaks."""

    line: int
    words: str
    instead: str


RULES: Final = (
    # Old-fashioned words.
    Rule(r"for ever", "forever, permanently"),
    Rule(r"beside", "with, next to, in addition to"),
    Rule(r"mends?|mended|mending", "fix, correct"),
    Rule(r"whoever|whosoever", "anyone who, the job that"),
    Rule(r"somebody|nobody|whom", "name the user, the job or the program"),
    Rule(r"as it were|so to speak|of old", "delete it"),
    # Words that name nothing.
    Rule(r"ours|theirs", "name the program: batsched-py, Batsim"),
    Rule(r"that which|those which", "what, the ... that"),
    Rule(r"what is the case|is the case", "say what is so"),
    # Metaphors and literal translations of standard terms.
    Rule(r"told", "reported, shown, in the file"),
    Rule(r"tells? (?:of|what|which|who|whose|how|why|when|where|that|by)", "shows, contains, reports"),
    Rule(r"stands? (?:in|at|below|above|behind|before|beside|with|by|under|next|there|as|among)", "is"),
    Rule(r"l(?:ies|ie|ay|ying) (?:in|on|at|below|above|beside|with|by|under|next|there|behind)", "is"),
    Rule(r"comes? along|came along", "is included, built-in"),
    Rule(r"in the mean(?!time)", "on average"),
    Rule(r"standstill", "deadlock"),
    Rule(r"(?:is|are|be|been) (?:not )?(?:looked at|passed over)", "checked, ignored, skipped"),
    Rule(r"the present time", "the current time"),
    Rule(r"throws? dice|goes? its way|have their say|keeps? house", "say it plainly"),
    # Inverted sentences.
    Rule(
        r"(?-i:Supported|Read|Left out|Refused|Rejected|Counted|Woken|Shown|Kept|Written|Meant|Missing) (?:is|are)",
        "begin with the subject",
    ),
    Rule(
        r"so (?:is|are|does|do|did|has|have|was|were) (?:it|they|a|an|the|those|these|all|each|one)",
        "begin with the subject",
    ),
    Rule(r"not as (?:in|with|for)", "unlike"),
)

_WITH_DOCSTRINGS: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

#: Inline code, targets of links, and HTML: no prose.
_NO_PROSE: Final = re.compile(
    r"(?<!`)(?P<ticks>`+)(?!`)(?s:.+?)(?<!`)(?P=ticks)(?!`)|(?<=\])\([^)\s]*\)|<[^>\n]+>|https?://\S+"
)
_FENCED: Final = re.compile(r"^(`{3,}).*?^\1$", re.DOTALL | re.MULTILINE)
_PATTERN: Final = re.compile(
    "|".join(rf"(?P<rule{number}>\b(?:{rule.words})\b)".replace(" ", r"\s+") for number, rule in enumerate(RULES)),
    re.IGNORECASE,
)


def pages() -> list[Path]:
    """The pages that are read."""
    return sorted(page for page in [*files("README.md"), *below("docs", "*.md")] if not _is_left_out(page))


def modules() -> list[Path]:
    """The modules whose messages are read."""
    return sorted([*below("batsched_py", "*.py"), *below("schedulers", "*.py")])


def findings(text: str) -> Iterator[Finding]:
    """What breaks a rule in the text of a page, from top to bottom."""
    prose = _NO_PROSE.sub(_blanked, _FENCED.sub(_blanked, text))
    for match in _PATTERN.finditer(prose):
        rule = RULES[int(str(match.lastgroup).removeprefix("rule"))]
        yield Finding(prose.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), rule.instead)


def messages(source: str) -> Iterator[Finding]:
    """What breaks a rule in the texts of a module that users may see: its strings of several words, but docstrings."""
    tree = ast.parse(source)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, _WITH_DOCSTRINGS)]
    docstrings = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            for finding in findings(node.value) if " " in node.value else ():
                yield Finding(node.lineno, finding.words, finding.instead)


def main() -> int:
    """Print what is found in all pages and modules, and return an exit code."""
    found = [(page, finding) for page in pages() for finding in findings(page.read_text())]
    found += [(module, finding) for module in modules() for finding in messages(module.read_text())]
    for path, finding in found:
        place = f"{path.relative_to(ROOT).as_posix()}:{finding.line}"
        sys.stdout.write(f"{place}: {finding.words!r}: rather: {finding.instead}\n")
    return min(len(found), 1)


def _is_left_out(page: Path) -> bool:
    if not page.is_relative_to(DOCS):
        return False
    name = page.relative_to(DOCS).with_suffix("").as_posix()
    return name.startswith(("adr/", "reference/"))


def _blanked(match: re.Match[str]) -> str:
    """As long, and with as many lines, but without a word."""
    return re.sub(r"\S", " ", match[0])


if __name__ == "__main__":
    sys.exit(main())
