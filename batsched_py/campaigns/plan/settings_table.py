"""The settings of a study file: values for the options of the simulator, whose combinations are all run."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping
from functools import partial
from itertools import product
from typing import Any, Final, Literal, get_type_hints

from batsched_py.campaigns.plan.campaign import SimulatorName, SimulatorSettings
from batsched_py.campaigns.plan.study_tables import StudyFile, member
from batsched_py.errors import OptionError
from batsched_py.model.settings import FROM_FILES, NETWORK, ON_FAILURE, Settings
from batsched_py.protocol.dialects import DIALECTS
from batsched_py.reading.limits import Limits
from batsched_py.session.clock import parse_clock
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown

#: Settings that a campaign does not have: they differ from run to run, need more than a run, or belong in the platform
#: file.
_ABSENT: Final = frozenset(
    {"workload_names", "scheduler_config", "trace_machine_states", *FROM_FILES}
    | {"redis_hostname", "redis_port", "redis_prefix", "simgrid_config"}
)
#: Settings of the simulator -> their types.
_TYPES: Final[Mapping[str, Any]] = {
    name: hint for name, hint in get_type_hints(Settings).items() if name not in _ABSENT
} | {"roles": dict[str, Literal["master", "storage", "compute_node"]]}
_OTHERS: Final = {"clock": str, "events": str, "carbon": str, "price": str, "simulator": SimulatorName}
#: Settings that are files.
_PATHS: Final = ("events", "carbon", "price")
#: Settings of the embedded simulator that real Batsim does not have.
_SIMULATED: Final = frozenset(
    {"protocol", "on_failure", "network", "message_latency", "feedback", "allow_oversized", "max_calls"}
)
#: Settings with a fixed set of words -> the words.
_WORDS: Final[Mapping[str, Collection[str]]] = {
    "protocol": DIALECTS,
    "on_failure": ON_FAILURE,
    "network": NETWORK,
}


def read_settings(file: StudyFile, raw: Mapping[str, Any], limits: Limits) -> tuple[SimulatorSettings, ...]:
    """Read the table `settings`: a record for each combination of the values; `limits` bounds their number.

    ConfigurationError.
    """
    values: dict[str, tuple[Any, ...]] = {}
    known = {**_TYPES, **_OTHERS}
    for name, given in raw.items():
        read = partial(_values, file, name, given, known)
        values[name] = file.attempt(read, ())
    if file.faults.is_faulty:  # combinations of faulty values would have faults of their own
        return ()
    if math.prod(map(len, values.values())) > limits.runs:
        raise file.error("settings", f"have too many combinations: a campaign {limits.rule('runs')}")
    return tuple(
        _settings(file, dict(zip(values, combination, strict=True))) for combination in product(*values.values())
    )


def _values(file: StudyFile, name: str, value: Any, known: Mapping[str, Any]) -> tuple[Any, ...]:
    place = member("settings", name)
    if name not in known:
        raise file.error(place, unknown(name, known))
    several = (value,) if isinstance(value, dict) and name == "roles" else file.values(value, place)
    return tuple(file.typed(value, known[name], place) for value in several)


def _settings(file: StudyFile, settings: Mapping[str, Any]) -> SimulatorSettings:
    _check(file, settings)
    _check_signals(file, settings)
    paths = {name: file.resolve(settings[name], member("settings", name)) for name in _PATHS if name in settings}
    return SimulatorSettings(
        settings=Settings(**{name: value for name, value in settings.items() if name in _TYPES}),
        **paths,
        clock=settings.get("clock", "zero"),
        simulator=settings.get("simulator", "embedded"),
        given=settings,
    )


def _check_signals(file: StudyFile, settings: Mapping[str, Any]) -> None:
    for name in _PATHS[1:]:
        if name in settings and not settings.get("energy"):
            raise file.error(member("settings", name), "goes with energy = true: it measures energy")


def _check(file: StudyFile, settings: Mapping[str, Any]) -> None:
    """Check the rules that types do not express. ConfigurationError."""
    for name, words in _WORDS.items():
        if name in settings and settings[name] not in words:
            raise file.error(member("settings", name), f"must be {' or '.join(words)}, not {shown(settings[name])}")
    if settings.get("machines") is not None and settings["machines"] < 1:
        raise file.error("settings.machines", f"must be 1 or more, not {settings['machines']}")
    if settings.get("max_calls", 0) < 0:
        raise file.error("settings.max_calls", f"must be 0 or more, not {settings['max_calls']}")
    if "acknowledge_dynamic_jobs" in settings and not settings.get("dynamic_jobs"):
        raise file.error("settings.acknowledge_dynamic_jobs", "goes with dynamic_jobs = true")
    if settings.get("simulator") == "batsim":
        for name in sorted(_SIMULATED & set(settings)):
            raise file.error(member("settings", name), "is for the embedded simulator: real Batsim has no such option")
    try:
        parse_clock(settings.get("clock", "zero"), time.perf_counter)
    except OptionError as error:
        raise file.error("settings.clock", str(error).removeprefix("clock: ")) from error
