"""Timelines from Python: files, runs without hosts, their tables, and kinds of programs of a user's own."""

from batsched_py.timelines.entries import (
    Drop,
    PauseEntry,
    Program,
    Resume,
    ScheduleEntry,
    TimelineRules,
    Timelines,
    Transfer,
    VmTimeline,
)
from batsched_py.timelines.firewheel import ScheduleConverter
from batsched_py.timelines.kinds import BUILT_IN, Kind, KindMaker, Work
from batsched_py.timelines.listing import basic_json, full_json
from batsched_py.timelines.parsing import parse_timelines, timelines_schema
from batsched_py.timelines.playback import ExternalResume, play
from batsched_py.timelines.records import Begin, Kill, Reboot
from batsched_py.timelines.run import TimelineRun
from batsched_py.timelines.states import TRANSITIONS, VmState
from batsched_py.timelines.tables import timeline_tables
from batsched_py.timelines.warnings import find_warnings

__all__ = [
    "BUILT_IN",
    "TRANSITIONS",
    "Begin",
    "Drop",
    "ExternalResume",
    "Kill",
    "Kind",
    "KindMaker",
    "PauseEntry",
    "Program",
    "Reboot",
    "Resume",
    "ScheduleConverter",
    "ScheduleEntry",
    "TimelineRules",
    "TimelineRun",
    "Timelines",
    "Transfer",
    "VmState",
    "VmTimeline",
    "Work",
    "basic_json",
    "find_warnings",
    "full_json",
    "parse_timelines",
    "play",
    "timeline_tables",
    "timelines_schema",
]
