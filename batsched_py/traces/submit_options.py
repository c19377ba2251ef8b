"""Options in the command that submitted a job, which Slurm's accounting has as SubmitLine.

Commands may have abbreviated options, as getopt_long(3) reads them. Sources: sbatch(1), srun(1) and salloc(1).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

#: Maximum number of characters of a command that are read: splitting them is slow.
LONGEST: Final = 20_000

#: Long options without a value, or whose value must follow an equals sign.
_ALONE: Final = frozenset({
    "--contiguous", "--exclusive", "--get-user-env", "--help", "--hold", "--ignore-pbs", "--kill-on-bad-exit",
    "--nice", "--no-kill", "--no-requeue", "--overcommit", "--oversubscribe", "--parsable", "--propagate",
    "--quiet", "--reboot", "--requeue", "--share", "--spread-job", "--test-only", "--usage", "--use-min-nodes",
    "--verbose", "--version", "--wait",
})  # fmt: skip
#: Long options of sbatch with a value.
_WITH_VALUE: Final = frozenset({
    "--account", "--acctg-freq", "--array", "--batch", "--bb", "--bbf", "--begin", "--chdir", "--cluster-constraint",
    "--clusters", "--comment", "--constraint", "--container", "--core-spec", "--cores-per-socket", "--cpu-freq",
    "--cpus-per-gpu", "--cpus-per-task", "--deadline", "--delay-boot", "--dependency", "--distribution", "--error",
    "--exclude", "--export", "--export-file", "--extra-node-info", "--gid", "--gpu-bind", "--gpu-freq", "--gpus",
    "--gpus-per-node", "--gpus-per-socket", "--gpus-per-task", "--gres", "--gres-flags", "--hint", "--input",
    "--job-name", "--kill-on-invalid-dep", "--licenses", "--mail-type", "--mail-user", "--mcs-label", "--mem",
    "--mem-bind", "--mem-per-cpu", "--mem-per-gpu", "--mincpus", "--network", "--nodefile", "--nodelist", "--nodes",
    "--ntasks", "--ntasks-per-core", "--ntasks-per-gpu", "--ntasks-per-node", "--ntasks-per-socket", "--open-mode",
    "--output", "--partition", "--power", "--prefer", "--priority", "--profile", "--qos", "--reservation", "--signal",
    "--sockets-per-node", "--switches", "--tasks-per-node", "--thread-spec", "--threads-per-core", "--time",
    "--time-min", "--tmp", "--uid", "--wait-all-nodes", "--wckey", "--workdir", "--wrap",
})  # fmt: skip
#: Options of srun or salloc whose whole names begin options of sbatch.
_OF_OTHERS: Final = frozenset({"--threads"})
_KNOWN: Final = _WITH_VALUE | _ALONE | _OF_OTHERS
#: Short options of those that are read, or have no value.
_SHORT: Final = {
    "-a": "--array", "-d": "--dependency", "-G": "--gpus", "-h": "--help", "-H": "--hold", "-k": "--no-kill",
    "-O": "--overcommit", "-Q": "--quiet", "-s": "--oversubscribe", "-v": "--verbose", "-V": "--version",
    "-w": "--nodelist", "-W": "--wait", "-x": "--exclude",
}  # fmt: skip
#: Value of `--array` with a limit on running tasks; brackets may be around the numbers, or around all.
_LIMIT: Final = re.compile(r"[\d,:\[\]-]*\d[\d,:\[\]-]*%(\d{1,9})\]?", re.ASCII)


def submit_options(command: str) -> Iterator[tuple[str, str]]:
    """Yield the options of a command before its script, by whole long names where known, with their values."""
    following = iter(command_words(command)[1:])
    for word in following:
        if not word.startswith("-") or word in {"-", "--"}:
            return  # the script, after which come its own arguments
        if word.startswith("--"):
            written, equals, value = word.partition("=")
            option = long_option(written)
            is_whole = bool(equals) or option in _ALONE
        else:
            option, value = _SHORT.get(word[:2], word[:2]), word[2:]
            is_whole = bool(value) or option in _ALONE
        yield option, value if is_whole else next(following, "")


def command_words(command: str) -> list[str]:
    """Return the words of a command, which may have been cut."""
    command = command[:LONGEST]
    try:
        return shlex.split(command)
    except ValueError:  # it was cut within a quotation
        return command.split()


def long_option(written: str) -> str:
    """Return the option that a name or its unique beginning stands for; what is written if it stands for none."""
    if written in _KNOWN:
        return written
    found = [name for name in _KNOWN if name.startswith(written)]
    return found[0] if len(found) == 1 else written


def array_limit(value: str) -> int | None:
    """Return the limit on running tasks in a value of `--array` such as `0-9%2`; None if it has none that is known."""
    match = _LIMIT.fullmatch(value)
    return int(match[1]) if match and int(match[1]) else None
