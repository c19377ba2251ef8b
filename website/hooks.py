"""The site is made of what GitHub shows: docs/README.md is its navigation, and files that pages link to come along."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TypeAlias

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]

#: Where on the site the files stand that are not in docs/.
REPOSITORY = "repository"

#: What the path of a file that is not a page ends in on the site.
LISTING = ".source.md"

#: How a file is shown that is not a page: what it is written in, by the end of its name.
LANGUAGES = {".py": "python", ".toml": "toml", ".yml": "yaml", ".yaml": "yaml", ".json": "json", ".xml": "xml"}

#: A title, and the pages under it by theirs.
Group: TypeAlias = dict[str, list[dict[str, str]]]

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_ENTRY = re.compile(r"^(?:\| |\d+\. |\* )\[([^\]]+)\]\(([^)#]+\.md)(?:#[^)]*)?\)", re.MULTILINE)
_LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
_FENCE = re.compile(r"^(`{3,}).*?^\1$", re.DOTALL | re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The headings of docs/README.md are the groups of the navigation, their entries the pages."""
    index = (Path(config.docs_dir) / "README.md").read_text(encoding="utf-8")
    config.nav = [{"Home": "README.md"}, *navigation(index)]
    return config


def navigation(index: str) -> list[Group]:
    """What mkdocs calls `nav`: from the first link of each row of a table, or item of a list, under each heading."""
    _, *parts = _HEADING.split(index)
    return [
        {title: [{name: place(absolute("docs/README.md", path))} for name, path in _ENTRY.findall(text)]}
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    ]


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Files outside of docs/ that a page links to are pages too, and whatever they link to. And the style sheet."""
    files.append(File.generated(config, "assets/site.css", abs_src_path=str(Path(__file__).with_name("site.css"))))
    todo = [(f"docs/{file.src_uri}", file.content_string) for file in files.documentation_pages()]
    known = {name for name, _ in todo} | {f"docs/{file.src_uri}" for file in files}
    while todo:
        name, text = todo.pop()
        for target in sorted(targets(name, text) - known):
            known.add(target)
            path = ROOT / target
            if not path.exists():
                continue  # mkdocs says so
            content = as_page(path)
            files.append(File.generated(config, place(target), content=content, inclusion=InclusionLevel.NOT_IN_NAV))
            todo.append((target, content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links between docs/ and the rest of the repository lead to where these files stand on the site.

    The search leaves listings out: words that pages explain stand in tests more often.
    """
    del config, files
    here = page.file.src_uri
    if here.endswith(LISTING):
        page.meta["search"] = {"exclude": True}
    name = here.removeprefix(f"{REPOSITORY}/").removesuffix(LISTING) if outside(here) else f"docs/{here}"
    return moved(name, markdown)


def outside(src_uri: str) -> bool:
    """True for pages that do not stand in docs/."""
    return src_uri.startswith(f"{REPOSITORY}/")


def place(name: str) -> str:
    """The page's path on the site, before it is HTML, of a file of the repository."""
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    return f"{REPOSITORY}/{name}" if name.endswith(".md") else f"{REPOSITORY}/{name}{LISTING}"


def as_page(path: Path) -> str:
    """A page as it is, of a folder the list of its files, of anything else a listing."""
    name = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        inside = sorted(file.name for file in path.iterdir() if file.is_file())
        return "\n".join([f"# {name}\n", *(f"* [{file}]({path.name}/{file})" for file in inside)])
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    return f"# {name}\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{text}````\n"


def has_links(name: str) -> bool:
    """True for pages and folders; brackets in a source are no links."""
    return name.endswith(".md") or (ROOT / name).is_dir()


def targets(name: str, text: str) -> set[str]:
    """The files of the repository that a page links to, by their paths from the root."""
    if not has_links(name):
        return set()
    found = {absolute(name, link) for _, link, _, _ in _LINK.findall(_FENCE.sub("", text)) if local(link)}
    return {target for target in found if not target.startswith("..")}


def local(link: str) -> bool:
    """True if it leads to a file of the repository."""
    return not re.match(r"[a-z]+:", link)


def absolute(name: str, link: str) -> str:
    """A file's path from the repository's root, from a page's and the link in it."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), link))


def moved(name: str, text: str) -> str:
    """The page with its links as they must be on the site; blocks of code stay as they are."""
    if not has_links(name):
        return text

    def relinked(found: re.Match[str]) -> str:
        before, link, anchor, after = found.groups()
        if not local(link):
            return found[0]
        target = absolute(name, link)
        if name.startswith("docs/") and target.startswith("docs/"):
            return found[0]
        return before + posixpath.relpath(place(target), posixpath.dirname(place(name)) or ".") + (anchor or "") + after

    pieces, end = [], 0
    for fence in _FENCE.finditer(text):
        pieces += [_LINK.sub(relinked, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*pieces, _LINK.sub(relinked, text[end:])])
