"""The site: built strictly from docs/, complete, and asking no other site for anything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType

import pytest

import batsched_py.api
import batsched_py.campaigns
import batsched_py.reporting.api
import batsched_py.testing
from tests.clone import ROOT, below
from tests.docs.site import read, target
from website.hooks import navigation

DOCS = ROOT / "docs"


def pages(site: Path) -> list[Path]:
    """Every page, but the one that a server shows for what is not there: its links begin at the server's root."""
    return sorted(page for page in site.rglob("*.html") if page.name != "404.html")


def test_each_page_of_docs_is_in_the_navigation_once(site: Path) -> None:
    """As the index has it."""
    groups = navigation((DOCS / "README.md").read_text())
    listed = [path for group in groups for entries in group.values() for entry in entries for path in entry.values()]
    pages = sorted(page.relative_to(DOCS).as_posix() for page in below("docs", "*.md"))
    assert sorted(["README.md", *listed]) == sorted([*pages, "repository/README.md"])
    shown = {target(site / "index.html", link)[0] for link in read(site / "index.html").navigation}
    built = {(site / page.replace("README.md", "index.md")).with_suffix(".html") for page in listed}
    assert built - shown == set()


def test_the_groups_are_those_that_readers_know() -> None:
    """Tutorials, guides, reference and explanation (https://diataxis.fr), and the decisions."""
    groups = [title for group in navigation((DOCS / "README.md").read_text()) for title in group]
    assert groups == ["Tutorials", "How-to guides", "Reference", "Explanation", "Decisions"]


def test_no_page_fetches_anything_from_another_site(site: Path) -> None:
    """Nor do the style sheets."""
    assert [
        (page.name, what) for page in pages(site) for what in read(page).fetched if re.match(r"(\w+:)?//", what)
    ] == []
    for sheet in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//", sheet.read_text()) == []


def test_each_link_of_the_site_leads_somewhere(site: Path) -> None:
    """To a file of it, and an anchor there: those of the API reference too, and those to files outside of docs/."""
    for page in pages(site):
        for link in [*read(page).links, *read(page).navigation, *read(page).fetched]:
            if re.match(r"\w+:", link):
                continue
            found, anchor = target(page, link)
            assert found.is_file(), f"{page.name}: {link}"
            assert not anchor or found.suffix != ".html" or anchor in read(found).anchors, f"{page.name}: {link}"


@pytest.mark.parametrize(
    ("page", "module"),
    [
        ("api", batsched_py.api),
        ("testing", batsched_py.testing),
        ("campaigns", batsched_py.campaigns),
        ("campaigns", batsched_py.reporting.api),
    ],
)
def test_each_public_name_is_in_the_api_reference(site: Path, page: str, module: ModuleType) -> None:
    """Under the name by which it is imported, or that of where it is made (which a module of its name hides)."""
    anchors = read(site / "reference" / f"{page}.html").anchors
    made = {name: getattr(getattr(module, name), "__module__", module.__name__) for name in module.__all__}
    assert {name for name in made if not {f"{module.__name__}.{name}", f"{made[name]}.{name}"} & anchors} == set()


def test_the_api_reference_says_what_comments_and_fields_say(site: Path) -> None:
    """`#:` above an attribute is its description, the fields of a fact are the arguments of its constructor."""
    text = re.sub(r"<[^>]+>", "", (site / "reference" / "api.html").read_text())
    assert "Selects a number of these hosts; None if the job should rather wait" in text
    assert "extra: Mapping[str, Any]," not in text, "a property is no argument"
    assert re.search(r"Slot\(\s*start: float,\s*end: float,\s*hosts: HostSet\s*\)", text)


def test_the_search_knows_pages_and_no_listings(site: Path) -> None:
    """Tests hold the words of all pages, more often than the pages themselves."""
    index = json.loads((site / "search" / "search_index.json").read_text())
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert {place for place in found if ".source." in place} == set()
    assert {"protocol.html", "reference/api.html", "repository/index.html", "repository/CONTRIBUTING.html"} <= found


def test_each_table_has_a_heading(site: Path) -> None:
    """An empty first row is a grey bar; whoever hears the page read is told nothing."""
    empty = re.compile(r"<thead>\s*<tr>(?:\s*<th[^>]*>\s*</th>)+\s*</tr>\s*</thead>")
    assert [page.name for page in pages(site) if empty.search(page.read_text())] == []


def test_the_readme_on_the_site_is_the_repositorys(site: Path) -> None:
    """Files outside of docs/ come along when a page links to them; sources are shown."""
    readme = read(site / "repository" / "index.html")
    assert "../first-algorithm.html" in readme.links
    assert "BUILT_INS" in re.sub(r"<[^>]+>", "", (site / "repository/schedulers/__init__.py.source.html").read_text())
