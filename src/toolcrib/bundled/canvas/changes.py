"""The tools that submit and comment, offered only if the user allows changes; with their previews. Limits:
size of a file and seconds of an upload. Decides when an assignment cannot be submitted (locked, wrong kind)
and the error message.

A file is uploaded in three steps: it is announced, sent where Canvas says, and confirmed.
https://developerdocs.instructure.com/services/canvas/basics/file.file_uploads
"""

from __future__ import annotations

import asyncio
import html
import json
import mimetypes
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from toolcrib.accounts.rest import RestClient
from toolcrib.bundled.canvas.file_tools import allowed
from toolcrib.bundled.canvas.results import CanvasChange, change_text
from toolcrib.bundled.canvas.school import Course, School, Schools
from toolcrib.bundled.canvas.times import read_time
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.results import readable
from toolcrib.serverkit.server import ToolServer

UPLOAD_SECONDS = 120.0

CHANGING: dict[str, Any] = {"destructive": False, "open_world": True, "reach": "anybody"}
MAX_FILE = 50 * 1024 * 1024
T = TypeVar("T")


async def upload(api: RestClient, path: str, name: str, content: bytes) -> str:
    """The id of the new file. The storage, often at another host, does not get the token."""
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    announced = await api.change("POST", path, {"name": name, "size": len(content), "content_type": kind})
    status, location, body = await _send(api, announced, name, kind, content)
    if 300 <= status < 400 or (status == 201 and location):
        body = await _confirm(api, location)
    if status >= 400 or not isinstance(body, dict) or not body.get("id"):
        raise ToolFailure(f"{name} could not be uploaded (HTTP {status}).", "Try again later.")
    return str(body["id"])


async def _send(
    api: RestClient, announced: dict[str, Any], name: str, kind: str, content: bytes
) -> tuple[int, str, Any]:
    import httpx2

    from toolcrib.serverkit.network import open_client

    params = {key: str(value) for key, value in (announced.get("upload_params") or {}).items()}
    files = {str(announced.get("file_param") or "file"): (name, content, kind)}
    try:
        async with open_client(api.service.policy, timeout=UPLOAD_SECONDS, proxies=True) as client:
            response = await client.post(str(announced["upload_url"]), data=params, files=files)
    except httpx2.HTTPError as error:
        raise ToolFailure(f"{name} could not be uploaded.", "Try again later.") from error
    return response.status_code, response.headers.get("location", ""), _json(response.content)


async def _confirm(api: RestClient, location: str) -> Any:
    """Confirm to Canvas that the file arrived; only at its own address, because this needs the token."""
    base = api.service.base
    if not location.startswith(f"{base}/"):
        raise ToolFailure("Canvas names another server to confirm an upload.", "Upload it in a browser.")
    return await api.get(location.removeprefix(base))


def _json(content: bytes) -> Any:
    try:
        return json.loads(content[:100_000])
    except ValueError:
        return None


class SubmissionTools:
    def __init__(self, schools: Schools, folder: Path) -> None:
        self._schools = schools
        self._folder = folder

    def offer(self, server: ToolServer) -> None:
        """Add the tools to a server."""
        server.tool(title="Submit an assignment", preview=self._preview_submission, **CHANGING)(
            readable(self.submit_assignment, change_text)
        )
        server.tool(title="Comment on a submission", preview=self._preview_comment, **CHANGING)(
            readable(self.post_comment, change_text)
        )

    async def submit_assignment(
        self,
        course: str,
        assignment: str,
        text: str | None = None,
        url: str | None = None,
        files: list[str] | None = None,
        comment: str | None = None,
        account: str | None = None,
    ) -> CanvasChange:
        kind = _kind(text, url, files)
        async with self._schools.open(account, changing=True) as school:
            place, raw = await _open_assignment(school, course, assignment, kind)
            submission: dict[str, Any] = {"submission_type": kind}
            if text:
                submission["body"] = _as_html(text)
            elif url:
                submission["url"] = url
            else:
                contents = await asyncio.to_thread(self._read, files or (), _content)
                target = f"/courses/{place.id}/assignments/{raw['id']}/submissions/self/files"
                submission["file_ids"] = [await upload(school.api, target, *file) for file in contents]
            body: dict[str, Any] = {"submission": submission}
            if comment:
                body["comment"] = {"text_comment": comment}
            path = f"/courses/{place.id}/assignments/{raw['id']}/submissions"
            made = await school.api.change("POST", path, body)
        return _change("Submitted", place, raw, made)

    async def post_comment(
        self, course: str, assignment: str, text: str, account: str | None = None
    ) -> CanvasChange:
        if not text.strip():
            raise ToolFailure("The comment is empty.", "Give a text.")
        async with self._schools.open(account, changing=True) as school:
            place = await school.course(course)
            raw = await school.assignment(place, assignment)
            path = f"/courses/{place.id}/assignments/{raw['id']}/submissions/self"
            # Each request adds a comment, so it is not repeated although it is a PUT.
            made = await school.api.change("PUT", path, {"comment": {"text_comment": text}}, repeatable=False)
        return _change("Commented on", place, raw, made)

    async def _preview_submission(
        self,
        course: str,
        assignment: str,
        text: str | None = None,
        url: str | None = None,
        files: list[str] | None = None,
        comment: str | None = None,
        account: str | None = None,
    ) -> dict[str, Any]:
        kind = _kind(text, url, files)
        async with self._schools.open(account, changing=True) as school:
            place, raw = await _open_assignment(school, course, assignment, kind)
            sizes = await asyncio.to_thread(self._read, files or (), _size)
            shown = [text or url or "", *(f"[File: {name}, {size} bytes]" for name, size in sizes)]
            note = f"\n\nComment: {comment}" if comment else ""
            return _preview(school, place, raw, "\n".join(filter(None, shown)) + note)

    async def _preview_comment(
        self, course: str, assignment: str, text: str, account: str | None = None
    ) -> dict[str, Any]:
        async with self._schools.open(account, changing=True) as school:
            place = await school.course(course)
            return _preview(school, place, await school.assignment(place, assignment), text)

    def _read(self, paths: Sequence[str], read: Callable[[str, int], T]) -> list[tuple[str, T]]:
        """The name of each file, and what `read` makes of its path and descriptor."""
        found: list[tuple[str, T]] = []
        with allowed(self._folder) as roots:
            for path in paths:
                with roots.explained(path), roots.reading(path) as file:
                    found.append((Path(path).name, read(path, file)))
        return found


def _size(path: str, file: int) -> int:
    return os.fstat(file).st_size


def _content(path: str, file: int) -> bytes:
    with os.fdopen(os.dup(file), "rb") as data:
        content = data.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        raise ToolFailure(f"{path!r} has more than {MAX_FILE // 1024**2} MB.", "Use a smaller file.")
    return content


async def _open_assignment(
    school: School, course: str, assignment: str, kind: str
) -> tuple[Course, dict[str, Any]]:
    """An assignment that can be submitted this way now; raises `ToolFailure` saying why not."""
    place = await school.course(course)
    raw = await school.assignment(place, assignment, {"include[]": ["submission"]})
    name, types = raw.get("name"), raw.get("submission_types") or []
    if kind not in types:
        raise ToolFailure(f"{name} is not submitted as {kind}.", f"It is submitted as: {', '.join(types)}.")
    closes, opens, now = read_time(raw.get("lock_at")), read_time(raw.get("unlock_at")), school.times.now()
    if closes and closes < now:
        raise ToolFailure(f"{name} closed on {school.times.shown(raw['lock_at'])}.", "Ask the teacher.")
    if raw.get("locked_for_user") or (opens and opens > now):
        raise ToolFailure(f"{name} is locked for this account now.", "Ask the teacher.")
    allowed_attempts = raw.get("allowed_attempts")
    used = (raw.get("submission") or {}).get("attempt") or 0
    if isinstance(allowed_attempts, int) and 0 < allowed_attempts <= used:
        raise ToolFailure(f"All {allowed_attempts} attempts of {name} are used.", "Ask the teacher.")
    return place, raw


def _kind(text: str | None, url: str | None, files: Sequence[str] | None) -> str:
    given = [
        kind
        for kind, value in (("online_text_entry", text), ("online_url", url), ("online_upload", files))
        if value
    ]
    if len(given) != 1:
        raise ToolFailure("A submission is either a text, a URL or files.", "Give exactly one of them.")
    return given[0]


def _as_html(text: str) -> str:
    """Canvas stores text entries as HTML."""
    paragraphs = html.escape(text.strip()).split("\n\n")
    return "".join(f"<p>{paragraph.replace(chr(10), '<br>')}</p>" for paragraph in paragraphs)


def _change(done: str, course: Course, assignment: dict[str, Any], made: Any) -> CanvasChange:
    identifier = str(made.get("id") or "") if isinstance(made, dict) else ""
    return {
        "done": done,
        "course": course.name,
        "assignment": str(assignment.get("name")),
        "submission": identifier,
    }


def _preview(school: School, course: Course, assignment: dict[str, Any], text: str) -> dict[str, Any]:
    return {
        "kind": "message",
        "action": "send",
        "account": school.account.name,
        "service": "canvas",
        "channel": f"{assignment.get('name')} in {course.name}",
        "to": f"Teachers of {course.name}",
        "text": text,
        "mentions": [],
    }
