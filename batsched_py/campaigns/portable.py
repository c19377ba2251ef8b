"""What is handed to another process: classes and functions of scripts, notebooks and files go with their code."""

from __future__ import annotations

import os
import sys
from typing import Any, get_type_hints

import cloudpickle

from batsched_py.errors import OptionError
from batsched_py.scheduling.base import Scheduler


def check_portable(thing: object, name: str) -> None:
    """Make the thing ready to be pickled; OptionError, with its name, if it cannot be."""
    module = sys.modules.get(getattr(thing, "__module__", ""))
    if module is not None and os.sep in module.__name__:  # loaded from a file: no other process finds it by this name
        cloudpickle.register_pickle_by_value(module)
    try:
        if isinstance(thing, type) and issubclass(thing, Scheduler):
            _resolve_options(thing)
        cloudpickle.dumps(thing)
    except Exception as error:  # pickle raises whatever a __reduce__ raises
        why = " ".join(f"{type(error).__name__}: {error}".split())
        advice = "processes=None runs it in this one"
        raise OptionError(f"{name}: cannot be handed to another process: {why}; {advice}") from error


def _resolve_options(scheduler: type[Scheduler[Any]]) -> None:
    """Replace annotations that are text by types: names in them mean nothing without the script or the notebook."""
    options = scheduler.options_type
    if options.__module__ == "__main__" or os.sep in options.__module__:
        options.__annotations__ = get_type_hints(options)
