"""Who may use the page and its API, decided from a request's headers before its body is read: the key,
requests of other sites, methods and content type, with their error messages.

The gateway has already checked Host and Origin. This refuses requests that another site makes the browser
send, bodies that are not JSON, and requests without a valid key. The key is sent in a header, never in a URL
or a cookie, so that no other page can make the browser send it.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from toolcrib.gateway.http.request import HttpRequest
from toolcrib.store.page_keys import PageKey, PageKeys
from toolcrib.web.answers import refuse
from toolcrib.web.feature_routes import routes_of

API = "/api/"
SIGN_IN = "/api/sign_in"
_OWN_SITE = ("same-origin", "none")


class SignInParams(BaseModel):
    """The token of a one-time sign-in address."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    token: str = Field(min_length=1, max_length=200)


class SignedIn(TypedDict):
    """The key for further requests."""

    key: str


class SignOutParams(BaseModel):
    """No parameters."""


class SignedOut(TypedDict):
    signed_out: bool


class PageAccess:
    """Refuses requests by their headers, and finds the browser that a key belongs to."""

    def __init__(self, keys: PageKeys) -> None:
        self._keys = keys

    def check_head(self, request: HttpRequest) -> None:
        """Answer the request if it is refused."""
        if request.path.startswith(API) or request.path == API.rstrip("/"):
            self._meet_interface(request)
        elif (of_feature := routes_of(request.path)) is not None:
            of_feature.check_head(request)
        elif request.method not in ("GET", "HEAD"):
            refuse(request, 405, "usage", "Only GET is supported here.", headers=((b"allow", b"GET, HEAD"),))
        elif not _is_ours(request, navigating=True):
            refuse(request, 403, "denied", "Other sites may not use this page.")

    def holder(self, authorization: str | None) -> PageKey | None:
        """The signed-in browser that the key belongs to, if it is valid."""
        scheme, _, key = (authorization or "").partition(" ")
        return self._keys.holder(key.strip()) if scheme.lower() == "bearer" else None

    def _meet_interface(self, request: HttpRequest) -> None:
        if not _is_ours(request):
            refuse(request, 403, "denied", "Other sites may not use this API.")
        elif request.path != SIGN_IN and self.holder(request.headers.get("authorization")) is None:
            refuse(
                request,
                401,
                "signed_out",
                "This page's key is not valid.",
                hint="Open a new page with: toolcrib open",
                headers=((b"www-authenticate", b'Bearer realm="toolcrib page"'),),
            )
        elif request.method not in ("GET", "HEAD", "POST"):
            refuse(
                request, 405, "usage", "Only GET and POST are supported.", headers=((b"allow", b"GET, POST"),)
            )
        elif request.method == "POST" and not _is_json(request.headers.get("content-type", "")):
            refuse(request, 415, "usage", "The body must be JSON, with Content-Type: application/json.")


def _is_ours(request: HttpRequest, *, navigating: bool = False) -> bool:
    """False if a page of another origin made the browser send it, unless the user followed a link."""
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
