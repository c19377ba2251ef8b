"""Every error the project raises on purpose: one root, few leaves, each with the exit code the command line uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar


class BatschedError(Exception):
    """Root of all deliberate errors; its text is one line that a user can act on."""

    #: Exit code of the command line when this error ends a run.
    exit_code: ClassVar[int] = 2
    #: Attributes that are the arguments of `__init__`, for errors that have others than their text.
    arguments: ClassVar[tuple[str, ...]] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling: the error comes back whole from another process."""
        given = [getattr(self, name) for name in self.arguments] if self.arguments else self.args
        return type(self), tuple(given)


class InputError(BatschedError):
    """A file that a user gave is wrong: names the file, the field and the rule."""

    arguments: ClassVar[tuple[str, ...]] = ("file", "field", "rule")

    def __init__(self, file: str, field: str, rule: str) -> None:
        self.file, self.field, self.rule = file, field, rule
        super().__init__(": ".join(part for part in (file, field, rule) if part))


class WorkloadError(InputError):
    """A workload file, a job or a profile in it, breaks a rule."""


class NothingKeptError(WorkloadError):
    """The rules of cleaning keep no job of a log; `lines` count what became of its jobs."""

    arguments = ("file", "field", "rule", "lines")

    def __init__(self, file: str, field: str, rule: str, lines: Sequence[str] = ()) -> None:
        self.lines = tuple(lines)
        super().__init__(file, field, rule)


class PlatformError(InputError):
    """A platform file, a host or a link in it, breaks a rule."""


class ConfigurationError(InputError):
    """A configuration file, or an option in it, breaks a rule."""


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
    """A live site cannot be begun, or does not accept what it is asked."""


class PluginError(BatschedError):
    """An algorithm cannot be found, imported or used."""


class ExtraError(BatschedError):
    """A package that comes with an extra is not installed: names what needs it, and the command that installs it."""

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
    """We were about to send what the peer must refuse; nothing was sent."""

    exit_code = 3


class RemoteProtocolError(ProtocolError):
    """The peer sent what the protocol forbids."""

    exit_code = 4


class StoreError(BatschedError):
    """Redis cannot be reached, or lacks what Batsim has put there."""

    exit_code = 4


class PlanError(BatschedError):
    """An algorithm asked its Plan for something impossible; names the job, the hosts and the rule."""

    exit_code = 3


class AlgorithmError(BatschedError):
    """An algorithm raised, or its Plan refused: the story has the time, the events answered, and the reason."""

    exit_code = 3


class InvariantError(BatschedError):
    """Our own books contradict themselves: a defect of this project, never of the user."""

    exit_code = 3


class TransportError(BatschedError):
    """The connection cannot be opened, or the peer died, or stayed silent longer than the time-out."""

    exit_code = 4


class EngineError(TransportError):
    """The container engine cannot be reached, has no such image, or what ran in its container has ended."""


class RefusedError(BatschedError):
    """The simulator refused a decision, as Batsim would by aborting; names the event and the rule."""

    exit_code = 3


class DeadlockError(BatschedError):
    """Nothing will ever happen again, yet jobs are left: Batsim would hang here.

    Attributes:
        why: the story, in one line.
        waiting: a line for each job that waits, as far as they are shown.
    """

    exit_code = 3
    arguments = ("why", "waiting")

    def __init__(self, why: str, waiting: Sequence[str] = ()) -> None:
        self.why, self.waiting = why, tuple(waiting)
        super().__init__("; ".join((why, *waiting)))


class BenchError(BatschedError):
    """A bench was given what cannot be: names it, and the rule."""


class ContractError(BatschedError):
    """An algorithm broke a rule of the contract: names the rule, and the case that was played."""

    exit_code = 3
