"""Canvas' REST API, signed in with an access token, with its errors explained: wrong token, missing
permission, too many requests.

https://developerdocs.instructure.com/services/canvas
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from toolcrib.accounts.account import Account
from toolcrib.accounts.addresses import policy_for
from toolcrib.accounts.rate_limits import RateLimits
from toolcrib.accounts.rest import RestClient, RestFailure, RestReply, RestRequest, RestService, connect
from toolcrib.version import __version__


def open_canvas(
    account: Account, token: str, limits: RateLimits | None = None
) -> AbstractAsyncContextManager[RestClient]:
    """A client for `async with`."""
    url = account.text("url")
    service = RestService(
        title="Canvas",
        base=f"{url}/api/v1",
        headers={
            "Authorization": f"Bearer {token}",
            # Ids of some schools are larger than the numbers of many JSON readers.
            "Accept": "application/json+canvas-string-ids",
            "User-Agent": f"toolcrib/{__version__}",
        },
        policy=policy_for(url),
        renew=f"toolcrib account add canvas {account.name} --replace",
        explain=_explain,
        throttled=_throttled,
    )
    return connect(service, limits)


def _throttled(reply: RestReply) -> bool:
    """Canvas also answers 403 if an account makes too many requests."""
    return reply.status == 429 or (reply.status == 403 and "Rate Limit Exceeded" in str(reply.data))


def _explain(request: RestRequest, reply: RestReply) -> RestFailure | None:
    """Canvas answers 401 both for a wrong token and for a missing permission."""
    body = reply.data if isinstance(reply.data, dict) else {}
    if reply.status == 403 or (reply.status == 401 and body.get("status") == "unauthorized"):
        return RestFailure("Canvas does not allow this account to do that.", "Ask the teacher.", status=403)
    if reply.status == 404:
        return RestFailure(
            "Canvas has no such thing, or hides it from this account.",
            "List what there is to find its id.",
            status=404,
        )
    if reply.status in (400, 422):
        return RestFailure(f"Canvas rejected the request: {_said(body)}", status=reply.status)
    return None


def _said(body: dict[str, Any]) -> str:
    from toolcrib.serverkit.network.policy import shown

    errors = body.get("errors") or body.get("message") or "no reason was given"
    found = [text for text in _messages(errors) if text]
    return shown("; ".join(found[:3]) or "no reason was given", 300)


def _messages(errors: Any, depth: int = 0) -> list[str]:
    if isinstance(errors, str):
        return [errors]
    if isinstance(errors, dict) and isinstance(errors.get("message"), str):
        return [errors["message"]]
    inner = list(errors.values()) if isinstance(errors, dict) else errors if isinstance(errors, list) else []
    return [text for error in inner for text in _messages(error, depth + 1)] if depth < 5 else []
