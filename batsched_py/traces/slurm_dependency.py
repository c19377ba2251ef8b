"""Dependencies of jobs of Slurm, as in `sbatch --dependency`. Source: Slurm's manual page sbatch(1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from batsched_py.model.conditions import When
from batsched_py.traces.submit_options import command_words, long_option

# sacct has no column for dependencies; SubmitLine shows the command that submitted the job, and tables of sites may
# have a column Dependency as squeue prints it, with the state of each job in parentheses. Ids of jobs are those of the
# same cluster; that of an array stands for all its tasks.

#: Type of dependency -> the state that the other job must reach.
_TYPES: Final[Mapping[str, When]] = {
    "after": "start",
    "afterany": "end",
    "afterok": "success",
    "afternotok": "failure",
}
_ONE: Final = re.compile(r"(\d{1,15}(?:_\d{1,15})?)(?:_\*)?(?:\+(\d{1,9}))?(?:\([^()]*\))?", re.ASCII)
_SPELLINGS: Final = ("--dependency", "-d")


class SlurmDependency(Struct, frozen=True):
    """The dependencies of one job.

    Attributes:
        jobs: id of another job, the state that it must reach, and seconds that pass after that.
        singleton: whether it waits for its user's jobs of the same name.
        name: that name.
        other: a part that has no counterpart here; "" if there is none.
    """

    jobs: tuple[tuple[str, When, float], ...] = ()
    singleton: bool = False
    name: str = ""
    other: str = ""


NO_DEPENDENCY: Final = SlurmDependency()


def read_dependency(text: str) -> SlurmDependency:
    """Return the dependencies in a list such as `afterok:12:13,singleton`, all of which must be fulfilled."""
    if "?" in text:
        return SlurmDependency(other="one of several (?)")
    jobs: list[tuple[str, When, float]] = []
    singleton = False
    for part in filter(None, text.split(",")):
        kind, *others = part.strip().split(":")
        found = [_ONE.fullmatch(one) for one in others]
        if kind.partition("(")[0] == "singleton":
            singleton = True
        elif kind not in _TYPES or not found or None in found:
            return SlurmDependency(other=kind)
        else:
            jobs += [(one[1], _TYPES[kind], 60.0 * int(one[2] or 0)) for one in found if one is not None]
    return SlurmDependency(tuple(jobs), singleton)


def dependency_in_command(command: str) -> str:
    """Return the list of dependencies in the command that submitted a job; "" if it has none."""
    if "-d" not in command:  # splitting is slow
        return ""
    words = command_words(command)
    for number, word in enumerate(words):
        name, equals, value = word.partition("=")
        name = long_option(name) if name.startswith("--") else name
        if name == "--dependency" and equals:
            return value
        if name in _SPELLINGS:
            return words[number + 1] if number + 1 < len(words) else ""
        if word.startswith("-d") and not word.startswith("--") and word[2:3] in ("a", "s"):
            return word[2:]
        if number and not word.startswith("-") and not words[number - 1].startswith("-"):
            return ""  # the script, after which come its own arguments
    return ""
