"""Finding algorithms: by name, by module, by file."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from batsched_py import plugins, schedulers
from batsched_py.errors import PluginError
from batsched_py.schedulers.easy import Easy, EasyOptions
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import describe_options
from batsched_py.scheduling.placement_options import PlacementOptions
from tests.clone import ROOT, below

MINE = """
from __future__ import annotations

from dataclasses import dataclass

from batsched_py.api import NoOptions, Plan, Scheduler, View, option

@dataclass(frozen=True, slots=True)
class MyOptions:
    depth: int = option(3, "how deep")

class Mine(Scheduler[MyOptions]):
    name = "mine"
    def decide(self, view: View, plan: Plan) -> None:
        pass

class Abstract(Scheduler[NoOptions]):
    name = "abstract"

class Nameless(Scheduler[NoOptions]):
    def decide(self, view: View, plan: Plan) -> None:
        pass

class Untyped(Scheduler[int]):
    name = "untyped"
    def decide(self, view: View, plan: Plan) -> None:
        pass

class Other:
    pass
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file with good and bad classes."""
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def test_a_built_in_is_found_by_its_name() -> None:
    """`-s easy`."""
    assert plugins.load("easy") is Easy
    assert plugins.load("fcfs") is Fcfs


def test_a_class_is_found_in_a_module() -> None:
    """`-s package.module:Class`."""
    assert plugins.load("batsched_py.schedulers.easy:Easy") is Easy


def test_a_class_is_found_in_a_file(mine: Path) -> None:
    """`-s path/to/file.py:Class`, wherever the file is."""
    scheduler = plugins.load(f"{mine}:Mine")
    assert scheduler.name == "mine"
    assert [known.type for known in describe_options(scheduler.options_type)] == ["whole number"]


def test_the_one_algorithm_of_a_file_need_not_be_named(mine: Path) -> None:
    """Classes that decide nothing, have no name or come from elsewhere are none."""
    mine.write_text(mine.read_text().replace("class Untyped", "class _Untyped").replace('name = "untyped"', "pass"))
    mine.write_text(mine.read_text() + "\nfrom batsched_py.schedulers.easy import Easy\nAlias = Mine\n")
    assert plugins.load(str(mine)).name == "mine"


def test_an_options_class_is_the_one_between_the_brackets() -> None:
    """Scheduler[EasyOptions]."""
    assert Easy.options_type is EasyOptions
    assert Fcfs.options_type is PlacementOptions


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("eazy", "algorithm eazy: unknown; did you mean easy? There are: "),
        ("tea", "algorithm tea: unknown; there are: "),
        ("nowhere.py", "algorithm file nowhere.py: no such file"),
        ("{none}", "none.py: defines no class that is a Scheduler[...]"),
        ("{two}", "two.py: defines 3 algorithms; name one of {two}:Mine, {two}:Untyped, {two}:Another"),
        ("{abstract}", "Base does not define decide"),
        ("no.such.module:X", "algorithm module no.such.module: ModuleNotFoundError"),
        ("nowhere.py:X", "algorithm file nowhere.py: no such file"),
        ("{mine}:Nobody", "has no Nobody"),
        ("{mine}:Other", "Other is not a Scheduler"),
        ("{mine}:Abstract", "Abstract does not define decide"),
        ("{mine}:Untyped", "int in Scheduler[...] is not a dataclass"),
        ("{mine}:Nameless", "Nameless has no name"),
    ],
)
def test_what_cannot_be_loaded_is_one_clear_line(mine: Path, name: str, words: str) -> None:
    """PluginError says what was looked for and what is wrong with it."""
    texts = {
        "none": "from batsched_py.api import *\n",
        "two": MINE + 'class Another(Mine):\n    name = "another"\n',
        "abstract": "from batsched_py.api import *\nclass Base(Scheduler[NoOptions]):\n    name = 'base'\n",
    }
    files = {"mine": mine}
    for stem, text in texts.items():
        files[stem] = mine.with_name(f"{stem}.py")
        files[stem].write_text(text)
    with pytest.raises(PluginError) as caught:
        plugins.load(name.format(**files))
    assert words.format(**files) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_does_not_run_is_one_clear_line(tmp_path: Path) -> None:
    """A syntax error is the user's, with its line."""
    path = tmp_path / "bad.py"
    path.write_text("def (:\n")
    with pytest.raises(PluginError, match=r"bad\.py: SyntaxError"):
        plugins.load(f"{path}:X")


def test_a_file_that_exits_is_one_clear_line(tmp_path: Path) -> None:
    """sys.exit at import ends nothing but the import."""
    path = tmp_path / "bad.py"
    path.write_text("import sys\nsys.exit('x\\ny')\n")
    with pytest.raises(PluginError, match=r"bad\.py: SystemExit: x y"):
        plugins.load(f"{path}:X")


def test_a_module_of_a_file_that_failed_is_not_left_behind(tmp_path: Path) -> None:
    """A file's module does not hide others of the same name."""
    path = tmp_path / "json.py"
    path.write_text(MINE)
    before = sys.modules["json"]
    plugins.load(f"{path}:Mine")
    assert sys.modules["json"] is before


def test_third_parties_announce_algorithms_by_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Group batsched_py.schedulers; an entry point never hides a built-in."""
    points = EntryPoints(
        EntryPoint(name, value, plugins.ENTRY_POINT_GROUP)
        for name, value in (("theirs", schedulers.BUILT_INS["fcfs"]), ("easy", schedulers.BUILT_INS["fcfs"]))
    )
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points.select(group=group))
    assert plugins.load("theirs") is Fcfs
    assert plugins.load("easy") is Easy
    assert plugins.available()["theirs"] == "batsched_py.schedulers.fcfs:Fcfs"


@pytest.mark.parametrize("name", sorted(schedulers.BUILT_INS))
def test_every_built_in_is_loaded_under_its_own_name_and_names_its_source(name: str) -> None:
    """The table in schedulers/__init__ and the classes agree."""
    scheduler: type[Scheduler[object]] = plugins.load(name)
    assert scheduler.name == name
    assert scheduler.source
    assert scheduler.__doc__


def test_each_algorithm_of_the_packages_has_a_line_in_the_table() -> None:
    """An algorithm is a class with a name of its own; whatever is none is shared by several."""
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in below("schedulers", "*.py")]
    modules = [importlib.import_module(f"batsched_py.{name}") for name in names if not name.endswith("__init__")]
    assert {
        vars(value)["name"]: f"{module.__name__}:{value.__name__}"
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Scheduler) and value.__module__ == module.__name__
        if "name" in vars(value)
    } == schedulers.BUILT_INS


@pytest.mark.parametrize("name", [f"{'a' * 300}.py", "a\0b.py"])
def test_names_that_no_file_can_have_are_no_files(name: str) -> None:
    """Texts that end like a file are left as they are; as algorithms they are refused as any that is not there."""
    for text in (name, f"pybatsim:{name}", f"pybatsim:{name}:Mine"):
        assert plugins.find_code(text, Path()) == text
        with pytest.raises(PluginError, match="no such file"):
            plugins.load(text)
