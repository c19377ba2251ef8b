"""Links between docs/ and the rest of the repository, and the navigation, as the site needs them."""

from __future__ import annotations

import pytest

from website.hooks import moved, navigation, place, targets


@pytest.mark.parametrize(
    ("page", "link", "on_the_site"),
    [
        ("docs/design.md", "../CONTRIBUTING.md", "repository/CONTRIBUTING.md"),
        ("docs/adr/0001-a.md", "../../README.md#try-it", "../repository/README.md#try-it"),
        ("docs/algorithms.md", "../schedulers/easy.py", "repository/schedulers/easy.py.source.md"),
        ("README.md", "docs/cli.md#serve", "../cli.md#serve"),
        ("README.md", "CHANGELOG.md", "CHANGELOG.md"),
        ("workloads/README.md", "../docs/reservations.md", "../../reservations.md"),
        ("docs/cli.md", "glossary.md", "glossary.md"),
        ("docs/cli.md", "https://example.org/a.md", "https://example.org/a.md"),
    ],
)
def test_a_link_leads_to_where_the_file_stands_on_the_site(page: str, link: str, on_the_site: str) -> None:
    """From pages of docs/ and from others, to both."""
    assert moved(page, f"see [it]({link}).") == f"see [it]({on_the_site})."


def test_blocks_of_code_are_left_alone() -> None:
    """A text that looks like a link there is none."""
    text = "[a](../README.md)\n\n```python\nx[0](../README.md)\n```\n"
    assert moved("docs/a.md", text) == text.replace("[a](../README.md)", "[a](repository/README.md)")
    assert targets("docs/a.md", "```python\nx[0](../README.md)\n```\n") == set()


def test_sources_are_pages_and_their_brackets_no_links() -> None:
    """A Python file has no links."""
    assert place("schedulers/easy.py") == "repository/schedulers/easy.py.source.md"
    assert targets("schedulers/easy.py", "[a](b.md)") == set()


def test_the_navigation_is_the_index() -> None:
    """The first link of each row or item, under its heading; not those in sentences."""
    index = "# T\n\n[x](x.md)\n\n## One\n\n| page |\n|---|\n| [A](a.md) | [b](b.md) |\n\n## Two\n\n1. [C](d/c.md)\n"
    assert navigation(index) == [{"One": [{"A": "a.md"}]}, {"Two": [{"C": "d/c.md"}]}]
