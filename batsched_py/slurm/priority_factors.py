"""The factors of a job's priority under priority/multifactor, multiplied by their weights, as sprio shows them."""

from __future__ import annotations

from typing import NamedTuple


class PriorityFactors(NamedTuple):
    """Weighted factors of a job in one partition; each resource of PriorityWeightTRES has its own, by name."""

    age: float
    job_size: float
    partition: float
    qos: float
    fair_share: float
    association: float
    tres: tuple[tuple[str, float], ...]
    nice: int

    @property
    def priority(self) -> int:
        """The sum without its fraction, less nice, and at least 1."""
        total = self.age
        total += self.job_size
        total += self.partition
        total += self.qos
        total += self.fair_share
        total += self.association
        for _, part in self.tres:
            total += part
        return max(int(total) - self.nice, 1)
