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

from tests.site_process import running_site

#: Checks that do not hold, and are not meant to: rules between members, and the clock, are in no description.
LEFT_OUT = ("positive_data_acceptance",)
#: An endless answer, and a call after which there are no others.
NOT_ASKED = ("/api/events", "/api/close")


def main() -> int:
    """Run it as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schemathesis", type=lambda path: Path(path).absolute(), help="its command")
    parser.add_argument("--examples", type=int, default=100, help="of each call")
    given = parser.parse_args()
    options = ["--max-examples", str(given.examples), "--exclude-checks", ",".join(LEFT_OUT)]
    options += [word for path in NOT_ASKED for word in ("--exclude-path", path)]
    experiments = ["--include-path-regex", "^/managed_experiments", "-H", "X-Bonfire-Asserted-Id: ann"]
    timelines = '{"vms": {"vm": [{"at": 10, "run": "a", "takes": 5}, {"at": 15, "break": true}]}}'
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs: tuple[tuple[tuple[str, ...], list[str]], ...] = (
            (("-s", "timelines", "-o", "file=timelines.json"), []),
            (("-s", "experiments"), experiments),
        )
        codes = list[int]()
        for number, (algorithm, more) in enumerate(runs):
            (folder / str(number)).mkdir()
            (folder / str(number) / "timelines.json").write_text(timelines)
            with running_site(folder / str(number), "--pace", "1000", "--rate", "1000000", *algorithm) as found:
                command = [str(given.schemathesis), "run", f"{found.url}/openapi/openapi.json", *options, *more]
                codes.append(subprocess.run(command, cwd=folder, check=False).returncode)
        return max(codes)


if __name__ == "__main__":
    sys.exit(main())
