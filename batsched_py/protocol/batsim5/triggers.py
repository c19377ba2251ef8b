"""Triggers of calls and probes of Batsim 5: once or periodic, in whole seconds or milliseconds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from batsched_py.protocol.batsim5.envelope import only
from batsched_py.protocol.commands import CallMeLater, CallPeriodically, CreateProbe, ProbeSummary
from batsched_py.protocol.fields import Data, hosts, mapping, text
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

# The schema of Batsim 5 allows far more than its release candidate runs. What it would refuse, ignore or crash on is
# refused here, with the one value that works: a request that is accepted and not obeyed would show as missing calls in
# the middle of a run.
#
# Calls are in whole milliseconds, and simulated times are not. A time is rounded up, so that no call comes before it,
# but not for a difference below NOISE: Batsim's clock is late by the latency of its messages, and a time planned from
# it for a whole millisecond would otherwise move to the next one.

#: Unit -> number of units in a second.
_UNITS: Final = {"Second": 1, "Millisecond": 1000}
#: Seconds by which a time may exceed a whole millisecond and still be rounded down to it.
NOISE: Final = 1e-6
#: The largest number of an unsigned integer of 64 bits, and of 32.
_MOST: Final = 2**64 - 1
_MOST_TIMES: Final = 2**32 - 1
_SUMMARIES: Final[dict[ProbeSummary, str]] = {
    "each": "NoResourcesAggregation",
    "sum": "Sum",
    "mean": "ArithmeticMean",
}
#: The members of a probe for which rc2 supports a single value -> (type, value).
_FIXED: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "temporal_aggregation_function": ("NoTemporalAggregation", {}),
    "emission_filtering_policy": ("NoFiltering", {}),
}
_ACCUMULATION: Final = {
    "reset_mode_type": "NoReset",
    "reset_mode": {},
    "cumulative_function": "Sum",
    "temporal_normalization": False,
}
_PROBE_MEMBERS: Final = frozenset(
    {
        "probe_id",
        "metrics",
        *(f"{name}{end}" for name in _FIXED for end in ("", "_type")),
        *("resources_type", "resources", "data_accumulation_strategy_type", "data_accumulation_strategy"),
        *("measurement_triggering_policy_type", "measurement_triggering_policy"),
        *("resources_aggregation_function_type", "resources_aggregation_function"),
    }
)


def read_call(timestamp: float, data: Data) -> CallMeLater | CallPeriodically:
    """Read CallMeLaterEvent."""
    only(data, frozenset({"call_me_later_id", "when_type", "when"}))
    call_id, kind, when = _named(data, "call_me_later_id"), text(data, "when_type"), mapping(data, "when")
    if kind == "OneShot":
        only(when, frozenset({"time", "time_unit"}), "when")
        return CallMeLater(timestamp, _unsigned(when, "time") / _units(when), call_id)
    if kind != "Periodic":
        raise FieldError("when_type", f"must be OneShot or Periodic, not {shown(kind)}")
    return CallPeriodically(timestamp, call_id, *_read_period(when, "when"))


def write_call(command: CallMeLater) -> dict[str, Any]:
    """Write a call at the first millisecond that is not before `at`, which is also the default of its id.

    A call that is later than the command is never rounded down to the command's time or before.
    """
    if not 0 <= command.at < math.inf:
        raise FieldError("when.time", f"must be a finite time from 0, not {command.at!r}")
    moment = milliseconds(command.at)
    if moment / 1000 <= command.timestamp < command.at:
        moment += 1
    if moment > _MOST:
        raise FieldError("when.time", f"must be below {_MOST} milliseconds, not {command.at!r} s")
    when = {"time": moment, "time_unit": "Millisecond"}
    return {"call_me_later_id": command.call_id or f"at {moment}", "when_type": "OneShot", "when": when}


def write_periodic_call(command: CallPeriodically) -> dict[str, Any]:
    """Write calls at each multiple of a period of whole milliseconds."""
    _check_name(command.call_id, "call_me_later_id")
    when = _write_period(command.period, command.times)
    return {"call_me_later_id": command.call_id, "when_type": "Periodic", "when": when}


def milliseconds(time: float) -> int:
    """Return the smallest number of milliseconds that is not more than NOISE before `time` (s).

    Batsim's clock is late by the latency of its messages, usually 1e-10 s: times computed from it that are just after a
    whole millisecond are meant to be that millisecond.
    """
    nearest = round(time * 1000)
    return nearest if nearest / 1000 >= time - NOISE else nearest + 1


def period_fault(period: float, times: int | None) -> str | None:
    """Return the rule that a period (s) breaks: it must be whole milliseconds."""
    if not 0.001 <= period < math.inf or abs(period * 1000 - round(period * 1000)) > 1e-6:
        return f"the period must be a number of whole milliseconds, more than none, not {period!r} s"
    if times is not None and not 0 < times <= _MOST_TIMES:
        return f"the number of calls must be from 1 to {_MOST_TIMES}, not {times!r}"
    return None


def read_probe(timestamp: float, data: Data) -> CreateProbe:
    """Read CreateProbeEvent; rc2 supports only periodic reports of the accumulated energy of hosts."""
    only(data, _PROBE_MEMBERS)
    expected = {"metrics": "Power", "resources_type": "HostResources"}
    expected |= {f"{name}_type": kind for name, (kind, _) in _FIXED.items()}
    expected["data_accumulation_strategy_type"] = "ProbeDataAccumulation"
    expected["measurement_triggering_policy_type"] = "TemporalTriggerWrapper"
    for name, value in expected.items():
        if data.get(name, "Power" if name == "metrics" else None) != value:
            raise FieldError(name, f"must be {value}, the only one that Batsim 5 runs, not {shown(data.get(name))}")
    strategy = mapping(data, "data_accumulation_strategy")
    only(strategy, frozenset(_ACCUMULATION), "data_accumulation_strategy")
    if strategy.get("reset_mode_type") != "NoReset" or strategy.get("cumulative_function", "Sum") != "Sum":
        raise FieldError("data_accumulation_strategy", "must be a Sum with NoReset, the only one that Batsim 5 runs")
    trigger = mapping(data, "measurement_triggering_policy")
    if trigger.get("temporal_trigger_type") != "Periodic":
        raise FieldError("measurement_triggering_policy", "must be Periodic, the only one that Batsim 5 runs")
    summary = {name: kind for kind, name in _SUMMARIES.items()}.get(text(data, "resources_aggregation_function_type"))
    if summary is None:
        raise FieldError("resources_aggregation_function_type", f"must be {' or '.join(_SUMMARIES.values())}")
    try:
        watched = hosts(mapping(data, "resources"), "host_ids")
        period, times = _read_period(mapping(trigger, "temporal_trigger"), "temporal_trigger")
    except FieldError as error:
        raise FieldError(f"probe.{error.path}", error.rule) from None
    return CreateProbe(timestamp, _named(data, "probe_id"), watched, period, times, summary)


def write_probe(command: CreateProbe) -> dict[str, Any]:
    """Write the form that `read_probe` reads, including the members with a single supported value."""
    _check_name(command.probe_id, "probe_id")
    if not command.hosts:
        raise FieldError("resources.host_ids", "must name at least one host")
    trigger = {"temporal_trigger_type": "Periodic", "temporal_trigger": _write_period(command.period, command.times)}
    data: dict[str, Any] = {
        "probe_id": command.probe_id,
        "metrics": "Power",
        "resources_type": "HostResources",
        "resources": {"host_ids": str(command.hosts)},
        "data_accumulation_strategy_type": "ProbeDataAccumulation",
        "data_accumulation_strategy": dict(_ACCUMULATION),
        "measurement_triggering_policy_type": "TemporalTriggerWrapper",
        "measurement_triggering_policy": trigger,
        "resources_aggregation_function_type": _SUMMARIES[command.summary],
        "resources_aggregation_function": {},
    }
    for name, (kind, value) in _FIXED.items():
        data[f"{name}_type"], data[name] = kind, dict(value)
    return data


def _read_period(data: Data, path: str) -> tuple[float, int | None]:
    """Return the period in seconds, and the number of repetitions."""
    only(data, frozenset({"period", "offset", "time_unit", "mode_type", "mode"}), path)
    if data.get("offset", 0) != 0:
        raise FieldError(f"{path}.offset", "must be 0, the only one that Batsim 5 runs")
    period, mode, kind = _unsigned(data, "period"), mapping(data, "mode"), text(data, "mode_type")
    if not period:
        raise FieldError(f"{path}.period", "must be greater than 0")
    if kind == "Infinite":
        return period / _units(data), None
    if kind != "FinitePeriodNumber":
        raise FieldError(f"{path}.mode_type", f"must be Infinite or FinitePeriodNumber, not {shown(kind)}")
    return period / _units(data), _unsigned(mode, "nb_periods")


def _write_period(period: float, times: int | None) -> dict[str, Any]:
    fault = period_fault(period, times)
    if fault is not None:
        raise FieldError("period", fault)
    data: dict[str, Any] = {"period": round(period * 1000), "offset": 0, "time_unit": "Millisecond"}
    if times is None:
        return {**data, "mode_type": "Infinite", "mode": {}}
    return {**data, "mode_type": "FinitePeriodNumber", "mode": {"nb_periods": times}}


def _units(data: Data) -> int:
    unit = data.get("time_unit", "Second")
    if type(unit) is not str or unit not in _UNITS:
        raise FieldError("time_unit", f"must be {' or '.join(_UNITS)}, not {shown(unit)}")
    return _UNITS[unit]


def _unsigned(data: Data, key: str) -> int:
    value = data.get(key, 0)
    if type(value) is not int or not 0 <= value <= _MOST:
        raise FieldError(key, f"must be a whole number from 0, not {shown(value)}")
    return value


def _named(data: Data, key: str) -> str:
    name = text(data, key)
    _check_name(name, key)
    return name


def _check_name(name: str, key: str) -> None:
    if not name:
        raise FieldError(key, "must not be empty: Batsim would abort")
