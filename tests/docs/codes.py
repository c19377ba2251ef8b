"""Codes by which sources and tests cite the pages that explain them, and the tests that those pages name."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.clone import ROOT, below


@cache
def sources() -> tuple[tuple[Path, str], ...]:
    """The modules that cite codes, with their texts: ours and the tests', but for those of the pages."""
    paths = [path for folder in ("batsched_py", "schedulers", "tests") for path in below(folder, "*.py")]
    return tuple((path, path.read_text()) for path in paths if path.parent != Path(__file__).parent)


def citations(pattern: re.Pattern[str]) -> dict[str, str]:
    """Code -> one of the files that cite it; the pattern matches a code, or its first group is one."""
    return {code: str(path.relative_to(ROOT)) for path, text in sources() for code in pattern.findall(text)}


def is_there(test: str) -> bool:
    """True if `path::name` is a test function of this repository; `path::name[id]` one of its cases, `*` any."""
    path, _, case = test.partition("::")
    function, bracket, _ = case.partition("[")
    if not (path.startswith("tests/") and function.startswith("test_") and (ROOT / path).is_file()):
        return False
    if bracket:
        pattern = re.compile(re.escape(test).replace(r"\*", ".*"))
        return any(pattern.fullmatch(one) for one in collected(path))
    return re.search(rf"^(?:async )?def {re.escape(function)}\(", (ROOT / path).read_text(), re.MULTILINE) is not None


@cache
def collected(path: str) -> tuple[str, ...]:
    """The tests of a module with their parameters, as pytest names them."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", path]
    return tuple(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines())
