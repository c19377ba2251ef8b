"""The report of KTH-SP2 under EASY, in a real browser: small, quickly made, drawn without an error or a request."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from batsched_py.results.file_forms import BATSIM_4
from batsched_py.results.result_files import write_jobs, write_schedule
from tests.acceptance.check import Check, same
from tests.acceptance.published import LOGS, simulate_log
from tests.browser import NONE, Browser, browsing, executables

#: The most bytes of the page, and the most seconds of making it.
MOST_BYTES: Final = 5_000_000
MOST_SECONDS: Final = 10.0

#: Script of a reader who moves through so many jobs: draws ten frames, and returns the most milliseconds of one.
_FRAMES: Final = """
const gantt = report.gantts[0], times = [];
for (let i = 0; i < 10; i++) {
  report.view = { ...report.full, begin: report.full.end * i / 1000 };
  gantt.draw();
  times.push(gantt.drawn.milliseconds);
}
return Math.max(...times);
"""


def report_page(traces: Path) -> Iterator[Check]:
    """All checks; without a browser, those of the file only, and why."""
    log = LOGS[0]
    with TemporaryDirectory() as name:
        folder = Path(name)
        result = simulate_log(traces, log, "request", {})
        write_jobs(folder / f"easy{BATSIM_4.jobs}", result)
        write_schedule(folder / f"easy{BATSIM_4.schedule}", result)
        page = folder / "report.html"
        command = [sys.executable, "-m", "batsched_py.cli", "report", str(folder / "easy"), "-o", str(page)]
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds, size = time.perf_counter() - began, page.stat().st_size
        what = f"report of {log.name}, easy"
        yield Check(f"{what}: seconds to make", f"< {MOST_SECONDS:.0f}", f"{seconds:.1f}", seconds < MOST_SECONDS)
        yield Check(f"{what}: bytes", f"< {MOST_BYTES}", str(size), size < MOST_BYTES)
        if executables() is None:
            yield Check(f"{what}: in a browser", "drawn", f"not tried: {NONE}", holds=True)
            return
        with browsing(folder / "profile") as browser:
            browser.open(page)
            yield from _drawn(browser, page, what, log.jobs)


def _drawn(browser: Browser, page: Path, what: str, jobs: int) -> Iterator[Check]:
    complaints, requests = browser.complaints(), [url for url in browser.requests() if url != page.as_uri()]
    outside = [url for url in requests if not url.startswith(("data:", "blob:"))]
    yield Check(f"{what}: errors and warnings in the console", "none", "; ".join(complaints) or "none", not complaints)
    yield Check(f"{what}: requests", "none", "; ".join(outside) or "none", not outside)
    yield same(f"{what}: jobs in the Gantt chart", jobs, browser.ask("new Set(report.gantts[0].run.owner).size"))
    lines = browser.ask("document.querySelectorAll('.scatterlayer path.js-line').length")
    yield same(f"{what}: lines in the other charts", 4, lines)
    busy = browser.ask(
        "(({ raster, drawn }) => raster.busy.reduce((sum, part) => sum + part, 0) * drawn.step"
        " / raster.rows / report.full.end)(report.gantts[0])"
    )
    mean = browser.ask("report.runs[0].busy.mean(0, report.full.end) / report.runs[0].hosts")
    yield Check(f"{what}: utilisation in the heat map", f"{mean:.4f}", f"{busy:.4f}", abs(busy - mean) < 1e-4)
    slowest = browser.driver.execute_script(_FRAMES)
    yield Check(f"{what}: milliseconds of a frame", "told only", f"{slowest:.0f}", holds=True)
