"""Files that belong to a user's code: those that it imports from its folder, and no others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from batsched_py.reporting.algorithm_files import files_of_algorithm
from batsched_py.reporting.imported_files import imported_files
from batsched_py.results.run_file import OtherFile
from batsched_py.schedulers.easy import Easy

#: Path -> content of files of which `algo.py` is the algorithm's.
FILES = {
    "algo.py": "import helper, numpy\nfrom pkg import one\ndef late():\n    from other.deep import thing\n",
    "helper.py": "import second as s\nimport algo\nfrom installed import x\n",
    "second.py": "",
    "pkg/__init__.py": "from .two import name\nfrom . import three\n",
    "pkg/one.py": "from ..pkg import four\nfrom batsched_py.api import Job\n",
    "pkg/two.py": "name = 1\n",
    "pkg/three.py": "def broken(:\n",
    "pkg/four.py": "",
    "pkg/unused.py": "",
    "other/deep.py": "thing = 1\n",
    "unused.py": "",
    "data.json": "{}",
    "venv/pyvenv.cfg": "",
    "venv/lib/site-packages/installed.py": "",
}
IMPORTED = [
    *("helper.py", "other/deep.py", "pkg/__init__.py", "pkg/four.py", "pkg/one.py", "pkg/three.py", "pkg/two.py"),
    "second.py",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the files, which is the current one."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    monkeypatch.syspath_prepend(tmp_path / "venv" / "lib" / "site-packages")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_code_imports_from_its_folder_is_found_without_importing_it(folder: Path) -> None:
    """Directly or not, in functions, from packages; not what is installed, even if that is below the folder."""
    before = set(sys.modules)
    found = imported_files(folder / "algo.py", folder)
    assert list(found) == IMPORTED
    assert all(path == (folder / name).resolve() for name, path in found.items())
    assert set(sys.modules) == before


def test_modules_are_looked_for_in_the_folder_of_the_campaign(folder: Path) -> None:
    """As Python does, which does not look beside the algorithm's own file."""
    (folder / "mine").mkdir()
    (folder / "mine" / "algo.py").write_text("import helper\n")
    (folder / "mine" / "helper.py").write_text("import unused\n")
    assert list(imported_files(folder / "mine" / "algo.py", folder)) == ["algo.py", *IMPORTED]


def test_modules_that_were_loaded_by_other_means_count(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as importlib: they are named by who loaded them."""
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "unused", raising=False)
    __import__("unused")
    assert list(imported_files(folder / "second.py", folder, ["unused", "json"])) == ["unused.py"]
    monkeypatch.delitem(sys.modules, "unused")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("algorithm", ["algo.py:Mine", "algo:Mine", "algo.py"])
def test_a_run_is_told_with_the_modules_of_its_algorithm(algorithm: str) -> None:
    """By their roles and hashes; an algorithm of a module is found before it is loaded."""
    options = {"order": "second.py:by", "data": "data.json", "depth": 3}
    files = files_of_algorithm(algorithm, options, find_class=lambda _: Easy)
    assert [(file.role, file.path) for file in files] == [
        ("algorithm", "algo.py"),
        ("option order", "second.py"),
        ("option data", "data.json"),
        *((f"module {name}", name) for name in IMPORTED),
    ]
    assert all(len(file.sha256 or "") == 64 for file in files)


@pytest.mark.usefixtures("folder")
def test_schedulers_of_pybatsim_have_files() -> None:
    """A file or a module; a name without a dot is one of the installed pybatsim."""
    assert [file.path for file in files_of_algorithm("pybatsim:second.py", {})] == ["second.py"]
    for name in ("pybatsim:pkg.two", "pybatsim:pkg.two:Other"):
        assert ("algorithm", "pkg/two.py") in [(file.role, file.path) for file in files_of_algorithm(name, {})]
    assert files_of_algorithm("pybatsim:second", {}) == ()


def test_schedulers_of_pybatsim_have_the_modules_of_the_folder_above(folder: Path) -> None:
    """Modules are found as by pybatsim; other algorithms have no such folder."""
    (folder / "here").mkdir()
    (folder / "there" / "schedulers").mkdir(parents=True)
    (folder / "there" / "schedulers" / "packing.py").write_text("import common_parts, near_parts\n")
    (folder / "there" / "schedulers" / "near_parts.py").write_text("")
    (folder / "there" / "common_parts.py").write_text("")
    code = folder / "there" / "schedulers" / "packing.py"
    found = {name: files_of_algorithm(name, {}, folder=folder / "here") for name in (f"pybatsim:{code}", f"{code}:One")}
    roles = [[file.role for file in files] for files in found.values()]
    assert roles == [
        ["algorithm", "module common_parts.py", "module near_parts.py"],
        ["algorithm", "module near_parts.py"],
    ]


def test_built_in_algorithms_have_no_files() -> None:
    """The version tells them."""
    assert files_of_algorithm("easy", {"order": "sjf"}) == ()
    assert files_of_algorithm("batsched_py.schedulers.easy:Easy", {}) == ()


#: A class of the user, whose options are those of a built-in algorithm and one more.
DERIVED = """
from dataclasses import dataclass
from batsched_py.schedulers.slurm.options import SlurmOptions
from batsched_py.schedulers.slurm.scheduler import Slurm
@dataclass(frozen=True, slots=True)
class MyOptions(SlurmOptions):
    label: str = ""
class Mine(Slurm):
    name = "mine"
    options_type = MyOptions
"""


@pytest.mark.parametrize(
    "algorithm", ["slurm", "batsched_py.schedulers.slurm.scheduler:Slurm", "own.py:Mine", "own.py"]
)
def test_files_that_a_document_includes_belong_to_the_algorithm(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A campaign would otherwise take the result of a run with another content, by whatever name of the class."""
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(DERIVED)
    Path("slurm.conf").write_text("Include b.conf\nInclude a.conf\nInclude absent.conf\n")
    for name in ("a.conf", "b.conf"):
        Path(name).write_text(f"# {name}\n")

    def documents(options: dict[str, str]) -> list[OtherFile]:
        return [file for file in files_of_algorithm(algorithm, options) if file.role.startswith("option")]

    files = documents({"conf": "slurm.conf", "clock": "3"})
    assert [(file.role, file.path) for file in files] == [
        ("option conf", "slurm.conf"),
        ("option conf: a.conf", "a.conf"),
        ("option conf: b.conf", "b.conf"),
    ]
    hashes = [file.sha256 for file in files]
    moved = documents({"conf": str(tmp_path / "slurm.conf")})
    assert [(file.role, file.sha256) for file in moved] == [(file.role, file.sha256) for file in files]
    Path("a.conf").write_text("# c\n")
    again = [file.sha256 for file in documents({"conf": "slurm.conf"})]
    assert [one == other for one, other in zip(hashes, again, strict=True)] == [True, False, True]


def test_documents_need_no_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the option reads a file; a name that some file has, too, is none otherwise."""
    monkeypatch.chdir(tmp_path)
    for name in ("conf", "builtin"):
        Path(name).write_text("Include part\n")
    Path("part").write_text("")
    files = files_of_algorithm("slurm", {"conf": "conf", "scheduler": "builtin"})
    assert [(file.role, file.path) for file in files] == [("option conf", "conf"), ("option conf: part", "part")]
