"""Warnings of the algorithm of a site: shown once, with the time, and not again when the site is replayed."""

from __future__ import annotations

from pathlib import Path

from tests.site_process import running_site

ALGORITHM = """
from batsched_py.api import Plan, Scheduler, View


class Loud(Scheduler):
    name = "loud"
    has_begun = False
    def decide(self, view: View, plan: Plan) -> None:
        if not self.has_begun:
            plan.warn("it begins")
            self.has_begun = True
        for job in view.arrived:
            plan.warn(f"met {job.id}")
            plan.reject(job, "it is loud")
"""


def _warnings(text: str) -> list[str]:
    return [line.partition("warning: t=")[2].partition(": ")[2] for line in text.splitlines() if "warning: t=" in line]


def test_warnings_are_shown_and_those_of_the_past_are_not_shown_again(tmp_path: Path) -> None:
    """Those of the beginning, which are about options, are."""
    (tmp_path / "loud.py").write_text(ALGORITHM)
    options = ("-s", "loud.py:Loud", "--pace", "1000")
    with running_site(tmp_path, *options) as site:
        site.client().post("api", "jobs", body={"nodes": 1, "walltime": 10})
        assert site.process.stderr is not None
        lines = [next(site.process.stderr) for _ in range(2)]
        first = _warnings("".join([*site.told, *lines, site.end()]))
    with running_site(tmp_path, *options) as site:
        again = _warnings("".join(site.told) + site.end())
    assert first == ["it begins", "met site!1", "site!1 rejected: it is loud"]
    assert again == ["it begins"]
