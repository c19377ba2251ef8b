"""Runs of one workload with several seeds of the algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from batsched_py.runs.inputs import WorkloadLike


def repeat_for_seeds(
    workloads: Mapping[str, WorkloadLike], seeds: Sequence[int]
) -> dict[str, tuple[WorkloadLike, int | None]]:
    """Repeat each workload for each seed of the algorithms, under a name of its own; once and unnamed without seeds."""
    if not seeds:
        return {name: (source, None) for name, source in workloads.items()}
    return {f"{name}-seed-{seed}": (source, seed) for name, source in workloads.items() for seed in seeds}
