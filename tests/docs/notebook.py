"""The notebook of the docs: run from its cells, and written as a page by `python -m tests.docs.notebook`."""

from __future__ import annotations

import base64
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from tests.clone import ROOT

NOTEBOOK: Final = ROOT / "docs" / "notebook.ipynb"
PAGE: Final = ROOT / "docs" / "notebook.md"
#: Of the page's pictures, with a number.
PICTURE: Final = "notebook-{}.png"
#: Seconds that a cell may take.
PATIENCE: Final = 300


def notebook_of_the_docs() -> Any:
    """Return the notebook as it is kept, with what its cells showed."""
    return nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]


def execute(notebook: Any, folder: Path) -> Any:
    """Run the cells in a folder, and return the notebook with what they show."""
    done = nbformat.from_dict(notebook)  # type: ignore[no-untyped-call]
    client = NotebookClient(done, timeout=PATIENCE, resources={"metadata": {"path": str(folder)}})
    client.km = AsyncKernelManager(transport="ipc", ip=str(folder / "kernel"))
    client.execute(env={**os.environ, "IPYTHONDIR": str(folder / "ipython"), "PYTHONSAFEPATH": "1"})
    for cell in done.cells:
        cell.metadata.pop("execution", None)  # when it ran
    return done


def as_page(notebook: Any) -> tuple[str, dict[str, bytes]]:
    """Return the notebook as Markdown, with what cells showed below them; and its pictures, by their names."""
    pictures: dict[str, bytes] = {}
    parts = [part for cell in notebook.cells for part in _parts(cell, pictures)]
    return "\n\n".join(parts) + "\n", pictures


def _parts(cell: Any, pictures: dict[str, bytes]) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source.strip()
        return
    yield f"```python\n{cell.source.strip()}\n```"
    for output in cell.outputs:
        if output.output_type == "stream":
            yield f"```text\n{output.text.rstrip()}\n```"
            continue
        data = output.data
        if "image/png" in data:
            name = PICTURE.format(len(pictures) + 1)
            pictures[name] = base64.b64decode(data["image/png"])
            yield f"![{cell.metadata['alt']}]({name})"
        elif "text/html" in data:
            yield _table(data["text/html"])
        else:
            yield f"```text\n{data['text/plain'].rstrip()}\n```"


def _table(html: str) -> str:
    """Return a table without styles and blank lines, which would end HTML in Markdown."""
    text = re.sub(r"<style.*?</style>", "", html, flags=re.DOTALL)
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def main() -> None:
    """Run the notebook, and write it and its page."""
    with tempfile.TemporaryDirectory() as folder:
        done = execute(notebook_of_the_docs(), Path(folder))
    nbformat.write(done, NOTEBOOK)  # type: ignore[no-untyped-call]
    text, pictures = as_page(done)
    PAGE.write_text(text)
    for name, content in pictures.items():
        (PAGE.parent / name).write_bytes(content)


if __name__ == "__main__":
    main()
