"""The tools that list, read and save files of courses; files are saved only to the allowed folder. Decides
the largest file, the time for a download, which kinds of files are read as text, and the errors for locked or
unknown files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolcrib.bundled.canvas import reading, results
from toolcrib.bundled.canvas.pdf_text import pdf_text
from toolcrib.bundled.canvas.school import School, Schools
from toolcrib.bundled.canvas.tools import READING
from toolcrib.serverkit.confined import Roots
from toolcrib.serverkit.confined.new_files import save_new
from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.html_text import html_to_text
from toolcrib.serverkit.results import readable
from toolcrib.serverkit.server import ToolServer
from toolcrib.serverkit.visible_text import visible

MAX_BYTES = 50 * 1024 * 1024
DOWNLOAD_SECONDS = 120.0
_TEXTS = (
    "text/",
    "message/",
    "application/json",
    "application/xml",
    "application/javascript",
    "application/x-javascript",
    "application/x-python",
    "application/x-sh",
    "application/x-tex",
    "application/x-yaml",
)


@contextmanager
def allowed(folder: Path) -> Iterator[Roots]:
    """The folder, opened; it is made if it is missing."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ToolFailure(
            f"The folder {folder} cannot be made: {error.strerror}.",
            "The user can choose another one with --folder in the server's arguments.",
        ) from error
    roots = Roots([folder])
    try:
        yield roots
    finally:
        roots.close()


class CourseFileTools:
    def __init__(self, schools: Schools, folder: Path) -> None:
        self._schools = schools
        self._folder = folder

    def offer(self, server: ToolServer) -> None:
        """Add the tools to a server."""
        server.tool(title="List files", **READING)(readable(self.list_files, results.files_text))
        server.tool(title="Read a file", **READING)(readable(self.read_file, results.content_text))
        saving: Any = {**READING, "read_only": False, "destructive": False}
        server.tool(title="Save a file", **saving)(readable(self.download_file, results.saved_text))

    async def list_files(
        self,
        course: str | None = None,
        search: str | None = None,
        limit: int = 50,
        offset: int = 0,
        account: str | None = None,
    ) -> results.FileList:
        params: dict[str, Any] = {"sort": "updated_at", "order": "desc"}
        params |= {"search_term": search} if search else {}
        async with self._schools.open(account) as school:
            path = f"/courses/{(await school.course(course)).id}/files" if course else "/users/self/files"
            items, onward = await school.part(path, params, limit, offset)
        listed = [reading.to_file(item, self._schools.times) for item in items]
        return {"files": listed, "next_offset": onward}

    async def read_file(
        self,
        context: ToolContext,
        file: str,
        course: str | None = None,
        offset: int = 0,
        account: str | None = None,
    ) -> results.FileContent:
        about, content = await self._get(file, course, account)
        text, onward = reading.part(await _text(about, content, context), offset)
        return {**_facts(about), "size": len(content), "text": text, "next_offset": onward}

    async def download_file(
        self, file: str, course: str | None = None, account: str | None = None
    ) -> results.SavedFileInfo:
        about, content = await self._get(file, course, account)
        path = await asyncio.to_thread(self._save, about["name"], content)
        return {**_facts(about), "size": len(content), "path": path}

    async def _get(
        self, file: str, course: str | None, account: str | None
    ) -> tuple[results.CanvasFile, bytes]:
        async with self._schools.open(account) as school:
            raw = await _find(school, file, course)
            about = reading.to_file(raw, self._schools.times)
            if about["locked"] or not raw.get("url"):
                raise ToolFailure(f"{about['name']} is locked.", "It is not open to this account now.")
            return about, await _download(school, raw, about)

    def _save(self, name: str, content: bytes) -> str:
        with allowed(self._folder) as roots:
            return str(save_new(roots, name, content))


def _facts(about: results.CanvasFile) -> results.FileFacts:
    return {"id": about["id"], "name": about["name"], "type": about["type"], "size": about["size"]}


async def _find(school: School, file: str, course: str | None) -> dict[str, Any]:
    text = file.strip()
    if text.isascii() and text.isdigit():
        raw: dict[str, Any] = await school.api.get(f"/files/{text}")
        return raw
    path = f"/courses/{(await school.course(course)).id}/files" if course else "/users/self/files"
    found = await school.all(path, {"search_term": text} if len(text) > 2 else None)
    exact = [item for item in found if text.casefold() == str(item.get("display_name")).casefold()]
    chosen = exact or found
    if len(chosen) == 1:
        return chosen[0]  # type: ignore[no-any-return]
    if not chosen:
        raise ToolFailure(f"There is no file called {text[:80]!r}.", "List the files to find its id.")
    choices = ", ".join(f"{item.get('display_name')} ({item['id']})" for item in chosen[:10])
    raise ToolFailure(f"Several files match {text[:80]!r}.", f"Use the id: {choices}.")


async def _download(school: School, raw: dict[str, Any], about: results.CanvasFile) -> bytes:
    """From the address that Canvas names, often at another host; that host does not get the token."""
    from toolcrib.serverkit.network import FetchLimits, endpoint_of, fetch

    if about["size"] > MAX_BYTES:
        raise ToolFailure(
            f"{about['name']} has {about['size'] // 1024**2} MB; at most {MAX_BYTES // 1024**2} MB are read.",
            "The user can download it in a browser.",
        )
    url, service = str(raw["url"]), school.api.service
    own = endpoint_of(url) == endpoint_of(service.base) and url.split(":")[0] == service.base.split(":")[0]
    headers = {"Authorization": service.headers["Authorization"]} if own else {}
    limits = FetchLimits(max_bytes=MAX_BYTES, deadline=DOWNLOAD_SECONDS)
    fetched = await fetch(url, service.policy, limits=limits, headers=headers, proxies=True)
    if fetched.status != 200:
        raise ToolFailure(
            f"{about['name']} could not be downloaded (HTTP {fetched.status}).", "Try again later."
        )
    return fetched.content


async def _text(about: results.CanvasFile, content: bytes, context: ToolContext) -> str:
    if _is_pdf(about):
        return visible(await pdf_text(content, context))
    if not _is_readable(about):
        raise ToolFailure(
            f"{about['name']} is not text but {about['type'] or 'of unknown type'}.",
            "Save it with download_file and open it with another tool.",
        )
    text = visible(_decoded(content))
    return await asyncio.to_thread(html_to_text, text) if about["type"].startswith("text/html") else text


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        named = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}.get(content[:2], "cp1252")
        return content.decode(named, "replace")


def _is_pdf(about: results.CanvasFile) -> bool:
    return about["type"].startswith("application/pdf")


def _is_readable(about: results.CanvasFile) -> bool:
    return _is_pdf(about) or about["type"].startswith(_TEXTS)
