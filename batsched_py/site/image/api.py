"""The parts of images that others use, in one place."""

from __future__ import annotations

from batsched_py.site.image.files import Past
from batsched_py.site.image.graph import attributes, is_exhausted, is_fixed, is_plain, ordered, parts
from batsched_py.site.image.keeper import EVERY, ImageKeeper, SpoiledStateError
from batsched_py.site.image.kinds import STATELESS, Constants
from batsched_py.site.image.writing import addressed

__all__ = [
    "EVERY",
    "STATELESS",
    "Constants",
    "ImageKeeper",
    "Past",
    "SpoiledStateError",
    "addressed",
    "attributes",
    "is_exhausted",
    "is_fixed",
    "is_plain",
    "ordered",
    "parts",
]
