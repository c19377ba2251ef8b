"""The state of a site for Prometheus: counters and gauges, computed when they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from batsched_py.hostset import HostSet
from batsched_py.site.api.host_views import under_way
from batsched_py.site.site import Site

_PREFIX: Final = "batsched_site"


class SiteCollector(Collector):
    """The numbers of a site. Requests and ended jobs are counted once, so that an answer costs the changes since."""

    def __init__(self, site: Site) -> None:
        self._site = site
        #: The numbers of requests and of ended jobs that are counted.
        self._requests = self._jobs = 0
        self._kinds, self._states = Counter[str](), Counter[str]()

    def collect(self) -> Iterator[Metric]:
        """Yield the current numbers."""
        self._catch_up()
        site, snapshot = self._site, self._site.board.snapshot
        yield GaugeMetricFamily(f"{_PREFIX}_ready", "1 if the site takes requests.", site.inbox.ready)
        yield GaugeMetricFamily(f"{_PREFIX}_simulated_seconds", "Simulated time.", site.inbox.now)
        pace = 0.0 if site.clock.paused else site.clock.pace
        yield GaugeMetricFamily(f"{_PREFIX}_pace", "Simulated seconds per second; 0 if paused.", pace)
        yield _counters("requests", "Accepted requests, by kind.", "kind", self._kinds)
        yield _counters("jobs_ended", "Jobs that have ended, by final state.", "state", self._states)
        yield _gauges(
            "jobs",
            "Jobs that wait and run.",
            {"waiting": len(snapshot.waiting), "running": len(snapshot.running)},
        )
        yield _gauges("hosts", "Hosts, by state.", self._hosts())

    def _catch_up(self) -> None:
        entries, board = self._site.inbox.entries, self._site.board
        while (entry := entries.get(self._requests + 1)) is not None:
            self._requests += 1
            self._kinds[entry.kind] += 1
        ended = board.snapshot.ended
        self._states.update(job.state for job in board.ended[self._jobs : ended])
        self._jobs = ended

    def _hosts(self) -> dict[str, int]:
        now = self._site.board.snapshot.hosts
        busy = HostSet.parse(now.busy) | under_way(self._site.board.snapshot)
        others = {name: HostSet.parse(getattr(now, name)) for name in ("unavailable", "switching", "asleep")}
        down = HostSet()
        for hosts in others.values():
            down |= hosts
        states = {"busy": len(busy - down)} | {name: len(hosts) for name, hosts in others.items()}
        return states | {"free": len(self._site.hosts) - len(busy | down)}


def _counters(name: str, text: str, label: str, values: Counter[str]) -> Metric:
    family = CounterMetricFamily(f"{_PREFIX}_{name}", text, labels=[label])
    for value, count in sorted(values.items()):
        family.add_metric([value], count)
    return family


def _gauges(name: str, text: str, values: dict[str, int]) -> Metric:
    family = GaugeMetricFamily(f"{_PREFIX}_{name}", text, labels=["state"])
    for value, count in values.items():
        family.add_metric([value], count)
    return family


def make_registry(site: Site) -> CollectorRegistry:
    """Return the numbers of a site for Prometheus, without those of its process."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(SiteCollector(site))
    return registry
