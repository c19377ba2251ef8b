"""Doing what a page says, command by command, and comparing what it shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

from tests.clone import ROOT
from tests.docs import session
from tests.docs.pages import Step, blocks, name, shows, steps

#: A `serve` at Batsim's own port; what it prints is compared by test_commands.
SERVES = r"batsched-py serve -s \S+( --site \S+ --pace \S+)?"
#: Commands that are not run (regular expressions) -> why.
NOT_RUN = {
    r"make (test|check|bench|fix|fuzz|schema)( .*)?": "runs this very test, or takes long",
    r"python3 -m venv .*|\. \.venv/bin/activate|pip install .*": "needs a network",
    r"batsim .*": "Batsim is not among what the tests need",
    r"nix-env .*": "needs Nix, and a network",
    r"(?s)docker run .*": "needs Batsim's public image",
    r"(OUT=.* )?docker (build|compose) .*": "tests/containers builds and runs the same through Docker's interface",
    SERVES: "waits on Batsim's own port for a Batsim",
    r"python -m tests\.(acceptance|differential)(\..*)? .*": "needs traces and recordings that are not ours to publish",
}


def runnable(page: Path) -> list[Step]:
    """The page's commands, without those of the list above."""
    return [step for step in steps(page) if not any(re.fullmatch(pattern, step.command) for pattern in NOT_RUN)]


def needs_engine(page: Path) -> bool:
    """True if a command of the page needs a container engine: tests/containers follows it."""
    return any(step.command.startswith("batsched-py batsim ") for step in steps(page))


def needs_compiler(page: Path) -> bool:
    """True if a command of the page compiles a library."""
    return any(step.command.startswith("batsched-py library ") for step in steps(page))


def follow(page: Path, todo: Sequence[Step], folder: Path, **environment: str) -> None:
    """Run these commands of the page, in its folder of a reader; AssertionError where one does not do what is shown."""
    session.prepare(folder, [block for block in blocks(page) if block.title])
    done = session.run(folder, [told(step.command) for step in todo], **environment)
    for number, (step, (code, output)) in enumerate(zip(todo, done, strict=False)):
        where = f"{name(page)}:{step.line}: $ {step.command}"
        asked = number + 1 < len(todo) and todo[number + 1].command == "echo $?"
        assert code == 0 or asked, f"{where}\nexit code {code}\n{output}"
        difference = "\n".join(unified_diff(step.shown, output.splitlines(), "shown", "printed", lineterm=""))
        assert shows(step.shown, output), f"{where}\n{difference}"
    assert len(done) == len(todo), f"{name(page)}: the session ended after {len(done)} of {len(todo)} commands"


def told(command: str) -> str:
    """Return the command to run: for `make demo`, which would install, the simulation that the Makefile names."""
    if command != "make demo":
        return command
    [demo] = re.findall(r"^DEMO = (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return str(demo)
