"""Demands: the amounts of cores, memory and GPUs that a task requests on one host.

All amounts are whole numbers, so that sums are exact and equal rooms compare equal: cores and shares of a GPU in
thousandths, memory in MiB.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

#: A whole GPU, in thousandths.
WHOLE: Final = 1000


class TaskDemand(Struct, frozen=True, kw_only=True):
    """A task's request for resources of one host; ValueError names the field and the rule.

    Attributes:
        cores: thousandths of a core.
        memory: MiB.
        gpus: number of GPUs.
        share: thousandths of each of these GPUs; 1000 requests them whole.
        models: allowed models of GPUs; empty if any.
        exclusive: True to request the whole host, whatever the amounts are.
    """

    cores: int = 0
    memory: int = 0
    gpus: int = 0
    share: int = WHOLE
    models: tuple[str, ...] = ()
    exclusive: bool = False

    def __post_init__(self) -> None:
        for field in ("cores", "memory", "gpus"):
            if getattr(self, field) < 0:
                raise ValueError(f"{field}: must be at least 0, not {getattr(self, field)}")
        if not 0 < self.share <= WHOLE:
            raise ValueError(f"share: must be from 1 to {WHOLE}, not {self.share}")
        if self.models and not self.gpus:
            raise ValueError("models: must be empty for a task without GPUs")
        if not (self.cores or self.memory or self.gpus or self.exclusive):
            raise ValueError("cores: must be greater than 0 if nothing else is requested")

    @property
    def gpu_amount(self) -> int:
        """Thousandths of GPUs in total."""
        return self.gpus * self.share


class HostCapacity(Struct, frozen=True, kw_only=True):
    """The resources of a host; ValueError names the field and the rule.

    Attributes:
        cores: thousandths of cores.
        memory: MiB.
        gpus: number of GPUs.
        model: model of all of them.
    """

    cores: int
    memory: int
    gpus: int = 0
    model: str = ""

    def __post_init__(self) -> None:
        for field, least in (("cores", 1), ("memory", 0), ("gpus", 0)):
            if getattr(self, field) < least:
                raise ValueError(f"{field}: must be at least {least}, not {getattr(self, field)}")

    @property
    def whole(self) -> TaskDemand:
        """The demand for the whole host."""
        return TaskDemand(cores=self.cores, memory=self.memory, gpus=self.gpus)
