"""All that an algorithm's author imports."""

from batsched_py.errors import OptionError, QueryError
from batsched_py.hostset import HostSet
from batsched_py.model.demand import TaskDemand
from batsched_py.model.host_room import HostRoom, TaskPlace
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.new_profile import delay, parallel, parallel_homogeneous, parallel_homogeneous_total
from batsched_py.model.profile import Profile
from batsched_py.model.step_signal import StepSignal, parse_signal
from batsched_py.model.table import Table
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import Claim, Shadow, Slot
from batsched_py.planning.future.reservations import Reservation, Reservations
from batsched_py.planning.policies.ordering import ORDERS, Line, Order
from batsched_py.planning.run_times.predictor import Predictor
from batsched_py.planning.wait_time import TOLERANCE, wait_of
from batsched_py.protocol.commands import AdditionalIo
from batsched_py.protocol.events import (
    Answer,
    Event,
    FromJobMessage,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    Notify,
    Progress,
    Query,
    RequestedCall,
    ResourceStateChanged,
    SimulationBegins,
    SimulationEnds,
    Unknown,
)
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import NoOptions, document, named, option
from batsched_py.scheduling.placed import Placed
from batsched_py.scheduling.placement import Placement
from batsched_py.scheduling.placement_options import PlacementOptions
from batsched_py.scheduling.plan import Plan, too_few
from batsched_py.scheduling.queue_requests import QUEUE_REQUESTS, QueueRequest
from batsched_py.scheduling.view import View
from batsched_py.state.host import Host
from batsched_py.state.queue import Queue
from batsched_py.state.running import Running
from batsched_py.text.wording import counted, seconds

__all__ = [
    "ORDERS",
    "QUEUE_REQUESTS",
    "TOLERANCE",
    "AdditionalIo",
    "Answer",
    "Availability",
    "Claim",
    "Event",
    "FromJobMessage",
    "Host",
    "HostRoom",
    "HostSet",
    "Job",
    "JobCompleted",
    "JobDemand",
    "JobKilled",
    "JobSubmitted",
    "Line",
    "NoOptions",
    "Notify",
    "OptionError",
    "Order",
    "Placed",
    "Placement",
    "PlacementOptions",
    "Plan",
    "Predictor",
    "Profile",
    "Progress",
    "Query",
    "QueryError",
    "Queue",
    "QueueRequest",
    "RequestedCall",
    "Reservation",
    "Reservations",
    "ResourceStateChanged",
    "Running",
    "Scheduler",
    "Shadow",
    "SimulationBegins",
    "SimulationEnds",
    "Slot",
    "StepSignal",
    "Table",
    "TaskDemand",
    "TaskPlace",
    "Unknown",
    "View",
    "counted",
    "delay",
    "document",
    "named",
    "option",
    "parallel",
    "parallel_homogeneous",
    "parallel_homogeneous_total",
    "parse_signal",
    "seconds",
    "too_few",
    "wait_of",
]
