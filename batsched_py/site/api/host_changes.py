"""Checks of requests that take hosts out of service, or return them."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta

from batsched_py.hostset import HostSet
from batsched_py.leases.drains import DRAIN_HOSTS, UNDRAIN_HOSTS
from batsched_py.model.external_event import MACHINE_AVAILABLE
from batsched_py.site.api.host_views import HostIndex
from batsched_py.site.api.problems import refuse
from batsched_py.site.site import Site

#: The largest number of characters of a set of hosts.
_LONGEST: Final = 10_000
#: An interval set of hosts.
HostsText = Annotated[str, Meta(min_length=1, max_length=_LONGEST)]


def hosts_to_take(site: Site, index: HostIndex, text: str, kind: str, member: str = "hosts") -> HostSet:
    """Return the hosts to drain or to fail, by the type of their event.

    RequestRefusedError, which names the member of the body, if the site cannot, or a host is in that state already.
    """
    hosts = _known(site, text, member)
    if kind == DRAIN_HOSTS:
        _check_drains(site)
    elif not site.fails_hosts:
        raise refuse(409, "hosts of this site fail in Batsim only: drain them")
    known = index.drained() if kind == DRAIN_HOSTS else index.failed()
    if same := hosts & known:
        raise refuse(409, f"host {same} is {'drained' if kind == DRAIN_HOSTS else 'unavailable'} already", member)
    return hosts


def hosts_to_return(site: Site, index: HostIndex, text: str, member: str = "hosts") -> list[tuple[str, HostSet]]:
    """Return the types of the events that return hosts to service, with their hosts.

    RequestRefusedError, which names the member of the body, if a host is in service.
    """
    hosts = _known(site, text, member)
    failed, drained = hosts & index.failed(), hosts & index.drained()
    if in_service := hosts - failed - drained:
        raise refuse(409, f"host {in_service} is in service", member)
    return [(kind, some) for kind, some in ((UNDRAIN_HOSTS, drained), (MACHINE_AVAILABLE, failed)) if some]


def _known(site: Site, text: str, member: str) -> HostSet:
    """Return the hosts of a text. RequestRefusedError."""
    try:
        hosts = HostSet.parse(text, len(site.hosts) - 1)
    except ValueError as error:
        raise refuse(422, str(error), member) from None
    if not hosts:
        raise refuse(422, "must name a host", member)
    return hosts


def _check_drains(site: Site) -> None:
    try:
        site.session.check_request(DRAIN_HOSTS, {}, site.inbox.now)
    except LookupError:
        raise refuse(409, f"the algorithm {site.settings.choice.algorithm} cannot drain hosts") from None
