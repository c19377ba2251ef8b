"""The rules by which an orchestrator deploys experiments."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct


class DeploymentSettings(Struct, frozen=True):
    """The rules by which experiments are deployed.

    Attributes:
        deploy: all resources whose dependencies exist in parallel, or one resource after the other (M25).
        ip_timeout: maximum seconds from a compute's creation until its address is known, if needed.
    """

    deploy: Literal["parallel", "sequential"] = "parallel"
    ip_timeout: float = 3600.0


class OrchestratorSettings(Struct, frozen=True):
    """Rules of an orchestrator.

    Attributes:
        deployment: rules of deployments.
        reservations: whether experiments with computes are deployed in reservations (M28).
        deployments: maximum number of simultaneous deployments; None for any number (M36).
        undo_attempts: number of attempts for each step of a rollback (M34).
        undo_delay: seconds between two attempts.
    """

    deployment: DeploymentSettings = DeploymentSettings()
    reservations: Literal["off", "on"] = "off"
    deployments: int | None = None
    undo_attempts: int = 3
    undo_delay: float = 0.0


#: The default rules.
USUAL: Final = OrchestratorSettings()
