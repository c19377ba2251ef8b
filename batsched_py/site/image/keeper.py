"""The keeper of a site's image: it decides when one is written, and starts the site from it."""

from __future__ import annotations

import gc
import hashlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
import orjson

from batsched_py.site.image.files import (
    FORM,
    ImageContent,
    ImageHeader,
    Past,
    UnusableImageError,
    is_as_loaded,
    program,
    read_image,
    remove_halves,
    write_image,
)
from batsched_py.site.image.graph import Graph
from batsched_py.site.image.kinds import UnfitStateError
from batsched_py.site.image.reading import restore
from batsched_py.site.image.writing import describe

# An image is written by a fork of the site: it has the state of one moment at once, and the site goes on. The site has
# other threads, whose locks may stay locked in the fork. So the fork only reads objects of the simulation, by whose
# thread it was made, and writes one file. It closes all files that it has inherited, among them the lock of the folder
# and the sockets, as it may survive a site that is killed. What it writes then is still true, since an image is of a
# prefix of the journal.
#
# A process that is not finished is not waited for. The next image is written after the same number of messages, and
# after twenty times the time that the last one took, so that images take a twentieth of a processor at most.

#: Messages after which another image is written: they are repeated in about a second.
EVERY: Final = 1000
#: The shortest pause between two images, as a multiple of the time that the last one took.
_PATIENCE: Final = 20.0
#: Seconds until another try, if there can be no process now.
_PAUSE: Final = 60.0
#: Exit codes of a process that has written no image.
_UNFIT, _UNWRITTEN = 3, 4


class SpoiledStateError(Exception):
    """The state was changed by an image that turned out to be unusable: the site must begin anew."""


class ImagedSite(Protocol):
    """A site as the keeper sees it: its state, and its past, from which it goes on."""

    def state(self) -> Sequence[object]:
        """Return the objects that have all of the state, with nothing left of the message before."""

    def borders(self) -> Iterable[object]:
        """Return objects that refer to files, threads and callers."""

    def past(self) -> Past:
        """Return what the state follows from."""

    def messages(self) -> int:
        """Return the number of messages so far."""

    def notes(self) -> Mapping[str, Any]:
        """Return what the site knows besides the state, as JSON values."""

    def is_past(self, past: Past) -> bool:
        """Return whether journal and transcript begin with this past."""

    def skip(self, past: Past, notes: Mapping[str, Any]) -> None:
        """Take the requests of this past as done. Exception if the notes do not belong to it."""

    def resume(self, past: Past) -> None:
        """Go on after this past, with the state restored. Exception if the state does not belong to it."""


class ImageKeeper:
    """The images of a site; all methods are called by the simulation's thread.

    Args:
        path: the file of the image.
        about: the properties of the site, by name.
        site: the site.
        say: is called with a line about an image that cannot be used or written.
        every: the number of messages after which another one is written.

    Attributes:
        used: True if the site has gone on from an image.
    """

    def __init__(
        self,
        path: Path,
        about: Mapping[str, str],
        site: ImagedSite,
        say: Callable[[str], None],
        every: int = EVERY,
    ) -> None:
        self._path, self._site, self._say, self._every = path, site, say, every
        self._about = hashlib.sha256(orjson.dumps(dict(about), option=orjson.OPT_SORT_KEYS)).hexdigest()
        #: The objects that the start has made; None if there can be no image.
        self._graph: Graph | None = None
        #: When this began, on the wall clock: batsched-py was loaded before.
        self._begun = time.time()
        #: True once the start from an image has been tried, and if it went on from one.
        self._tried = self.used = False
        #: The number of messages of the latest image, and when the next one may be written.
        self._messages, self._next = 0, 0.0
        #: The process that writes one, the end of its pipe, and when it began.
        self._process: tuple[int, int, float] | None = None

    def begin(self) -> None:
        """Note the objects that a start makes, and go on from an image, if there is one that can be used.

        SpoiledStateError if the site must begin anew.
        """
        try:
            self._graph = Graph(self._site.state(), self._site.borders())
        except UnfitStateError as error:
            self._give_up(error)
            return
        if self._tried:
            return
        self._tried = True
        try:
            remove_halves(self._path)
            found = read_image(self._path, self._about, self._made())
            if found is None:
                return
            header, content = found
            del found
            if not self._site.is_past(header.past):
                raise UnusableImageError("does not follow from journal and transcript")
        except (UnusableImageError, OSError) as error:
            self._say(f"{self._path}: {error}; the whole journal is repeated")
            return
        self._restore(self._graph, header.past, content)

    def _restore(self, graph: Graph, past: Past, content: ImageContent) -> None:
        collects = gc.isenabled()
        gc.disable()
        try:
            self._site.skip(past, content.notes)  # first, for its memory
            restore(graph, content.state)
            self._site.resume(past)
        except Exception as error:
            self._say(f"{self._path}: is damaged ({type(error).__name__}: {error}); the whole journal is repeated")
            raise SpoiledStateError from error
        finally:
            if collects:
                gc.enable()
        self._messages, self.used = self._site.messages(), True

    def blame(self, error: Exception) -> None:
        """Note that the journal could not be repeated from the image on: the site begins anew, without it."""
        self._messages, self.used = 0, False
        self._say(f"{self._path}: the journal does not go on from it ({error}); the whole journal is repeated")

    def note(self) -> None:
        """Write an image in the background if it is time for another one."""
        if self._graph is None:
            return
        self._reap()
        if self._process is None and time.monotonic() >= self._next and self._is_due():
            self._start(self._graph)

    def end(self) -> None:
        """Write an image of the state at the end, unless the last one is nearly as good."""
        if self._process is not None:
            self._reap(wait=True)
        if self._graph is not None and self._is_due():
            try:
                self._write(self._graph)
            except UnfitStateError as error:
                self._give_up(error)
            except OSError as error:
                self._say(f"{self._path}: cannot be written: {error.strerror or error}")

    def _is_due(self) -> bool:
        if self._site.messages() - self._messages < self._every:
            return False
        if not is_as_loaded(self._begun):
            self._give_up("come from code of batsched-py that was replaced")
        return self._graph is not None

    def _made(self) -> str:
        assert self._graph is not None  # noqa: S101  # checked by the callers
        return hashlib.sha256(self._graph.describe().encode()).hexdigest()

    def _write(self, graph: Graph) -> None:
        """Write an image of the state now. UnfitStateError, OSError."""
        self._site.state()
        past, notes = self._site.past(), self._site.notes()
        content = orjson.dumps({"state": describe(graph), "notes": dict(notes)})
        digest = hashlib.sha256(content).hexdigest()
        write_image(self._path, ImageHeader(FORM, program(), self._about, self._made(), past, digest), content)

    def _start(self, graph: Graph) -> None:
        """Start a process that writes an image."""
        self._messages = self._site.messages()
        site = self._site
        site.state()
        past, notes, made, code = site.past(), dict(site.notes()), self._made(), program()
        try:
            reading, writing = os.pipe()
            process = os.fork()
        except OSError as error:
            self._next = time.monotonic() + _PAUSE
            self._say(f"{self._path}: cannot be written: {error.strerror or error}")
            return
        if not process:
            _write_apart(self._path, ImageHeader(FORM, code, self._about, made, past, ""), graph, notes, writing)
        os.close(writing)
        self._process = process, reading, time.monotonic()

    def _reap(self, *, wait: bool = False) -> None:
        """Note the end of the process, if it has ended."""
        if self._process is None:
            return
        process, reading, began = self._process
        ended, status = os.waitpid(process, 0 if wait else os.WNOHANG)
        if not ended:
            return
        with open(reading, "rb") as pipe:
            why = pipe.read().decode(errors="replace")
        self._process, self._next = None, time.monotonic() + _PATIENCE * (time.monotonic() - began)
        code = os.waitstatus_to_exitcode(status)
        if code == _UNFIT:
            self._give_up(why)
        elif code:
            self._say(f"{self._path}: cannot be written: {why or f'its process ended with {code}'}")

    def _give_up(self, why: object) -> None:
        self._graph = None
        self._say(f"{self._path}: the state has {why}: there are no images, and a start repeats the whole journal")


def _write_apart(path: Path, header: ImageHeader, graph: Graph, notes: Mapping[str, Any], pipe: int) -> None:
    """Write an image in a process of its own, and end it."""
    code = _UNWRITTEN
    try:
        gc.disable()  # or it would copy all of the memory
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, signal.SIG_DFL)
        os.closerange(3, pipe)
        os.closerange(pipe + 1, os.sysconf("SC_OPEN_MAX"))
        os.nice(10)
        content = orjson.dumps({"state": describe(graph), "notes": notes})
        digest = hashlib.sha256(content).hexdigest()
        write_image(path, msgspec.structs.replace(header, content=digest), content)
        code = 0
    except UnfitStateError as error:
        code = _UNFIT
        os.write(pipe, str(error).encode())
    except BaseException as error:  # noqa: BLE001  # it ends here, and its parent says why
        os.write(pipe, str(error).encode())
    finally:
        os._exit(code)
