"""Site of a platform: hosts as their properties describe them, for leases and for jobs with demands alike."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.errors import OptionError
from batsched_py.leases.site import Site, host_resources
from batsched_py.model.host_capacities import host_capacity
from batsched_py.scheduling.view import View


def platform_site(numbers: Sequence[int], view: View) -> Site:
    """Return the site of these hosts; with columns for tasks and GPUs where jobs may share hosts, or hosts have GPUs.

    OptionError names the host, the property and the rule.
    """
    exclusive, resources, capacities = not view.compute_sharing, [], []
    for number in numbers:
        host = view.hosts[number]
        try:
            resources.append(host_resources({**host.zone_properties, **host.properties}, host.cores))
            capacities.append(host_capacity(host.properties, host.zone_properties, host.cores))
        except ValueError as error:
            raise OptionError(f"host {host.name}: property {error}") from None
    site = Site.of(resources, exclusive=exclusive and not view.shares_tasks)
    if not view.shares_tasks and not any(capacity.gpus for capacity in capacities):
        return site
    try:
        return site.with_tasks(capacities, view.licences, sharing=not exclusive)
    except ValueError as error:
        raise OptionError(f"property {error}") from None
