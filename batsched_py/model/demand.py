"""Demands: the amounts of cores, memory and GPUs that a task requests on one host.

All amounts are whole numbers, so that sums are exact and equal rooms compare equal: cores and shares of a GPU in
thousandths, memory in MiB.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

#: A whole GPU, or core, in thousandths.
WHOLE: Final = 1000
#: Maximum amount of any resource of one host.
MOST: Final = 1_000_000_000_000
#: Maximum number of cores of one host.
MOST_CORES: Final = MOST // WHOLE
#: Maximum number of GPUs of one host.
MOST_GPUS: Final = 1000
#: Amounts by name, sorted; none is 0.
NamedAmounts = tuple[tuple[str, int], ...]


class TaskDemand(Struct, frozen=True, kw_only=True):
    """A task's request for resources of one host; ValueError names the field and the rule.

    Attributes:
        cores: thousandths of a core.
        memory: MiB.
        gpus: number of GPUs.
        share: thousandths of each of these GPUs; 1000 requests them whole.
        models: allowed models of GPUs; empty if any.
        exclusive: True to request the whole host, whatever the amounts are.
        others: amounts of other resources, by name.
    """

    cores: int = 0
    memory: int = 0
    gpus: int = 0
    share: int = WHOLE
    models: tuple[str, ...] = ()
    exclusive: bool = False
    others: NamedAmounts = ()

    def __post_init__(self) -> None:
        for field in ("cores", "memory", "gpus"):
            if getattr(self, field) < 0:
                raise ValueError(f"{field}: must be at least 0, not {getattr(self, field)}")
        _check_others(self.others)
        if not 0 < self.share <= WHOLE:
            raise ValueError(f"share: must be from 1 to {WHOLE}, not {self.share}")
        if self.models and not self.gpus:
            raise ValueError("models: must be empty for a task without GPUs")
        if not (self.has_amounts or self.exclusive):
            raise ValueError("cores: must be greater than 0 if nothing else is requested")

    @property
    def has_amounts(self) -> bool:
        """Whether any amount is requested; only an exclusive task may have none."""
        return bool(self.cores or self.memory or self.gpus or self.others)

    @property
    def gpu_amount(self) -> int:
        """Thousandths of GPUs in total."""
        return self.gpus * self.share

    def times(self, tasks: int) -> TaskDemand:
        """Return the sum of the demands of several tasks without GPUs."""
        others = tuple((name, amount * tasks) for name, amount in self.others)
        return replace(self, cores=self.cores * tasks, memory=self.memory * tasks, others=others)


class HostCapacity(Struct, frozen=True, kw_only=True):
    """The resources of a host; ValueError names the field and the rule.

    Attributes:
        cores: thousandths of cores.
        memory: MiB.
        gpus: number of GPUs.
        model: model of all of them.
        others: amounts of other resources, by name.
    """

    cores: int
    memory: int
    gpus: int = 0
    model: str = ""
    others: NamedAmounts = ()

    def __post_init__(self) -> None:
        for field, least in (("cores", 1), ("memory", 0), ("gpus", 0)):
            if getattr(self, field) < least:
                raise ValueError(f"{field}: must be at least {least}, not {getattr(self, field)}")
        if self.gpus > MOST_GPUS:
            raise ValueError(f"gpus: must be at most {MOST_GPUS}, not {self.gpus}")
        _check_others(self.others)

    @property
    def whole(self) -> TaskDemand:
        """The demand for the whole host."""
        return TaskDemand(cores=self.cores, memory=self.memory, gpus=self.gpus, others=self.others)


def _check_others(others: NamedAmounts) -> None:
    names = [name for name, _ in others]
    if names != sorted(set(names)):
        raise ValueError("others: must be in the order of their names, each once")
    for name, amount in others:
        if amount < 1:
            raise ValueError(f"others.{name}: must be at least 1, not {amount}")
