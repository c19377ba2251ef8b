"""Policies of resources: rules by which they refuse requests (L20), from properties of hosts or from options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from batsched_py.collection.resources import Policy
from batsched_py.collection.tokens import Request
from batsched_py.errors import PlanError
from batsched_py.named import Named, failed
from batsched_py.queries.records import POLICIES
from batsched_py.queries.values import parse_number

_HOURS: Final = re.compile(r"(\d{1,2})-(\d{1,2})")
_HOUR: Final = 3600.0
_DAY: Final = 24 * _HOUR


class MaxJobs:
    """A limit on the number of simultaneous reservations."""

    def __init__(self, most: int) -> None:
        self._most = most

    def refuses(self, request: Request, now: float, *, held: int, starts: bool) -> bool:  # noqa: ARG002
        """Return whether the limit is reached."""
        return not starts and held >= self._most


class Allowed:
    """An allow list of users, classes or origins."""

    def __init__(self, member: str, names: str) -> None:
        """Create the list for a member of requests, from names separated by blanks or commas."""
        self._member, self._names = member, frozenset(names.replace(",", " ").split())

    def refuses(self, request: Request, now: float, *, held: int, starts: bool) -> bool:  # noqa: ARG002
        """Return whether the requester is not listed or unknown."""
        return getattr(request, self._member) not in self._names


class UserPolicy:
    """A user's policy: an object of a class `file.py:Class` with the method `refuses`.

    Its errors are reported with its name.
    """

    def __init__(self, name: str, policy: Policy) -> None:
        self._name, self._policy = name, policy

    def refuses(self, request: Request, now: float, *, held: int, starts: bool) -> bool:
        """Return its answer."""
        try:
            return bool(self._policy.refuses(request, now, held=held, starts=starts))
        except Exception as error:
            raise failed(f"policy {self._name}", error) from error


#: Creates a policy from the properties of a host and a source of random numbers from 0 to 1; None for none.
MakePolicy = Callable[[Mapping[str, object], Callable[[], float]], Policy | None]


def _no_policy(properties: Mapping[str, object], draw: Callable[[], float]) -> Policy | None:  # noqa: ARG001
    return None


def _adopted(name: str, make: Callable[..., Policy]) -> MakePolicy:
    def make_policy(properties: Mapping[str, object], draw: Callable[[], float]) -> Policy | None:
        try:
            policy = make(properties, draw)
        except Exception as error:
            raise failed(f"policy {name}", error) from error
        if not callable(getattr(policy, "refuses", None)):
            raise PlanError(f"policy {name}: its objects must have a method refuses(request, now, *, held, starts)")
        return UserPolicy(name, policy)

    return make_policy


#: User-defined policies, created for each host.
POLICIES_OF_HOSTS: Final[Named[MakePolicy]] = Named(
    "policy", {"none": _no_policy}, ("properties", "draw"), _adopted, "file.py:Class"
)


class AllowedHours:
    """Opening hours: refuses starts outside of them; the simulation begins at midnight."""

    def __init__(self, first: int, last: int) -> None:
        """Set the hours from `first` to `last`, 0 to 24, `last` excluded; it may be below `first`, to span midnight."""
        self._first, self._last = first, last

    def refuses(self, request: Request, now: float, *, held: int, starts: bool) -> bool:  # noqa: ARG002
        """Return whether the start is outside."""
        hour = (now if starts else request.start) / _HOUR % 24
        inside = self._first <= hour < self._last
        if self._last < self._first:
            inside = hour >= self._first or hour < self._last
        return not inside

    def opens(self, now: float) -> float:
        """Return the next instant after `now` at which the hours begin."""
        day = _DAY * (now // _DAY)
        begin = day + self._first * _HOUR
        return begin if begin > now else begin + _DAY


class Moody:
    """Random refusals of requests and starts."""

    def __init__(self, share: float, draw: Callable[[], float]) -> None:
        """Set the share to refuse, from 0 to 1, and the source of random numbers from 0 to 1."""
        self._share, self._draw = share, draw

    def refuses(self, request: Request, now: float, *, held: int, starts: bool) -> bool:  # noqa: ARG002
        """Return whether a random draw refuses."""
        return self._draw() < self._share


def read_policies(properties: Mapping[str, object], draw: Callable[[], float]) -> list[Policy]:
    """Return the policies given by the properties of a host; ValueError names the property and the rule."""
    found: list[Policy] = []
    if "max_jobs" in properties:
        most = parse_number(str(properties["max_jobs"]))
        if not isinstance(most, int) or most < 0:
            raise ValueError(f"max_jobs must be a whole number from 0, not {properties['max_jobs']!r}")
        found.append(MaxJobs(most))
    found += [Allowed(member, str(properties[name])) for name, member in POLICIES.items() if name in properties]
    if "allowed_hours" in properties:
        hours = _HOURS.fullmatch(str(properties["allowed_hours"]))
        if hours is None or max(int(hours[1]), int(hours[2])) > 24:
            raise ValueError(f"allowed_hours must be like 8-18, not {properties['allowed_hours']!r}")
        found.append(AllowedHours(int(hours[1]), int(hours[2])))
    if "refuse" in properties:
        share = parse_number(str(properties["refuse"]))
        if share is None or not 0 <= share <= 1:
            raise ValueError(f"refuse must be a share from 0 to 1, not {properties['refuse']!r}")
        found.append(Moody(share, draw))
    return found
