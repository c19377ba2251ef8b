"""The public doors of docs/stability.md: README and docs import from nowhere else."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.clone import ROOT, below
from tests.docs.pages import PAGES, blocks, name

#: Pages about the inside of the program, which name modules as places in the code.
INSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "docs/design.md", "docs/observations.md", "docs/adr/", "docs/conformance/")
#: A dotted name of the package, as in prose and in directives of the reference.
DOTTED = re.compile(r"\bbatsched_py(?:\.\w+)+")
#: Room -> the doors by which tests enter it. A site has no one: its application needs an extra, and clients are light.
ENTRANCES = {
    "experiments": ("batsched_py.experiments.api",),
    "timelines": ("batsched_py.timelines.api",),
    "site": (
        *(f"batsched_py.site.{name}" for name in ("audit", "client", "simulated", "site", "users")),
        *(f"batsched_py.site.api.{name}" for name in ("app", "listening", "server")),
        "batsched_py.site.image.api",
        "batsched_py.site.what_if.api",
    ),
}
#: Room -> modules behind its doors with parts that tests may name. These sets only shrink.
PARTS = {
    "experiments": {"batsched_py.experiments.descriptor_cache"},
    "timelines": {"batsched_py.timelines.kinds"},
    "site": {
        *(
            f"batsched_py.site.{name}"
            for name in ("board", "inbox", "journal", "notices", "pacing", "recent_warnings", "snapshot")
        ),
        *(
            f"batsched_py.site.api.{name}"
            for name in (
                "answers",
                "changes",
                "description",
                "host_views",
                "identity",
                "lease_requests",
                "schedule",
                "selection",
            )
        ),
        *(
            f"batsched_py.site.api.{name}"
            for name in ("error_lines", "host_views", "lease_views", "problems", "request_counts")
        ),
    },
}
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_OUTSIDE = [page for page in PAGES if not name(page).startswith(INSIDE)]


@cache
def doors() -> dict[str, frozenset[str]]:
    """Door -> its public names, those of `__all__`; read, not imported, because some need extras."""
    page = (ROOT / "docs" / "stability.md").read_text()
    rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `batsched_py")]
    return {door: _public(door) for row in rows for door in DOTTED.findall(row)}


def _public(door: str) -> frozenset[str]:
    place = ROOT.joinpath(*door.split("."))
    if door.startswith("batsched_py.schedulers."):
        place = ROOT / "schedulers" / place.name
    source = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    lists = [
        ast.literal_eval(node.value)
        for node in ast.parse(source.read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    assert lists, f"{door} has no __all__"
    return frozenset(lists[0])


def imported(source: str) -> Iterator[tuple[str, str]]:
    """Yield (module, name) of each import from the package; no name for the module itself."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((one.name, "") for one in node.names if one.name.partition(".")[0] == "batsched_py")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "batsched_py":
            for one in node.names:
                whole = f"{node.module}.{one.name}"
                yield (whole, "") if whole in doors() else (node.module or "", one.name)


def is_public(module: str, wanted: str) -> bool:
    """True for a door, and for a name that it has."""
    return module in doors() and (not wanted or wanted in doors()[module])


def is_public_name(dotted: str) -> bool:
    """True for a door, for a name that it has, and for a member of such a name."""
    parts = dotted.split(".")
    found = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    door = next((one for one in found if one in doors()), None)
    return door is not None and (dotted == door or dotted.removeprefix(f"{door}.").split(".")[0] in doors()[door])


def cells(page: Path) -> Iterator[str]:
    """The cells of code of a notebook, without commands of IPython."""
    for cell in json.loads(page.read_text())["cells"]:
        if cell["cell_type"] == "code":
            yield "".join(line for line in cell["source"] if not line.startswith(("%", "!")))


def test_doors_are_few() -> None:
    """Ten of them, each with public names; a further one needs a reason."""
    assert len(doors()) <= 10
    assert all(doors().values())


@pytest.mark.parametrize("page", _OUTSIDE, ids=name)
def test_pages_import_from_doors(page: Path) -> None:
    """In the blocks of Python on a page, also in those that are files."""
    sources = [block.text for block in blocks(page) if block.language == "python"]
    assert [one for source in sources for one in imported(source) if not is_public(*one)] == []


@pytest.mark.parametrize("page", _OUTSIDE, ids=name)
def test_pages_name_only_what_is_public(page: Path) -> None:
    """In prose, and in the directives of the reference (`::: ...`); a group of entry points is no module."""
    prose = _FENCED.sub("", page.read_text())
    assert [one for one in DOTTED.findall(prose) if not is_public_name(one)] == []


def test_the_notebook_imports_from_doors() -> None:
    """In each of its cells."""
    found = [one for cell in cells(ROOT / "docs" / "notebook.ipynb") for one in imported(cell)]
    assert found
    assert [one for one in found if not is_public(*one)] == []


@pytest.mark.parametrize(
    ("module", "wanted", "public"),
    [
        ("batsched_py.api", "Plan", True),
        ("batsched_py.api", "", True),
        ("batsched_py.api", "encode", False),
        ("batsched_py.scheduling.plan", "Plan", False),
        ("batsched_py", "__version__", False),
    ],
)
def test_a_door_has_names(module: str, wanted: str, public: bool) -> None:
    """Everything behind it is private."""
    assert is_public(module, wanted) is public


def test_members_of_public_names_are_public() -> None:
    """As the reference names them."""
    assert is_public_name("batsched_py.api.Plan.start")
    assert not is_public_name("batsched_py.campaigns.plan.planner")


def test_tests_of_reporting_use_its_door() -> None:
    """Modules behind it may move without them; what it does not have is tested where it is."""
    door = "batsched_py.reporting.api"
    assert [f"{path}: {wanted} is in {door}" for path, _, wanted in _behind(door) if wanted in doors()[door]] == []


@pytest.mark.parametrize("room", ENTRANCES)
def test_tests_enter_rooms_by_their_doors(room: str) -> None:
    """Modules behind them may move, but those with parts that are tested by themselves; none of these is in vain."""
    behind = list(_behind(*ENTRANCES[room]))
    assert [f"{path}: {wanted} of {module}" for path, module, wanted in behind if module not in PARTS[room]] == []
    assert {module for _, module, _ in behind} == PARTS[room]


def _behind(*entrances: str) -> Iterator[tuple[Path, str, str]]:
    """Yield (test, module, name) of what tests import from a room, but not from these doors."""
    room = ".".join(entrances[0].split(".")[:2])
    for path in below("tests", "*.py"):
        source = path.read_text()
        for module, wanted in imported(source) if room in source else ():  # to parse all takes seconds
            if f"{module}.".startswith(f"{room}.") and module not in entrances:
                yield path.relative_to(ROOT), module, wanted
