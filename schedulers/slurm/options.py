"""Options of `slurm`: the files of an operator, and what a real controller takes for its work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from batsched_py.api import OptionError, document, option
from batsched_py.slurm.accounts import Accounts
from batsched_py.slurm.adapter.files import (
    ConfFile,
    OperatorFile,
    TimedCommand,
    accounts_of,
    check_partitions,
    commands_of,
    conf_file,
    configuration_of,
    hint_lines,
    operator_file,
)
from batsched_py.slurm.adapter.nodes import with_types
from batsched_py.slurm.conf_lines import included_names
from batsched_py.slurm.configuration import SlurmConfiguration
from batsched_py.slurm.phases import ControllerPhases, recorded_phases
from batsched_py.slurm.reservation_file import read_date, read_reservations
from batsched_py.slurm.reservations import AdvanceReservation

#: Seconds that start and end of a job take together there.
_COMPLETE = 0.03


def _no_document(_name: str, _members: Mapping[str, Any]) -> NoReturn:
    raise AssertionError  # any ending is read as text


@dataclass(frozen=True, slots=True)
class SlurmOptions:
    """Options of the files, and of delays; all delays are 0 unless `delays` or another option says so."""

    conf: ConfFile | None = document(  # noqa: RUF009  # as `option`, which makes a field
        _no_document,
        "slurm.conf of the cluster; without it all hosts are one partition, and passes come at once",
        {"*": conf_file},
        included_names,
    )
    topology: OperatorFile | None = document(  # noqa: RUF009  # as `option`, which makes a field
        _no_document, "topology.conf of the cluster, for topology/tree", {"*": operator_file}
    )
    dump: OperatorFile | None = document(  # noqa: RUF009  # as `option`, which makes a field
        _no_document, "accounts: the output of `sacctmgr dump`, commands of sacctmgr, or both", {"*": operator_file}
    )
    commands: OperatorFile | None = document(  # noqa: RUF009  # as `option`, which makes a field
        _no_document, "commands of scontrol and scancel during the run: lines SECONDS COMMAND", {"*": operator_file}
    )
    reservations: OperatorFile | None = document(  # noqa: RUF009  # as `option`, which makes a field
        _no_document, "advance reservations: the output of `scontrol show reservation`", {"*": operator_file}
    )
    date: str | None = option(
        None,
        "date of time 0, such as 2024-05-31T08:00:00 (UTC without a zone): for reservations, and the clock",
        peer_text=r"[0-9TZ:.+-]{1,40}",
    )
    scheduler: Literal["conf", "builtin", "backfill"] = option(
        "conf", "SchedulerType: that of the file, and backfill without one"
    )
    select: Literal["conf", "linear", "cons_tres"] = option(
        "conf", "SelectType: that of the file, and whole nodes (linear) without one"
    )
    delays: Literal["none", "recorded"] = option(
        "none", "delays of a controller: none, or those of recordings; the options below change single ones"
    )
    launch: float | None = option(None, "seconds from the decision to the start of a job", minimum=0)
    complete: float | None = option(None, "seconds from the end of a job until its nodes are free", minimum=0)
    cycle: float | None = option(None, "seconds between looks of the threads of the controller; 0: always", minimum=0)
    clock: int = option(0, "second of the hour at time 0, on which the slots of bf_resolution depend", minimum=0)
    started: float = option(-3600.0, "start of the controller, in seconds from time 0", maximum=0, minimum=-1e6)
    strangers: Literal["stop", "refuse"] = option(
        "stop", "if the accounts lack the user of a job: the run ends, or the job is refused as Slurm does"
    )

    def __post_init__(self) -> None:
        if self.topology is not None and self.conf is None:
            raise OptionError("option topology: must be given with conf")
        if self.dump is not None and self.conf is None:
            raise OptionError("option dump: must be given with conf, which says how accounts are used")
        if self.reservations is not None and (self.conf is None or self.date is None):
            raise OptionError("option reservations: must be given with conf, whose nodes they are of, and with date")
        self._check_clock()
        self.timed_commands()
        configuration = self.configuration()
        if configuration is None:
            return
        if self.topology is not None and not configuration.switches:
            raise OptionError("option topology: conf must have TopologyPlugin=topology/tree")
        if self.dump is not None and not configuration.accounting:
            raise OptionError("option dump: conf must have AccountingStorageType=accounting_storage/slurmdbd")
        check_partitions(configuration, self.accounts(), self.conf_name)
        self.advance_reservations(configuration)

    def _check_clock(self) -> None:
        """Refuse a date that is none, and a clock that contradicts it."""
        try:
            second = self.second_of_hour
        except ValueError as error:
            raise OptionError(f"option date: {error}") from None
        if self.clock not in {0, second}:
            raise OptionError(f"option clock: must be {second} as in date, or left out, not {self.clock}")

    @property
    def second_of_hour(self) -> int:
        """The second of the hour at time 0. ValueError for a date that is none."""
        if self.date is None:
            return self.clock
        date = read_date(self.date)
        return 60 * date.minute + date.second

    def advance_reservations(self, configuration: SlurmConfiguration) -> tuple[AdvanceReservation, ...]:
        """Return the reservations in the file, with times in seconds from time 0, anew for each run.

        ConfigurationError.
        """
        if self.reservations is None or self.date is None:
            return ()
        return read_reservations(*self.reservations, configuration, read_date(self.date))

    @property
    def conf_name(self) -> str:
        """The name of the file with the configuration."""
        return "" if self.conf is None else self.conf.name

    def configuration(self) -> SlurmConfiguration | None:
        """Return the configuration in the files; None without them. ConfigurationError."""
        if self.conf is None:
            return None
        return with_types(configuration_of(self.conf, self.topology), self.scheduler, self.select)

    def hints(self) -> tuple[str, ...]:
        """Return warnings about what is approximated or implied in the configuration."""
        return () if self.conf is None else hint_lines(self.conf, self.topology)

    def accounts(self) -> Accounts:
        """Return the accounts in the file, anew for each run. ConfigurationError."""
        return Accounts() if self.dump is None else accounts_of(self.dump)

    def timed_commands(self) -> tuple[TimedCommand, ...]:
        """Return the commands in the file. ConfigurationError."""
        return () if self.commands is None else commands_of(self.commands)

    @property
    def launch_delay(self) -> float:
        """Seconds from a decision to the start."""
        return self.launch or 0.0

    @property
    def completion_delay(self) -> float:
        """Seconds from the end of a job until the controller knows it."""
        if self.complete is not None:
            return self.complete
        return _COMPLETE if self.delays == "recorded" else 0.0

    def phases(self, *, accounting: bool) -> ControllerPhases:
        """Return the phases of the controller's threads; the recorded ones depend on the use of a data base."""
        if self.delays == "none":
            period = self.cycle or 0.0
            return ControllerPhases(
                clock=self.second_of_hour, started=self.started, main=(0.0, period), backfill=(0.0, period)
            )
        return recorded_phases(self.second_of_hour, self.started, accounting=accounting, cycle=self.cycle)
