"""The member `slurm` of jobs of Slurm's accounting: what their users asked for, and no other member expresses.

sacct has columns for some options of sbatch; others are in SubmitLine, the command that submitted the job. Source:
sacct(1) and sbatch(1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from batsched_py.reading.limits import NAME_RULE, breaks_csv
from batsched_py.text.display import displayed
from batsched_py.traces.sacct_fields import DEPENDENCY, CellError, SacctRow
from batsched_py.traces.slurm_dependency import dependency_in_command
from batsched_py.traces.submit_options import array_limit, submit_options

#: The member of a job.
SLURM: Final = "slurm"
#: Columns that are obeyed with it, and need no note.
COLUMNS_OF_MEMBER: Final = ("constraints", "eligible", "licenses", "reservation")
#: Column with a name -> member.
_NAMES: Final = {"account": "account", "qos": "qos", "reservation": "reservation", "jobname": "job_name"}
#: Columns with lists -> member.
_TEXTS: Final = {"partition": "partition", "constraints": "constraint"}
_NOTHING: Final = frozenset({"", "(null)", "none", "n/a", "unknown"})
_LICENCE: Final = re.compile(r"([\w.-]{1,100})(?:@[\w.-]{1,100})?(?:[:=](\d{1,9}))?", re.ASCII)
_NICE: Final = re.compile(r"-?\d{1,9}", re.ASCII)
_SWITCHES: Final = re.compile(r"(\d{1,9})(?:@(.+))?", re.ASCII)

#: Options that change decisions and that neither a column nor a member here expresses.
_LOST: Final = frozenset({
    "--contiguous", "--deadline", "--exclude", "--gpus", "--gpus-per-node", "--gpus-per-socket", "--gpus-per-task",
    "--gres", "--hint", "--hold", "--mem-per-gpu", "--nodefile", "--nodelist", "--ntasks-per-core",
    "--ntasks-per-gpu", "--ntasks-per-node", "--ntasks-per-socket", "--overcommit", "--oversubscribe", "--priority",
    "--spread-job", "--thread-spec", "--use-min-nodes",
})  # fmt: skip

#: Reports what is not obeyed.
Report = Callable[[str], None]


def slurm_member(row: SacctRow, report: Report, *, demands: bool) -> dict[str, Any]:
    """Return the member for a row; `report` gets a line for each value that it cannot express.

    With `demands`, licences are those of the TRES.
    """
    member: dict[str, Any] = {}
    for column, name in _NAMES.items():
        if not _is_empty(text := row.text(column)):
            if breaks_csv(text):
                report(f"{column} is not kept: {NAME_RULE}")
            else:
                member[name] = text
    member |= {name: text for column, name in _TEXTS.items() if not _is_empty(text := row.text(column))}
    if not demands and (licences := _licences(row.text("licenses"), report)):
        member["licences"] = licences
    if (delay := _delay(row)) is not None:
        member["begin"] = f"+{delay}"
    member |= _of_command(row.text("submitline"), report)
    if not demands and member.get("exclusive") == "user":
        del member["exclusive"]
        report("--exclusive=user in SubmitLine is not kept: the job has whole nodes")
    return member


def _is_empty(text: str) -> bool:
    return text.casefold() in _NOTHING


def _licences(text: str, report: Report) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in [] if _is_empty(text) else text.split(","):
        match = _LICENCE.fullmatch(part)
        if match is None or match[2] == "0":
            report(f"licence {displayed(part)} is not kept: must be like matlab:2")
        else:
            found[match[1]] = int(match[2] or 1)
    return found


def _delay(row: SacctRow) -> int | None:
    """Return the seconds from the submission until a job without a dependency was eligible; None if it was at once."""
    if row.text(DEPENDENCY) or dependency_in_command(row.text("submitline")):
        return None
    submitted, eligible = row.date("submit"), row.date("eligible")
    if submitted is None or eligible is None or eligible <= submitted + 1:
        return None
    return eligible - submitted


def _of_command(command: str, report: Report) -> dict[str, Any]:
    """Return the options in the command that submitted a job."""
    member: dict[str, Any] = {}
    for option, value in submit_options(command):
        if option == "--no-requeue":
            member["requeue"] = False
        elif option == "--exclusive" and value in {"", "user"}:
            member["exclusive"] = value or "node"
        elif option == "--nice" and (not value or _NICE.fullmatch(value)):
            member["nice"] = int(value or 100)
        elif option == "--time-min" and (least := _seconds(value)):
            member["time_min"] = least
        elif option == "--switches" and (match := _SWITCHES.fullmatch(value)) and int(match[1]):
            member["switches"] = int(match[1])
            if match[2] and (wait := _seconds(match[2])):
                member["switches_wait"] = wait
        elif rule := _rule(option, value):
            report(rule)
    return member


def _rule(option: str, value: str) -> str:
    """Return what is lost of an option that no member has; "" if nothing is."""
    if option == "--array" and "%" in value and array_limit(value) is None:
        return "the limit of --array in SubmitLine is not kept: it is unknown"
    if option in {"--exclusive", "--nice", "--time-min", "--switches"}:
        return f"{option} in SubmitLine is not kept: its value is unknown"
    return f"{option} in SubmitLine is not kept" if option in _LOST else ""


def _seconds(text: str) -> int | None:
    try:
        return SacctRow(0, {"limit": text}).duration("limit", 60)
    except CellError:
        return None


def kept_members(member: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a job with this one; nothing without options."""
    return {SLURM: dict(member)} if member else {}
