"""The fields of a JOB_FINISH record in LSF's accounting, lsb.acct.

Source: IBM Spectrum LSF, configuration reference, lsb.acct(5), versions 6.2 to 10.1; Open XDMoD reads records of these
versions in the same order.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from batsched_py.reading.limits import LATEST, TOO_LATE
from batsched_py.text.display import shown

# The fields of a record are separated by blanks; texts are quoted, with two quotes for one. Versions append fields to
# those of earlier ones, and lists have their length before them, so the places of later fields depend on the record.
#
# The limit on the run time is one of the appended fields, after the list of the hosts' use of resources, in a place
# that the documentation names otherwise (options3): records of LSF 9.1 and 10.1 have it first. It is read only if all
# fields before it have the kind that they should have: text or number.

#: Names of the fields of a record, without those of lists; versions append some.
FIELDS: Final = (
    "version", "event time", "jobId", "userId", "options", "numProcessors", "submitTime", "beginTime", "termTime",
    "startTime", "userName", "queue", "resReq", "dependCond", "preExecCmd", "fromHost", "cwd", "inFile", "outFile",
    "errFile", "jobFile", "askedHosts", "execHosts", "jStatus", "hostFactor", "jobName", "command", "lsfRusage",
    "mailUser", "projectName", "exitStatus", "maxNumProcessors", "loginShell", "timeEvent", "idx", "runLimit",
    "fields after idx but runLimit",
)  # fmt: skip
#: Values of jStatus.
EXITED: Final = 32
DONE: Final = 64
_TOKEN: Final = re.compile(r'\s*(?:"([^"]*(?:""[^"]*)*)"|([^\s"]\S*))(?=\s|$)')
_WHOLE: Final = re.compile(r"-?\d{1,18}", re.ASCII)
_SHORT: Final = re.compile(r"(\d{1,9})\*(.+)", re.ASCII)
#: Number of fields between the command and the name of the project: resource usage, and the user for mail.
_USAGE: Final = 20
#: Number of fields from the memory to the flags that precede those about resizing.
_APPENDED: Final = 19
_MOST_HOSTS: Final = 10_000_000
#: Number of digits from which a number is no length.
_LONGEST_COUNT: Final = 10


class LsfError(ValueError):
    """A record that breaks a rule; the text names the field and the rule."""


class LsfJob(Struct, frozen=True):
    """The fields of a record that are read.

    Attributes:
        version: version of the format.
        end, submit, start: seconds since 1970; `start` is 0 for a job that never started.
        number, index: the number of the job, and that of a task of an array, 0 for others.
        user, queue, project, depends: texts, "" if unknown.
        name: name of the job.
        requested, slots, hosts: processors that were requested, slots and different hosts that it got.
        status, exit_status: how it ended.
        run_limit: its limit on the run time in seconds; None if it is unknown.
        understood: False if further fields are in an order that is not known.
    """

    version: str
    end: int
    submit: int
    start: int
    number: int
    index: int
    user: str
    queue: str
    project: str
    depends: str
    name: str
    requested: int
    slots: int
    hosts: int
    status: int
    exit_status: int
    run_limit: int | None
    understood: bool


class _Fields:
    """The fields of a record, one after the other."""

    def __init__(self, line: str) -> None:
        #: Text of each field, and whether it is quoted.
        self._fields: list[tuple[str, bool]] = []
        at, line = 0, line.rstrip()
        while at < len(line):
            found = _TOKEN.match(line, at)
            if found is None:
                raise LsfError(f"field {len(self._fields) + 1} is not closed by a quote and a blank")
            quoted = found[1] is not None
            self._fields.append((found[1].replace('""', '"') if quoted else found[2], quoted))
            at = found.end()
        self._next = 0

    def text(self, name: str) -> str:
        """Return the next field. LsfError."""
        if self._next >= len(self._fields):
            raise LsfError(f"ends before the field {name}")
        self._next += 1
        return self._fields[self._next - 1][0]

    def whole(self, name: str, least: int = 0) -> int:
        """Return the next field, a whole number. LsfError."""
        text = self.text(name)
        if not _WHOLE.fullmatch(text) or int(text) < least:
            raise LsfError(f"field {name} must be a whole number from {least}, not {shown(text)}")
        return int(text)

    def instant(self, name: str) -> int:
        """Return the next field, seconds since 1970, or 0. LsfError."""
        found = self.whole(name)
        if found > LATEST:
            raise LsfError(f"field {name} {TOO_LATE} not {found}")
        return found

    def listed(self, name: str) -> list[str]:
        """Return the fields of a list, which begins with its length. LsfError."""
        length = self.whole(name)
        if length > len(self._fields) - self._next:
            raise LsfError(f"field {name} is {length}, and the record ends before so many fields")
        return [self.text(name) for _ in range(length)]

    def skip(self, number: int) -> None:
        """Pass over fields, which the record may lack."""
        self._next += number

    @property
    def ended(self) -> bool:
        """True after the last field."""
        return self._next >= len(self._fields)

    def kinds(self, pattern: str) -> bool:
        """Return whether the next fields are texts (t) and numbers (n), and pass over them."""
        fields = self._fields[self._next : self._next + len(pattern)]
        self._next += len(pattern)
        return "".join("t" if quoted else "n" for _, quoted in fields) == pattern

    def length(self) -> int | None:
        """Return the next field if it is a length; None otherwise."""
        text, quoted = self._fields[self._next] if not self.ended else ("", True)
        self._next += 1
        return int(text) if not quoted and text.isascii() and text.isdigit() and len(text) < _LONGEST_COUNT else None


def read_job(line: str) -> LsfJob:
    """Return the job of a JOB_FINISH record. LsfError."""
    fields = _Fields(line)
    fields.text("event")
    version = fields.text("version")
    end, number = fields.instant("event time"), fields.whole("jobId", 1)
    fields.skip(2)  # userId, options
    requested, submit = fields.whole("numProcessors"), fields.instant("submitTime")
    fields.skip(2)  # beginTime, termTime
    start, user, queue = fields.instant("startTime"), fields.text("userName"), fields.text("queue")
    fields.skip(1)  # resReq
    depends = fields.text("dependCond")
    fields.skip(7)  # preExecCmd, fromHost, cwd, inFile, outFile, errFile, jobFile
    fields.listed("numAskedHosts")
    places = fields.listed("numExHosts")
    status = fields.whole("jStatus")
    fields.skip(1)  # hostFactor
    name = fields.text("jobName")
    fields.skip(1 + _USAGE)  # command
    project, exit_status = fields.text("projectName"), fields.whole("exitStatus", -LATEST)
    fields.skip(3)  # maxNumProcessors, loginShell, timeEvent
    index = fields.whole("idx")
    hosts = [_SHORT.fullmatch(place) for place in places]
    slots = sum(1 if one is None else int(one[1]) for one in hosts)
    if slots > _MOST_HOSTS:
        raise LsfError(f"field execHosts must be at most {_MOST_HOSTS} slots, not {slots}")
    names = {place if one is None else one[2] for place, one in zip(places, hosts, strict=True)}
    limit, understood = _run_limit(fields)
    return LsfJob(
        version,
        end,
        submit,
        start,
        number,
        index,
        user,
        queue,
        project,
        depends,
        name,
        requested,
        slots,
        len(names),
        status,
        exit_status,
        limit,
        understood,
    )


def _run_limit(fields: _Fields) -> tuple[int | None, bool]:
    """Return the limit on the run time from the fields after idx, and whether their order is known.

    Versions before 9.1 have no limit.
    """
    fields.skip(_APPENDED)  # maxRMem to options2
    if fields.ended:
        return None, True
    if not fields.kinds("tn"):  # resizeNotifyCmd, lastResizeTime
        return None, False
    if fields.ended:
        return None, True
    if not fields.kinds("tt"):  # rsvId, jobDescription
        return None, False
    if fields.ended:
        return None, True
    for width in (2, 6):  # extensions of the submission; use of resources by host
        length = fields.length()
        if length is None:
            return None, False
        fields.skip(length * width)
        if fields.ended:
            return None, True
    limit = fields.text("runLimit")
    if not _WHOLE.fullmatch(limit) or not fields.kinds("nnt"):
        return None, False
    return (int(limit) if int(limit) > 0 else None), True
