"""All deliberate errors of the project: one root class, few subclasses, with exit codes for the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple


class BatschedError(Exception):
    """Root of all deliberate errors; its text is one line that a user can act on."""

    #: Exit code of the command line when this error ends a run.
    exit_code: ClassVar[int] = 2
    #: Names of the attributes with the arguments of `__init__`; empty if its only argument is the text.
    arguments: ClassVar[tuple[str, ...]] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling, which passes errors between processes."""
        given = [getattr(self, name) for name in self.arguments] if self.arguments else self.args
        return type(self), tuple(given)


class Fault(NamedTuple):
    """A place in a document ("" for the whole), and the rule that it breaks."""

    path: str
    rule: str

    def __str__(self) -> str:
        return f"{self.path}: {self.rule}" if self.path else self.rule


class InputError(BatschedError):
    """A file that a user gave is wrong: names the file, the field and the rule.

    Attributes:
        others: further faults of the file, which the text only counts.
    """

    arguments: ClassVar[tuple[str, ...]] = ("file", "field", "rule", "others")

    def __init__(self, file: str, field: str, rule: str, others: Sequence[Fault] = ()) -> None:
        self.file, self.field, self.rule, self.others = file, field, rule, tuple(others)
        text = ": ".join(part for part in (file, field, rule) if part)
        more = f" (and {len(others)} other error{'s' if len(others) > 1 else ''})" if others else ""
        super().__init__(text + more)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """All faults, in the file's order."""
        return (Fault(self.field, self.rule), *self.others)


class WorkloadError(InputError):
    """A workload file, a job or a profile in it, breaks a rule."""


class NothingKeptError(WorkloadError):
    """The cleaning rules keep no job of a log; `lines` summarise the outcome for its jobs, `counts` is the report."""

    arguments = ("file", "field", "rule", "lines", "counts")

    def __init__(self, file: str, field: str, rule: str, lines: Sequence[str] = (), counts: Any = None) -> None:
        self.lines, self.counts = tuple(lines), counts
        super().__init__(file, field, rule)


class PlatformError(InputError):
    """A platform file, a host or a link in it, breaks a rule."""


class ConfigurationError(InputError):
    """A configuration file, or an option in it, breaks a rule."""


class SlurmRefusalError(BatschedError):
    """A submission or a command that Slurm refuses, with its message."""


class WeightsError(InputError):
    """A file with the weights of a policy cannot be read or written."""


class TranscriptError(InputError):
    """A transcript cannot be read or written."""


class OptionError(BatschedError):
    """An option is unknown, has the wrong type or a value out of range."""


class QueryError(BatschedError):
    """A query is wrong: names the offset of the character at fault, from 0, and the rule."""

    arguments = ("text", "position", "rule")

    def __init__(self, text: str, position: int, rule: str) -> None:
        self.text, self.position, self.rule = text, position, rule
        super().__init__(f"at offset {position}: {rule}")


class SiteError(BatschedError):
    """A live site cannot be started, or does not accept a request."""


class PluginError(BatschedError):
    """An algorithm cannot be found, imported or used."""


class LibraryError(BatschedError):
    """A decision component library cannot be made: names what is missing, or what the compiler refuses."""


class ExtraError(BatschedError):
    """A package of an extra is not installed: names the feature that needs it, and the command to install it."""

    arguments = ("use", "package", "extra")

    def __init__(self, use: str, package: str, extra: str) -> None:
        self.use, self.package, self.extra = use, package, extra
        super().__init__(f'{use}: needs {package}: pip install ".[{extra}]" in a clone')


class ProtocolError(BatschedError):
    """A message breaks the Batsim protocol: names the place in it (`path`) and the rule."""

    arguments = ("path", "rule")

    def __init__(self, path: str, rule: str) -> None:
        self.path, self.rule = path, rule
        super().__init__(f"{path}: {rule}" if path else rule)


class LocalProtocolError(ProtocolError):
    """A message to the peer would break the protocol; it was not sent."""

    exit_code = 3


class RemoteProtocolError(ProtocolError):
    """A message of the peer breaks the protocol."""

    exit_code = 4


class StoreError(BatschedError):
    """Redis cannot be reached, or lacks data that Batsim should have stored."""

    exit_code = 4


class PlanError(BatschedError):
    """An algorithm asked its Plan for something impossible; names the job, the hosts and the rule."""

    exit_code = 3


class AlgorithmError(BatschedError):
    """An algorithm raised, or its Plan refused: the line has the time, the events answered, and the reason."""

    exit_code = 3


class InvariantError(BatschedError):
    """The internal state is inconsistent: a defect of this project, never of the user."""

    exit_code = 3


class TransportError(BatschedError):
    """The connection cannot be opened, the peer has died, or its answer has timed out."""

    exit_code = 4


class EngineError(TransportError):
    """The container engine cannot be reached, lacks the image, or the program in its container has ended."""


class RefusedError(BatschedError):
    """The simulator refused a decision, as Batsim would by aborting; names the event and the rule."""

    exit_code = 3


class DeadlockError(BatschedError):
    """No further event can occur, but jobs are left: Batsim would hang here.

    Attributes:
        why: the cause, in one line.
        waiting: a line for each waiting job, up to a limit.
    """

    exit_code = 3
    arguments = ("why", "waiting")

    def __init__(self, why: str, waiting: Sequence[str] = ()) -> None:
        self.why, self.waiting = why, tuple(waiting)
        super().__init__("; ".join((why, *waiting)))


class BenchError(BatschedError):
    """A bench was given an impossible value: names it, and the rule."""


class ContractError(BatschedError):
    """An algorithm broke a rule of the contract: names the rule, and the test case."""

    exit_code = 3
