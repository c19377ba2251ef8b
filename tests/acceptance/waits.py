"""The ten longest waits of KTH-SP2 under EASY: a reason for each second, each checked against the schedule.

`python -m tests.acceptance.waits LOG`, where LOG is `KTH-SP2.swf.gz` or another log in SWF. Shows for each job how long
it waited for which reason, and exits with 1 if an explanation is not true.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from batsched_py.traces.swf import read_swf
from tests.wait_checks import Checker, longest

COUNT = 10
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="main" routing="Full">
<cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="1GBps" lat="1us"/>
<zone id="m" routing="None"><host id="master_host" speed="1Gf"/></zone>
</zone></platform>
"""


def program(folder: Path, *words: str) -> str:
    """Run a command and return its standard output."""
    command = [sys.executable, "-m", "batsched_py", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def main() -> int:
    """Run the log, explain its longest waits, and check them."""
    log = Path(sys.argv[1]).absolute()
    hosts = read_swf(log).machine_size
    table = Table("job", "wait [s]", "size", "intervals", "seconds by reason", "overtaken by", "")
    failed = 0
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "p.xml").write_text(PLATFORM.format(last=hosts - 1))
        program(folder, "convert", str(log), "-o", "w.json")
        program(folder, "simulate", "-p", "p.xml", "-w", "w.json", "-s", "easy", "-e", "run", "--quiet")
        checker = Checker(str(folder / "run"), hosts, easy=True)
        for job in longest(checker.jobs, COUNT):
            plain = json.loads(program(folder, "explain", "run", job, "--json"))
            seconds = Counter[str]()
            for one in plain["intervals"]:
                seconds[one["reason"]] += one["to"] - one["from"]
            told = ", ".join(f"{reason} {amount:.0f}" for reason, amount in seconds.items())
            try:
                checker.check(plain)
                verdict = "ok"
            except AssertionError as error:
                verdict, failed = f"FAILED: {error}", failed + 1
            ran = checker.jobs[job]
            waited, intervals = f"{ran.start - ran.submit:.0f}", str(len(plain["intervals"]))
            overtaken = str(len(plain["overtaken_by"]))
            table.add_row(job, waited, str(ran.size), intervals, told, overtaken, verdict)
    Console(width=150).print(table)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
