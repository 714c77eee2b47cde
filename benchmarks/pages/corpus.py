"""The pages: 136 made here, and 64 of documentation in Debian packages, which are downloaded."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.pages.page import SavedPage
from benchmarks.pages.scoring import squeezed
from benchmarks.pages.writer import PageWriter
from toolcrib import plugins

KINDS = "benchmarks.pages.kinds"
VARIANTS = 8
CACHE = Path(__file__).parents[2] / ".cache" / "bench" / "pages"
PACKAGES = {
    "python3-doc": r"/library/[a-l]\w+\.html$",
    "sqlite3-doc": r"/(lang_\w+|c3ref/\w+)\.html$",
    "git-doc": r"/git-[a-m][\w-]+\.html$",
    "nodejs-doc": r"/api/[a-t]\w+\.html$",
    "postgresql-doc-15": r"/html/(sql|ddl|queries)-[\w-]+\.html$",
    "debian-handbook": r"/html/(en-US|de-DE|ja-JP|ru-RU)/sect\.[\w-]+\.html$",
    "debian-reference-en": r"/ch\d+\.en\.html$",
    "debian-faq": r"/FAQ/[\w-]+\.en\.html$",
}
EACH = 8
LARGEST = 250_000
_AROUND = ".//nav|.//*[@role='navigation']|.//*[contains(@class,'navheader') or contains(@class,'navfooter')]"


def generated() -> Iterator[SavedPage]:
    """All kinds in all variants; the same ones in every run."""
    for kind in plugins.names(KINDS):
        module: Any = plugins.find(KINDS, kind)
        languages = getattr(module, "LANGUAGES", ("en",))
        for variant in range(VARIANTS):
            seed = Random(f"{kind} {variant}")  # noqa: S311 - the same pages in every run
            page = PageWriter(kind, seed, variant, languages[variant % len(languages)])
            yield page.finish(module.write(page))


def documentation() -> Iterator[SavedPage]:
    """Pages from packages, as far as they can be downloaded; expectations come from their own structure."""
    for package, wanted in PACKAGES.items():
        folder = _unpacked(package)
        files = sorted(
            file for file in folder.rglob("*.html") if re.search(wanted, str(file)) and file.is_file()
        )
        chosen = [file for file in files if 4_000 < file.stat().st_size < LARGEST]
        for file in Random(package).sample(chosen, min(EACH, len(chosen))):  # noqa: S311
            yield _described(file, package)


def _unpacked(package: str) -> Path:
    """The folder of a package's files; empty if it cannot be downloaded."""
    folder = CACHE / package
    if folder.is_dir():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    names = [package, *_dependencies(package)]
    for name in names:
        subprocess.run(["apt-get", "download", name], cwd=CACHE, capture_output=True, check=False)
    for archive in [file for name in names for file in CACHE.glob(f"{name}_*.deb")]:
        subprocess.run(["dpkg", "-x", str(archive), str(folder)], check=False)
    folder.mkdir(exist_ok=True)
    return folder


def _dependencies(package: str) -> list[str]:
    """The package behind one that only points at the current version, such as python3-doc."""
    said = subprocess.run(
        ["apt-cache", "depends", package], capture_output=True, text=True, check=False
    ).stdout
    return [name for name in re.findall(r"Depends: ([\w.+-]+-doc)$", said, re.MULTILINE) if name != package]


def _described(file: Path, package: str) -> SavedPage:
    from lxml.html import document_fromstring

    html = file.read_bytes()
    tree = document_fromstring(html)
    page = SavedPage(f"{package}/{file.name}", package, html, f"https://docs.example/{package}/{file.name}")
    for around in tree.xpath(_AROUND):
        page.boilerplate += [text for link in around.iter("a") if len(text := _text(link)) > 12]
        around.drop_tree()
    page.headings = [
        text for each in tree.iter("h1", "h2", "h3", "h4") if (text := _text(each).rstrip("¶ #"))
    ]
    page.code = [text for each in tree.iter("pre") if len(text := each.text_content().strip()) > 20]
    page.cells = [text for each in tree.iter("td") if 3 < len(text := _text(each)) < 60 and not len(each)]
    page.prose = [text for each in tree.iter("p") if 60 < len(text := _text(each)) < 400]
    kept = squeezed(tree.text_content())
    page.boilerplate = [text for text in dict.fromkeys(page.boilerplate) if squeezed(text) not in kept]
    return page


def _text(element: Any) -> str:
    return " ".join(element.text_content().split())
