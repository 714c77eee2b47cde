"""The ASGI application of the page: routes for files, documentation, sign-in, operations and live events; how
browsers cache files, and the text if the page or the documentation was not built.

Access was checked before. Every response has the security headers.

The page's files: browsers cache hashed ones forever and revalidate the rest. Files compressed at build time
are sent compressed to browsers that accept it. A path without a file extension is a route of the page and
gets `index.html`. If the page was not built, a short page says so.

The documentation at `/docs/` is a folder of static files with the same headers, readable without signing in.
"""

from __future__ import annotations

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
from toolcrib.web.answers import NO_STORE, SECURITY
from toolcrib.web.bridge import AsgiApplication, Message, Receive, Scope, Send
from toolcrib.web.event_hub import Hub
from toolcrib.web.feature_routes import feature_routes
from toolcrib.web.operations import EventStream, answer, failed, operate, read_body

INDEX = "index.html"
HASHED = "assets/"
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
    """Serves one folder, and nothing outside it."""

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
        path = self._find(path)
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


def _takes_gzip(accepted: str) -> bool:
    """Whether an `Accept-Encoding` names gzip, and not with a weight of 0."""
    for part in accepted.split(","):
        name, _, weight = part.replace(" ", "").partition(";q=")
        if name.lower() == "gzip":
            return weight.strip("0.") != "" or weight == ""
    return False


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
        events = self._hub.stream(
            request.headers.get("last-event-id", ""), lambda: self._host.pages.is_good(page)
        )
        return EventStream(events)

    async def openapi(self, request: Request) -> Response:
        from toolcrib.web.contract import document

        return answer(document())

    async def operate(self, request: Request) -> Response:
        with deciding(f"page {self._holder(request).name}"):
            return await operate(self._host, request)

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
