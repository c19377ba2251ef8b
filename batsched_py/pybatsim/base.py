"""The base class of pybatsim schedulers: the hooks that it calls, each with pybatsim's default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from batsched_py.pybatsim.log import LOGGER

if TYPE_CHECKING:
    from procset import ProcSet

    from batsched_py.pybatsim.hook_job import HookJob
    from batsched_py.pybatsim.stand_in import BatsimStandIn


class BatsimScheduler:
    """A scheduler of pybatsim's low level. Hooks that it needs but does not define are errors."""

    bs: BatsimStandIn

    def __init__(self, options: Any = None) -> None:
        self.options = {} if options is None else options
        self.logger = LOGGER

    def onAfterBatsimInit(self) -> None:
        """Prepare; called once, after the reply to the first message: nothing that it sends arrives."""

    def onSimulationBegins(self) -> None:
        """Prepare; called once, at the first event."""

    def onSimulationEnds(self) -> None:
        """Finish; called once, at the last event."""

    def onDeadlock(self) -> None:
        """Give up; never called here: `serve` detects by itself that Batsim has died."""

    def onBeforeEvents(self) -> None:
        """Begin a message."""

    def onNoMoreEvents(self) -> None:
        """End a message, after its events."""

    def onJobSubmission(self, job: HookJob) -> None:
        """A job has arrived."""
        self._undefined("onJobSubmission")

    def onJobCompletion(self, job: HookJob) -> None:
        """A job has ended."""
        self._undefined("onJobCompletion")

    def onJobMessage(self, timestamp: float, job: HookJob, message: Any) -> None:
        """A running job has sent a message."""
        self._undefined("onJobMessage")

    def onJobsKilled(self, jobs: list[HookJob]) -> None:
        """Jobs were killed."""
        self._undefined("onJobsKilled")

    def onMachinePStateChanged(self, nodeid: tuple[int, int], pstate: str) -> None:
        """The hosts from the first to the last number of `nodeid` have reached a pstate."""
        self._undefined("onMachinePStateChanged")

    def onReportEnergyConsumed(self, consumed_energy: float) -> None:
        """The joules that were asked for have arrived."""
        self._undefined("onReportEnergyConsumed")

    def onAddResources(self, to_add: ProcSet) -> None:
        """Hosts were added, with a Batsim that sends ADD_RESOURCES."""
        self._undefined("onAddResources")

    def onRemoveResources(self, to_remove: ProcSet) -> None:
        """Hosts were removed, with a Batsim that sends REMOVE_RESOURCES."""
        self._undefined("onRemoveResources")

    def onRequestedCall(self) -> None:
        """A call that was asked for is due."""
        self._undefined("onRequestedCall")

    def onNoMoreJobsInWorkloads(self) -> None:
        """All static jobs have arrived."""
        self.logger.info("all static jobs have been submitted")

    def onNoMoreExternalEvents(self) -> None:
        """All external events have happened."""
        self.logger.info("all external events have happened")

    def onNotifyEventMachineUnavailable(self, machines: ProcSet) -> None:
        """Hosts have failed."""
        self._undefined("onNotifyEventMachineUnavailable")

    def onNotifyEventMachineAvailable(self, machines: ProcSet) -> None:
        """Hosts have returned."""
        self._undefined("onNotifyEventMachineAvailable")

    def onNotifyGenericEvent(self, event_data: dict[str, Any]) -> None:
        """An external event of another type has happened."""
        self._undefined("onNotifyGenericEvent")

    def _undefined(self, hook: str) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} does not define {hook}")
