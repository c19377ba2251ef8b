"""Fills with neighbouring hosts, by a function of the object layer."""

from batsim.sched.algorithms.filling import filler_sched
from batsim.sched.algorithms.utils import consecutive_resources_filter


def ObjectFiller(scheduler):
    filler_sched(scheduler, resources_filter=consecutive_resources_filter)
