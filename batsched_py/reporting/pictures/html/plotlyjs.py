"""The text of plotly.js, from the installed package: the project carries none of it."""

from __future__ import annotations

from importlib.resources import files


def plotly_js() -> bytes:
    """As the package plotly brings it, minified. ImportError without the extra `report`."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_bytes()
