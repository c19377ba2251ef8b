"""A linter for the prose of README, docs, messages, docstrings and comments, and for the words of names.

`python -m tests.docs.prose` prints what it finds, with what to write instead, and exits with 1 if it finds anything;
with paths (`batsched_py/site`) only what is below them. It does not read decisions (docs/adr), which are history.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
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
    # One vocabulary of rules.
    Rule(r"must be an? (?:string|integer|table)", "a text, a whole number, an object, a list"),
    Rule(r"must be (?:[a-z]+ )*(?:more|larger) than", "greater than"),
)

#: Words with which no docstring begins: it says what a thing is (a noun), or what a function does (a verb).
RIDDLES: Final = re.compile(r"(?:What|How|Whom?|Whose|Which|Where|When|Why|That|Whatever|Wherever|Whenever)\b")

#: Words that no name of a module, class, function, argument, attribute or variable has, and what to write instead.
NAMES: Final = (
    Rule("told|tell|tells|telling|untold|retold|said", "report, notify, show, warn, text"),
    Rule("story|stories", "context, description, history"),
    Rule("unheeded", "ignored"),
    Rule("elsewhere|nowhere", "name the place: other hosts, another process"),
    Rule("somebody|nobody|anybody|everybody|everyone|whoever|whom", "name the user, the job or the program"),
    Rule("beside|besides|aside", "sibling, additional, excluded, spool"),
    Rule("mine|ours|theirs|yours", "left and right, or name the program"),
    Rule("standstill", "deadlock"),
    Rule("forsaken|homeless|farewell|hair", "abandoned, displaced, final, epsilon"),
)

#: Words that no name of a module, function, argument or attribute has; variables and fields of records may.
PUBLIC_NAMES: Final = (
    Rule("given", "say what it is: options, values, names, supplied"),
    Rule("own", "say whose: user, local, private"),
)

#: Words of which the name of a module does not consist: it is the noun of what is inside.
MODULE_NAMES: Final = (
    Rule("making|hosting|undoing|deploying|reserving|playing", "factory, finder, rollback, playback: a noun"),
    Rule("given|own|owned|upcoming|live|waiting|recurring", "say which thing is given, waits or recurs"),
)

_WITH_DOCSTRINGS: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

#: Inline code, targets of links, and HTML: no prose.
_NO_PROSE: Final = re.compile(
    r"(?<!`)(?P<ticks>`+)(?!`)(?s:.+?)(?<!`)(?P=ticks)(?!`)|(?<=\])\([^)\s]*\)|<[^>\n]+>|https?://\S+"
)
#: A word of a name: between underscores, and from a capital on.
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
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
    """Yield the findings in the text of a page, from top to bottom."""
    prose = _NO_PROSE.sub(_blanked, _FENCED.sub(_blanked, text))
    for match in _PATTERN.finditer(prose):
        rule = RULES[int(str(match.lastgroup).removeprefix("rule"))]
        yield Finding(prose.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), rule.instead)


def texts(source: str) -> Iterator[Finding]:
    """Yield the findings in the strings of several words of a module: messages, which users see, and docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            for finding in findings(node.value):
                yield Finding(node.lineno + finding.line - 1, finding.words, finding.instead)
        if isinstance(node, _WITH_DOCSTRINGS) and (riddle := RIDDLES.match(ast.get_docstring(node) or "")):
            yield Finding(node.body[0].lineno, riddle[0], "begin with a noun, or a function's with a verb")


def comments(source: str) -> Iterator[Finding]:
    """Yield the findings in the comments of a module; sentences may go over several lines."""
    block: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if block and token.start[0] != block[-1].start[0] + 1:
                yield from _in_block(block)
                block = []
            block.append(token)
    yield from _in_block(block)


def _in_block(block: list[tokenize.TokenInfo]) -> Iterator[Finding]:
    if block:
        for finding in findings("\n".join(token.string.lstrip("#: ") for token in block)):
            yield Finding(block[0].start[0] + finding.line - 1, finding.words, finding.instead)


def names(module: Path, source: str) -> Iterator[Finding]:
    """Yield the findings in the names that a module defines, each once, at its first definition."""
    if module.stem != "__init__":
        yield from _in_name(module.stem, 1, NAMES)
        for rule in MODULE_NAMES:
            if re.fullmatch(rule.words, module.stem):
                yield Finding(1, module.stem, rule.instead)
    seen = set[str]()
    for name, line, rules in sorted(_defined(ast.parse(source)), key=itemgetter(1)):
        if name not in seen:
            seen.add(name)
            yield from _in_name(name, line, rules)


def _defined(tree: ast.Module) -> Iterator[tuple[str, int, Sequence[Rule]]]:
    """Yield each definition of a name with its line and the rules for it."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno, (*NAMES, *PUBLIC_NAMES)
            case ast.arg():
                yield node.arg, node.lineno, (*NAMES, *PUBLIC_NAMES)
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr, node.lineno, (*NAMES, *PUBLIC_NAMES)
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno, NAMES


def _in_name(name: str, line: int, rules: Sequence[Rule]) -> Iterator[Finding]:
    for word in _WORD.findall(name):
        for rule in rules:
            if re.fullmatch(rule.words, word, re.IGNORECASE):
                yield Finding(line, name, rule.instead)


def main(*places: str) -> int:
    """Print what is found in all pages and modules, or in those below the places, and return an exit code."""
    wanted = [ROOT / place for place in places] or [ROOT]
    found = [(page, finding) for page in pages() for finding in findings(page.read_text())]
    for module in modules():
        source = module.read_text()
        found += [(module, finding) for finding in (*texts(source), *comments(source), *names(module, source))]
    found = [(path, finding) for path, finding in found if any(path.is_relative_to(place) for place in wanted)]
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
    sys.exit(main(*sys.argv[1:]))
