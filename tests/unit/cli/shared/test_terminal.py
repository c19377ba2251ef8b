"""All that is written to standard output and error is fit for a terminal."""

from __future__ import annotations

import ast
import json
import unicodedata
from io import StringIO

import pytest
from rich.table import Table
from rich.text import Text

from batsched_py.cli.shared.console import Output
from batsched_py.cli.shared.terminal import put, say, warn
from batsched_py.text.display import MOST, MOST_IN_LINE
from tests.clone import ROOT, below

HOSTILE = "w0!\x1b[2J\x1b]0;x\x07\r\nbatsched-py: error: forged \u202etxt.exe\u2028 [red]x[/red] :smile: \x9b31m"
SHOWN = r"w0!\x1b[2J\x1b]0;x\x07\r\nbatsched-py: error: forged \u202etxt.exe\u2028 [red]x[/red] :smile: \x9b31m"

#: The modules that may write, and what they may use.
WRITERS = {
    "cli/shared/terminal.py": {"echo", "secho", "stdout", "stderr"},
    "cli/shared/console.py": {"Console"},
    "cli/shared/live_view.py": {"stdout"},  # asks whether it is a terminal
    "cli/shared/component_build.py": {"stderr"},  # reads that of the compiler
    "cli/shared/decision_component.py": {"stdout"},  # flushed before Batsim's process ends
    "cli/__main__.py": {"stderr"},  # a constant text, before anything is imported
    "campaigns/processes.py": {"stdout"},  # flushed before the process is copied
}
#: The first silences a warning of Python's; the second warns who calls it from Python, and may silence that.
MAY_FILTER = {
    "campaigns/processes.py": {"warnings"},
    "runs/class_state.py": {"warnings"},
    "reporting/pictures/drawing.py": {"logging"},
}
#: Makes lines of its own of what the server and the event loop log.
MAY_HEAR = {"site/api/error_lines.py": {"logging"}}
#: Hands a logger over to schedulers of the user, as pybatsim does.
MAY_HAND_OVER = {"pybatsim/log.py": {"logging"}}
#: What writes.
WAYS = {
    "echo",
    "secho",
    "print",
    "print_exc",
    "print_exception",
    "Console",
    "stdout",
    "stderr",
    "warn_explicit",
    "showwarning",
}

#: A module without any of them does not write.
WORDS = (*WAYS, "logging", "warnings")


def used(module: ast.Module) -> set[str]:
    """Names of functions that write, and of streams, wherever the module has them."""
    called = {node.func for node in ast.walk(module) if isinstance(node, ast.Call)}
    streams = {
        node for node in ast.walk(module) if isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr")
    }
    found = {node.id for node in called if isinstance(node, ast.Name)}
    # console.print() is that of an Output; print of other things is the builtin.
    found |= {node.attr for node in called if isinstance(node, ast.Attribute) and node.attr != "print"}
    bases = [base for node in ast.walk(module) if isinstance(node, ast.ClassDef) for base in node.bases]
    found |= {base.id for base in bases if isinstance(base, ast.Name)}
    return (found | {node.attr for node in streams}) & WAYS


def test_one_place_writes_to_standard_output_and_error() -> None:
    """No module but these writes, logs or makes a console; what algorithms of the user's print is theirs."""
    package = ROOT / "batsched_py"
    for path in below("batsched_py", "*.py"):
        name = path.relative_to(package).as_posix()
        if name.startswith("testing/"):  # runs inside pytest
            continue
        source = path.read_text("utf-8")
        if not any(word in source for word in WORDS):  # most modules: to parse all takes seconds
            continue
        module = ast.parse(source)
        assert used(module) <= WRITERS.get(name, set()), name
        imported = {alias.name for node in ast.walk(module) if isinstance(node, ast.Import) for alias in node.names}
        allowed = MAY_FILTER.get(name, set()) | MAY_HEAR.get(name, set()) | MAY_HAND_OVER.get(name, set())
        assert not imported & ({"logging", "warnings"} - allowed), name


def test_a_line_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing in it begins another, moves the cursor or changes the direction of writing."""
    say(HOSTILE)
    say(HOSTILE, err=True, colour="red")
    warn(HOSTILE)
    done = capsys.readouterr()
    assert done.out == f"{SHOWN}\n"
    assert done.err == f"{SHOWN}\nbatsched-py: warning: {SHOWN}\n"


@pytest.mark.parametrize("text", ["x" * 10_000_000, "x " * 5_000_000, "\x1b" * 1_000_000])
def test_a_line_fills_no_screen(capsys: pytest.CaptureFixture[str], text: str) -> None:
    """A word has at most 200 characters, a line some more."""
    say(f"job {text}: must be new")
    line = capsys.readouterr().out
    assert len(line) <= MOST_IN_LINE + 1
    assert max(map(len, line.split())) <= MOST
    assert line.startswith("job ")


def test_data_is_whole_and_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    """CSV keeps its lines, JSON its meaning; nothing is cut."""
    put(b"id,size\nw0!\x1b[2J,1\n" + b"x" * 1000 + b",2\n")
    assert capsys.readouterr().out == "id,size\nw0!\\x1b[2J,1\n" + "x" * 1000 + ",2\n"
    data = {"run": "a\x7f\u202e\U000e0041 é"}
    put(json.dumps(data, ensure_ascii=False).encode(), is_json=True)
    out = capsys.readouterr().out
    assert json.loads(out) == data
    assert out.isprintable()


def printed(thing: object, width: int = 200) -> str:
    file = StringIO()
    Output(file=file, width=width, force_terminal=True, color_system="standard").print(thing)
    return file.getvalue()


@pytest.mark.parametrize("cell", [HOSTILE, Text(HOSTILE.replace("\n", " ").replace("\u2028", ""))])
def test_a_table_takes_no_commands(cell: str | Text) -> None:
    """Neither markup nor control characters; the only escape sequences are ours."""
    table = Table(str(HOSTILE), show_edge=False)
    table.add_row(cell)
    text = printed(table)
    for ours in ("\x1b[0m", "\x1b[1m"):
        text = text.replace(ours, "")
    kinds = {unicodedata.category(character) for character in text.replace("\n", "")}
    assert not kinds & {"Cc", "Cf", "Zl", "Zp"}
    assert "[red]x[/red] :smile:" in text
    assert len(text.splitlines()) == 3


def test_a_picture_takes_no_commands() -> None:
    """Text of several lines keeps them."""
    assert printed(Text("a\x1b[2Jb\nc\u202ed")) == "a\\x1b[2Jb\nc\\u202ed\n"
