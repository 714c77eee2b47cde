"""The ASGI application of the page: routes for files, documentation, sign-in, operations and live events; how
browsers cache files, and the text if the page or the documentation was not built.

Access was checked before. Every response has the security headers.

The page's files: browsers cache hashed ones forever and revalidate the rest. Files compressed at build time
are sent compressed to browsers that accept it. A path without a file extension is a route of the page and
gets `index.html`. If the page was not built, a short page says so.

The documentation at `/docs/` is a folder of static files with the same headers, readable without signing in.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from toolcrib.errors import ServerUnavailable, ToolcribError, UsageError
from toolcrib.host import Host
from toolcrib.schema.deciders import deciding
from toolcrib.store.page_keys import PageKey
from toolcrib.web.access import PageAccess, SignInParams
from toolcrib.web.answers import NO_STORE, SECURITY, accepts
from toolcrib.web.bridge import AsgiApplication, Message, Receive, Scope, Send
from toolcrib.web.event_hub import Hub
from toolcrib.web.feature_routes import feature_routes
from toolcrib.web.operations import EventStream, answer, failed, operate, read_body

INDEX = "index.html"
ROUTES = "routes.json"
"""The files that each route of the page needs beside those in `index.html`; made by the build."""
EVENT_ID = "x-event-id"
"""The latest event before an answer was made, or a stream of events began."""
HASHED = "assets/"
CODINGS = {"br": "br", "gzip": "gz"}
"""Compressed files, the smallest first, and how their names end."""
FOREVER = "public, max-age=31536000, immutable"
MISSING = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Toolcrib</title>
<h1>{what} was not built</h1>
<p>Toolcrib is running, and the gateway and the commands work. Only these files are missing from this
installation.</p>
<p>In a checkout, run <code>make setup</code> and start Toolcrib again. Otherwise reinstall the package:
<code>pip install --force-reinstall toolcrib</code>.</p>
</html>
"""

Endpoint = Callable[[Request], Awaitable[Response]]


class PageFiles:
    """Serves one folder, and nothing outside it.

    The answer with the page names the files of the route in a `Link` header: on a slow line the browser
    fetches them together with the first ones, not a round trip later.
    """

    def __init__(self, folder: Path, what: str, find: Callable[[str], str]) -> None:
        self._folder = folder
        self._what = what
        self._find = find
        self._files = StaticFiles(directory=folder, check_dir=False, follow_symlink=False)

    async def serve(self, request: Request) -> Response:
        """The file for the path."""
        path = request.path_params.get("path", "")
        if not (self._folder / INDEX).is_file():
            return HTMLResponse(MISSING.format(what=self._what), 503 if not path else 404)
        asked, path = path, self._find(path)
        accepted = request.headers.get("accept-encoding", "")
        packed = [name for name in CODINGS if (self._folder / f"{path}.{CODINGS[name]}").is_file()]
        coding = next((name for name in packed if accepts(accepted, name)), None)
        sent = path if coding is None else f"{path}.{CODINGS[coding]}"
        try:
            answer = await self._files.get_response(sent, request.scope)
        except ValueError:  # not a valid file name
            raise HTTPException(404) from None
        if packed:
            answer.headers["vary"] = "Accept-Encoding"
        if coding is not None:
            answer.headers["content-encoding"] = coding
        if path.startswith(HASHED) and answer.status_code in (200, 206, 304):
            answer.headers["cache-control"] = FOREVER
        elif path == INDEX:
            answer.headers["cache-control"] = "no-store"
            answer.headers["link"] = self._preloads(asked)
        else:
            answer.headers["cache-control"] = "no-cache"
        return answer

    def _preloads(self, path: str) -> str:
        try:
            routes = json.loads((self._folder / ROUTES).read_bytes())
        except OSError:
            return ""
        page, inside, _ = f"{path}//".split("/", 2)
        files = routes.get(path) or (inside and routes.get(f"{page}/")) or routes.get(page, ())
        return ", ".join(map(_preload, files))


def _preload(file: str) -> str:
    if not file.startswith(HASHED):
        return f"</{file}>; rel=preload; as=script"
    kind = "preload; as=style" if file.endswith(".css") else "modulepreload"
    return f"</{file}>; rel={kind}; crossorigin"


def _page_file(path: str) -> str:
    """The page's file for a path: the page itself for each of its own places."""
    return path if _has_extension(path) else INDEX


def _docs_file(path: str) -> str:
    """The documentation's file for a path: `models` is `models.html`."""
    if not path:
        return INDEX
    return path if _has_extension(path) else f"{path}.html"


def _has_extension(path: str) -> bool:
    return "." in path.rpartition("/")[2]


def make_application(host: Host, access: PageAccess, hub: Hub, static: Path, docs: Path) -> AsgiApplication:
    """The application that serves everything except the gateway."""
    routes = _Routes(host, access, hub)
    page = PageFiles(static, "The page", _page_file)
    manual = PageFiles(docs, "The documentation", _docs_file)
    application = Starlette(
        routes=[
            Route("/api/sign_in", routes.sign_in, methods=["POST"]),
            Route("/api/sign_out", routes.sign_out, methods=["POST"]),
            Route("/api/live", routes.live, methods=["GET"]),
            Route("/api/openapi.json", routes.openapi, methods=["GET"]),
            Route("/api/{operation}", routes.operate, methods=["POST"]),
            *(route for served in feature_routes() for route in served.routes(host)),
            Route("/docs", _to_docs, methods=["GET"]),
            Route("/docs/{path:path}", manual.serve, methods=["GET"]),
            Route("/{path:path}", page.serve, methods=["GET"]),
        ],
        exception_handlers={HTTPException: _refused},
    )
    return _secured(application)


class _Routes:
    def __init__(self, host: Host, access: PageAccess, hub: Hub) -> None:
        self._host = host
        self._access = access
        self._hub = hub

    async def sign_in(self, request: Request) -> Response:
        try:
            token = SignInParams.model_validate(await read_body(request)).token
        except ValidationError:
            return failed(UsageError("token: must be a non-empty string."))
        except ToolcribError as error:
            return failed(error)
        key = await self._host.pages.admit(token, request.headers.get("user-agent", ""))
        if key is None:
            return answer(_NO_TOKEN, 401)
        return answer({"key": key})

    async def sign_out(self, request: Request) -> Response:
        self._host.pages.revoke(self._holder(request).id)
        return answer({"signed_out": True})

    async def live(self, request: Request) -> Response:
        if not self._hub.has_room:
            return failed(ServerUnavailable("Too many pages are open.", hint="Close some of them."))
        page = self._holder(request).id
        latest = self._hub.meet()
        known = request.headers.get("last-event-id", "")
        answer = EventStream(self._hub.stream(known, latest, lambda: self._host.pages.is_good(page)))
        answer.headers[EVENT_ID] = latest
        return answer

    async def openapi(self, request: Request) -> Response:
        from toolcrib.web.contract import document

        return answer(document())

    async def operate(self, request: Request) -> Response:
        latest = self._hub.meet()
        with deciding(f"page {self._holder(request).name}"):
            answer = await operate(self._host, request)
        answer.headers[EVENT_ID] = latest
        return answer

    def _holder(self, request: Request) -> PageKey:
        holder = self._access.holder(request.headers.get("authorization"))
        if holder is None:  # it was valid when the request arrived
            raise HTTPException(401)
        return holder


async def _to_docs(_: Request) -> Response:
    """The links in the documentation are relative, and need the slash."""
    return RedirectResponse("/docs/")


_NO_TOKEN = {
    "error": {
        "kind": "signed_out",
        "message": "This sign-in address was already used or has expired.",
        "hint": "Get a new one with: toolcrib open",
        "retryable": False,
    }
}
_KINDS = {401: "signed_out", 404: "not_found", 405: "usage"}


async def _refused(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    refusal = {"kind": _KINDS.get(status, "error"), "message": "Not found.", "hint": ""}
    return answer({"error": {**refusal, "retryable": False}}, status)


def _secured(application: AsgiApplication) -> AsgiApplication:
    """The application with security headers on every response, and `no-store` as default for caching."""

    async def secured(scope: Scope, receive: Receive, send: Send) -> None:
        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append(NO_STORE)
                message = {**message, "headers": [*headers, *SECURITY]}
            await send(message)

        await application(scope, receive, add)

    return secured
