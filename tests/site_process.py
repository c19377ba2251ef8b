"""A live site in a process of its own, as a user starts it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from batsched_py.site.client import SiteClient
from tests.clone import ROOT
from tests.forked.program import ANEW, forked

#: The command that opens a site of four hosts.
SITE = ("site", "-p", str(ROOT / "platforms" / "tiny4.xml"))

#: What a site loads late, which takes a second.
LOADED = ("batsched_py.experiments.lease_manager", "batsched_py.site.api.server", "batsched_py.site.simulated")


class SiteProcess:
    """A site that answers.

    Attributes:
        url: of the site.
        process: to be killed.
        told: lines that it wrote before.
    """

    def __init__(
        self,
        folder: Path,
        options: Sequence[str],
        opened_by: Sequence[str] = SITE,
        files: int | None = None,
        output: IO[str] | None = None,
    ) -> None:
        """`files` is the number of files that it may have open; None for that of this process. `output`: its own."""
        program = forked(os.environ, *LOADED) if files is None else ANEW
        command = [*program, *opened_by, "--listen", "127.0.0.1:0", "--data", str(folder / "site"), *options]
        if files is not None:
            command = ["sh", "-c", 'ulimit -n "$0"; exec "$@"', str(files), *command]
        self.process = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE, text=True, cwd=folder)
        assert self.process.stderr is not None
        self.told = list[str]()
        for line in self.process.stderr:
            found = re.search(r"answers at (http://\S+)", line)
            if found is not None:
                self.url = found[1]
                return
            self.told.append(line)
        self.process.communicate()
        raise AssertionError("".join(self.told))

    def client(self, user: str = "", group: str = "", token: str = "") -> SiteClient:
        """Return a client of it."""
        return SiteClient(self.url, token, user, group, patience=60.0)

    def end(self) -> str:
        """Stop it; return what it has told, which must not be a warning or an error of Python."""
        self.process.terminate()
        _, told = self.process.communicate()
        assert not re.search(r"^Traceback|[a-z]Warning: ", told, re.MULTILINE), told
        return told

    def kill(self) -> None:
        """Kill it, as a failing machine would."""
        self.process.kill()
        self.process.communicate()


@contextmanager
def running_site(
    folder: Path, *options: str, opened_by: Sequence[str] = SITE, files: int | None = None
) -> Iterator[SiteProcess]:
    """Start a site, wait until it takes requests, and stop it if it runs still."""
    site = SiteProcess(folder, options, opened_by, files=files)
    try:
        site.client().get("healthz")
        yield site
    finally:
        if site.process.poll() is None:
            site.end()
