"""Who is let in to the page's interface, told by a request's head alone: the same for every path.

Host and Origin were looked at before, by the gateway's guard. Here: requests that another site makes the
browser send, bodies that are no JSON, and whoever has no key. A key stands in a header, never in an address
or a cookie, so that no other page can make the browser send it.
"""

from __future__ import annotations

from toolcrib.gateway.http.request import HttpRequest
from toolcrib.store.page_keys import PageKey, PageKeys
from toolcrib.web.answers import refuse

API = "/api/"
SIGN_IN = "/api/sign_in"
_OWN_SITE = ("same-origin", "none")


class Door:
    """Refuses by head; knows whose key a request has."""

    def __init__(self, keys: PageKeys) -> None:
        self._keys = keys

    def meet(self, request: HttpRequest) -> None:
        """Answer a request that may not come in."""
        if request.path.startswith(API) or request.path == API.rstrip("/"):
            self._meet_interface(request)
        elif request.method not in ("GET", "HEAD"):
            refuse(request, 405, "usage", "The page is read with GET.", headers=((b"allow", b"GET, HEAD"),))
        elif not _is_ours(request, navigating=True):
            refuse(request, 403, "denied", "Other sites may not use this page.")

    def holder(self, authorization: str | None) -> PageKey | None:
        """Whose key it is, if it is good."""
        scheme, _, key = (authorization or "").partition(" ")
        return self._keys.holder(key.strip()) if scheme.lower() == "bearer" else None

    def _meet_interface(self, request: HttpRequest) -> None:
        if not _is_ours(request):
            refuse(request, 403, "denied", "Other sites may not use this interface.")
        elif request.path != SIGN_IN and self.holder(request.headers.get("authorization")) is None:
            refuse(
                request,
                401,
                "signed_out",
                "This page's key is not valid.",
                hint="Open a new one with: toolcrib open",
                headers=((b"www-authenticate", b'Bearer realm="toolcrib page"'),),
            )
        elif request.method not in ("GET", "HEAD", "POST"):
            refuse(request, 405, "usage", "GET and POST are understood.", headers=((b"allow", b"GET, POST"),))
        elif request.method == "POST" and not _is_json(request.headers.get("content-type", "")):
            refuse(request, 415, "usage", "The body must be JSON, and say so in Content-Type.")


def _is_ours(request: HttpRequest, *, navigating: bool = False) -> bool:
    """False for what a page of another origin made the browser send; a link that is followed may be."""
    headers = request.headers
    site = headers.get("sec-fetch-site")
    followed = navigating and headers.get("sec-fetch-mode") == "navigate"
    if site is not None and site not in _OWN_SITE and not followed:
        return False
    origin = headers.get("origin")
    return origin is None or origin.lower() == f"http://{headers.get('host', '').lower()}"


def _is_json(content_type: str) -> bool:
    kind, _, rest = content_type.partition(";")
    return kind.strip().lower() == "application/json" and rest.strip().lower() in ("", "charset=utf-8")
