"""Managed experiments from Python: documents, orders of deployment, and an orchestrator of a user's own resources."""

from batsched_py.experiments.deployment_order import DependencyCycleError, deployment_order
from batsched_py.experiments.descriptor_errors import (
    DescriptorError,
    DescriptorSizeError,
    DescriptorSyntaxError,
    InvalidDescriptorError,
)
from batsched_py.experiments.forecast import Forecast, deployed_at, forecast
from batsched_py.experiments.managed import ManagedExperiment
from batsched_py.experiments.model import (
    AddressOf,
    Compute,
    Experiment,
    InstanceType,
    Metric,
    Network,
    PlannedResource,
    Reference,
    Resource,
    Router,
    SiteLink,
    Storage,
)
from batsched_py.experiments.orchestrator import Orchestrator
from batsched_py.experiments.orchestrator_settings import DeploymentSettings, OrchestratorSettings
from batsched_py.experiments.parsing.descriptor import read_descriptor
from batsched_py.experiments.parsing.json_form import descriptor_schema
from batsched_py.experiments.parsing.testbed_form import parse_testbed
from batsched_py.experiments.resource_manager import (
    InstanceRequest,
    RefusedByManagerError,
    ReservationRequest,
    ReservationStatus,
    ReservedInstances,
    ResourceManager,
    ResourceRequest,
    ResourceStatus,
)
from batsched_py.experiments.states import (
    OVER,
    RESERVATION,
    WITH_RESERVATION,
    WITHOUT_RESERVATION,
    ExperimentState,
    ReservationState,
)
from batsched_py.experiments.testbed import Location, Testbed
from batsched_py.experiments.validation import Situation

__all__ = [
    "OVER",
    "RESERVATION",
    "WITHOUT_RESERVATION",
    "WITH_RESERVATION",
    "AddressOf",
    "Compute",
    "DependencyCycleError",
    "DeploymentSettings",
    "DescriptorError",
    "DescriptorSizeError",
    "DescriptorSyntaxError",
    "Experiment",
    "ExperimentState",
    "Forecast",
    "InstanceRequest",
    "InstanceType",
    "InvalidDescriptorError",
    "Location",
    "ManagedExperiment",
    "Metric",
    "Network",
    "Orchestrator",
    "OrchestratorSettings",
    "PlannedResource",
    "Reference",
    "RefusedByManagerError",
    "ReservationRequest",
    "ReservationState",
    "ReservationStatus",
    "ReservedInstances",
    "Resource",
    "ResourceManager",
    "ResourceRequest",
    "ResourceStatus",
    "Router",
    "SiteLink",
    "Situation",
    "Storage",
    "Testbed",
    "deployed_at",
    "deployment_order",
    "descriptor_schema",
    "forecast",
    "parse_testbed",
    "read_descriptor",
]
