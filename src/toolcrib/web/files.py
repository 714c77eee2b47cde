"""The page's files: browsers cache hashed ones forever and revalidate the rest.

Files compressed at build time are sent compressed to browsers that accept it. A path without a file
extension is a route of the page and gets `index.html`. If the page was not built, a short page
says so.
"""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

INDEX = "index.html"
HASHED = "assets/"
FOREVER = "public, max-age=31536000, immutable"
MISSING = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Toolcrib</title>
<h1>The page was not built</h1>
<p>Toolcrib is running, and the gateway and the commands work. The files of the page are missing from this
installation.</p>
<p>In a checkout, run <code>make setup</code> and start Toolcrib again. Otherwise reinstall the package:
<code>pip install --force-reinstall toolcrib</code>.</p>
</html>
"""


class PageFiles:
    """Serves one folder, and nothing outside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = StaticFiles(directory=folder, check_dir=False, follow_symlink=False)

    async def serve(self, request: Request) -> Response:
        """The file at the path, or the page."""
        path = request.path_params["path"]
        if not (self._folder / INDEX).is_file():
            return HTMLResponse(MISSING, 503 if not path else 404)
        if not path or not _has_extension(path):
            path = INDEX
        small = f"{path}.gz"
        has_small = (self._folder / small).is_file()
        sent = small if has_small and _takes_gzip(request.headers.get("accept-encoding", "")) else path
        try:
            answer = await self._files.get_response(sent, request.scope)
        except ValueError:  # not a valid file name
            raise HTTPException(404) from None
        if has_small:
            answer.headers["vary"] = "Accept-Encoding"
        if sent == small:
            answer.headers["content-encoding"] = "gzip"
        if path.startswith(HASHED) and answer.status_code in (200, 206, 304):
            answer.headers["cache-control"] = FOREVER
        elif path == INDEX:
            answer.headers["cache-control"] = "no-store"
        else:
            answer.headers["cache-control"] = "no-cache"
        return answer


def _has_extension(path: str) -> bool:
    return "." in path.rpartition("/")[2]


def _takes_gzip(accepted: str) -> bool:
    """Whether an `Accept-Encoding` names gzip, and not with a weight of 0."""
    for part in accepted.split(","):
        name, _, weight = part.replace(" ", "").partition(";q=")
        if name.lower() == "gzip":
            return weight.strip("0.") != "" or weight == ""
    return False
