"""Names of classes: one thing has one name, and one name means one thing."""

from __future__ import annotations

import re
from collections import defaultdict

from tests.clone import ROOT, below

#: Names of records in the answers of a site, which users of its API see; the classes behind them have the same.
SEEN_IN_THE_API = {"Host", "Lease", "LeaseRequest", "Site"}


def test_no_two_classes_have_one_name() -> None:
    """In one package or two: a reader who looks for a class finds the right one."""
    modules = defaultdict(list)
    for path in below("batsched_py", "*.py"):
        for name in re.findall(r"^ *class (\w+)[(:]", path.read_text("utf-8"), re.MULTILINE):
            modules[name].append(path.relative_to(ROOT).as_posix())
    assert {name: places for name, places in modules.items() if len(places) > 1}.keys() == SEEN_IN_THE_API
