"""Uploads a file to Canvas: announce it, send it where Canvas says, and confirm it.

https://developerdocs.instructure.com/services/canvas/basics/file.file_uploads
"""

from __future__ import annotations

import json
import mimetypes
from typing import Any

from toolcrib.accounts.rest import RestClient
from toolcrib.serverkit.context import ToolFailure

UPLOAD_SECONDS = 120.0


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
    """Tell Canvas that the file arrived; only at its own address, because this needs the token."""
    base = api.service.base
    if not location.startswith(f"{base}/"):
        raise ToolFailure("Canvas names another server to confirm an upload.", "Upload it in a browser.")
    return await api.get(location.removeprefix(base))


def _json(content: bytes) -> Any:
    try:
        return json.loads(content[:100_000])
    except ValueError:
        return None
