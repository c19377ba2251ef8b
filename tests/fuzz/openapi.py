"""`make schema`: let schemathesis ask a site whatever its OpenAPI description allows, and what it does not.

    python -m tests.fuzz.openapi .venv-schemathesis/bin/st

Exit code 1 if an answer is none that the description promises.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from batsched_py.site.client import SiteClient
from tests.site_process import running_site

#: Checks that do not hold, and are not meant to: rules between members, and the clock, are in no description.
LEFT_OUT = ("positive_data_acceptance",)
#: Numbers and names of what a site has before it is asked: half of the paths have one of them.
THERE = """\
[dictionaries.numbers]
values = [1, 2, 3, 4]
[dictionaries.vms]
values = ["vm", "a", "b"]
[parameters]
"path.number" = { dictionary = "numbers", probability = 0.5 }
"path.vm" = { dictionary = "vms", probability = 0.5 }
"""
#: An endless answer, and a call after which there are no others.
NOT_ASKED = ("/api/events", "/api/close")


def fill(client: SiteClient) -> None:
    """Request leases and reservations, and experiments held by a break, with a start ahead, and that fail."""
    entries = [{"at": 10, "run": "x", "takes": 5}, {"at": 15, "break": True}]
    held = [{"compute": {"name": name, "locations": ["here"], "timeline": entries}} for name in ("a", "b")]
    nowhere = [{"compute": {"name": "a", "constraint": "$cores >= 4096", "timeline": entries}}]
    base = {"name": "x", "duration": 6_000_000}
    for more in (
        {"resources": held},
        {"resources": held, "start": 60_000_000},
        {"resources": nowhere},
        {"resources": held},
    ):
        client.post("managed_experiments", body=base | more)
    for start in ({}, {"start": 90_000_000}):
        client.post("reservations", body=base | {"resources": held[:1]} | start)
    for duration in (1, 9e6, 9e6, 9e6):
        client.post("api", "leases", body={"nodes": 1, "duration": duration})


def main() -> int:
    """Run it as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schemathesis", type=lambda path: Path(path).absolute(), help="its command")
    parser.add_argument("--examples", type=int, default=100, help="of each call")
    given = parser.parse_args()
    options = ["--max-examples", str(given.examples), "--exclude-checks", ",".join(LEFT_OUT)]
    options += [word for path in NOT_ASKED for word in ("--exclude-path", path)]
    options += ["-H", "X-Bonfire-Asserted-Id: ann"]
    timelines = '{"vms": {"vm": [{"at": 10, "run": "a", "takes": 5}, {"at": 15, "break": true}]}}'
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = folder / "schemathesis.toml"
        config.write_text(THERE)
        runs: tuple[tuple[tuple[str, ...], list[str]], ...] = (
            (("-s", "timelines", "-o", "file=timelines.json"), []),
            (("-s", "experiments", "-o", "reservations=on"), []),
        )
        codes = list[int]()
        for number, (algorithm, more) in enumerate(runs):
            (folder / str(number)).mkdir()
            (folder / str(number) / "timelines.json").write_text(timelines)
            with running_site(folder / str(number), "--pace", "1000", "--rate", "1000000", *algorithm) as found:
                if "experiments" in algorithm:
                    fill(found.client("ann"))
                asked = ["run", f"{found.url}/openapi/openapi.json", *options, *more]
                command = [str(given.schemathesis), "--config-file", str(config), *asked]
                codes.append(subprocess.run(command, cwd=folder, check=False).returncode)
        return max(codes)


if __name__ == "__main__":
    sys.exit(main())
