"""The documentation as a site: complete, without broken links or foreign addresses, served to anyone on this
machine and to nobody else's page."""

from __future__ import annotations

import importlib.util
import re
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import httpx2
import pytest

from tests.conftest import Crib as Home
from toolcrib.errors import ToolcribError
from toolcrib.web.answers import SECURITY
from toolcrib.web.serving import serve_page

ROOT = Path(__file__).parents[2]
LARGEST = 1024 * 1024
"""Bytes that the site may add to a wheel."""


def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_docs", ROOT / "scripts" / "build_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Read(HTMLParser):
    """The anchors, links and scripts of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.inline_scripts = 0
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors.add(given.get("id", ""))
        if tag == "a":
            self.links.append(given["href"])
        if tag in ("script", "img", "link"):
            self.loaded.append(given.get("src") or given.get("href", ""))
        self.inline_scripts += tag == "script" and "src" not in given


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("site") / "docs"
    builder().write(ROOT, folder)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Read]:
    return {file: Read(file) for file in sorted(site.rglob("*.html"))}


def local_links(pages: dict[Path, Read]) -> Iterator[tuple[Path, str]]:
    for file, page in pages.items():
        yield from ((file, link) for link in page.links if not re.match(r"\w+:", link))


def test_every_link_of_the_site_leads_to_a_page_and_an_anchor(pages: dict[Path, Read]) -> None:
    broken = []
    for file, link in local_links(pages):
        path, _, anchor = unquote(link).partition("#")
        target = (file.parent / path).resolve() if path else file
        if target not in pages or (anchor and anchor not in pages[target].anchors):
            broken.append(f"{file.name} → {link}")

    assert broken == []


def test_every_page_of_the_documentation_is_in_the_site_and_in_its_navigation(
    site: Path, pages: dict[Path, Read]
) -> None:
    sources = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    listed = {
        (file.parent / link).resolve()
        for file, link in local_links({site / "index.html": pages[site / "index.html"]})
    }

    assert [name for name in sources if not (site / name).with_suffix(".html").is_file()] == []
    assert [str(file.relative_to(site)) for file in pages if file not in listed] == []


def test_the_site_loads_only_its_own_files_and_runs_no_inline_script(pages: dict[Path, Read]) -> None:
    foreign = [(file.name, link) for file, page in pages.items() for link in page.loaded if ":" in link]
    missing = [
        (file.name, link)
        for file, page in pages.items()
        for link in page.loaded
        if not (file.parent / link).is_file()
    ]

    assert (foreign, missing) == ([], [])
    assert sum(page.inline_scripts for page in pages.values()) == 0


def test_the_page_links_to_pages_and_sections_that_exist(site: Path, pages: dict[Path, Read]) -> None:
    sources = "\n".join(file.read_text() for file in (ROOT / "frontend" / "src").rglob("*.tsx"))
    table = re.search(r"ERROR_PAGES[^{]*\{(.*?)\n\};", sources, re.DOTALL)
    assert table is not None
    by_kind = dict(re.findall(r'(\w+): "([^"]+)"', table[1]))
    linked = [*by_kind.values(), *re.findall(r'<LearnMore page="([^"]+)"', sources)]

    assert len(linked) > 30
    for link in linked:
        name, _, anchor = link.partition("#")
        assert anchor == "" or anchor in pages[site / name].anchors, link
        assert site / name in pages, link
    assert set(by_kind) <= {kind.kind for kind in subclasses(ToolcribError)}


def subclasses(kind: type[ToolcribError]) -> Iterator[type[ToolcribError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from subclasses(below)


def test_comments_of_the_sources_are_not_shown(site: Path) -> None:
    assert [file.name for file in site.rglob("*.html") if "<!--" in file.read_text()] == []


def test_the_site_is_small(site: Path, tmp_path: Path) -> None:
    packed = tmp_path / "site.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in site.rglob("*"):
            archive.write(file)

    assert packed.stat().st_size < LARGEST


@asynccontextmanager
async def visiting(home: Path, site: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a host that serves this folder, without a key."""
    async with (
        Home(home).open() as host,
        serve_page(host, port=0, docs=site) as served,
        httpx2.AsyncClient(base_url=served.base) as client,
    ):
        yield client


async def test_the_host_serves_the_site_without_a_key_but_with_all_headers(
    site: Path, tmp_path: Path
) -> None:
    async with visiting(tmp_path / "home", site) as client:
        bare = await client.get("/docs")
        found = [await client.get(path) for path in ("/docs/", "/docs/models.html", "/docs/search.json")]
        short = await client.get("/docs/models")
        gone = [await client.get(path) for path in ("/docs/gone", "/docs/%2e%2e/%2e%2e/home/mcp.json")]
        foreign = await client.get("/docs/", headers={"Sec-Fetch-Site": "cross-site"})

    assert (bare.status_code, bare.headers["location"]) == (307, "/docs/")
    assert [answer.status_code for answer in found] == [200] * 3
    assert all({*answer.headers.raw}.issuperset(SECURITY) for answer in found)
    assert short.text == found[1].text
    assert [answer.status_code for answer in gone] == [404] * 2
    assert foreign.status_code == 403


async def test_a_site_that_was_not_built_says_how_to(tmp_path: Path) -> None:
    async with visiting(tmp_path / "home", tmp_path / "nothing") as client:
        answer = await client.get("/docs/")

    assert answer.status_code == 503
    assert "The documentation was not built" in answer.text
    assert "make setup" in answer.text
