"""Discord's REST API, signed in as a bot, with its errors explained: missing permissions, unknown channels,
and the note about messages whose text Discord hides.

https://docs.discord.com/developers/reference
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from toolcrib.accounts.account import Account
from toolcrib.accounts.addresses import policy_for
from toolcrib.accounts.rate_limits import RateLimits
from toolcrib.accounts.rest import RestClient, RestFailure, RestReply, RestRequest, RestService, connect
from toolcrib.serverkit.visible_text import one_line
from toolcrib.version import __version__

API = "https://discord.com/api/v10"
CONTENT_INTENT = (1 << 18) | (1 << 19)
"""Flags of an application that may read the text of messages; the second one is for unverified bots."""
NO_CONTENT = (
    "Discord hides the text of these messages from the bot, because the Message Content Intent is off. "
    "The user can turn it on in Discord's developer portal, under Bot."
)

_EXPLAINED = {
    10003: (
        "Discord has no such channel, or the bot cannot see it.",
        "Use list_channels.",
    ),
    10004: ("Discord has no such server, or the bot is not in it.", "Use list_servers."),
    10008: ("There is no such message in this channel.", "Read the channel to find the message's id."),
    10014: ("Discord does not know this emoji.", "Use a Unicode emoji, or one of this server as name:id."),
    30010: ("The message already has as many reactions as Discord allows.", ""),
    40062: ("Discord is limiting this server at the moment.", "Try again later."),
    50001: ("The bot cannot see this channel.", "Someone who manages the server can give it View Channel."),
    50005: ("Only the author of a message can edit it.", "Send a new message instead."),
    50006: ("Discord does not send empty messages.", "Give a text."),
    50008: ("Messages cannot be sent to this kind of channel.", "Choose a text channel or a thread."),
    50083: ("The thread is archived.", "Choose another channel, or reopen the thread in Discord."),
    90001: ("This reaction is blocked by a user.", ""),
    200000: ("The server's moderation rules block this message.", "Change the text."),
    240000: ("The message contains a link that Discord blocks.", "Remove the link."),
}
_NO_PERMISSION = 50013


def open_discord(
    account: Account, token: str, limits: RateLimits | None = None
) -> AbstractAsyncContextManager[RestClient]:
    """A client for `async with`."""
    base = account.text("api") or API
    service = RestService(
        title="Discord",
        base=base,
        headers={
            "Authorization": f"Bot {token}",
            "User-Agent": f"DiscordBot (toolcrib, {__version__})",
        },
        policy=policy_for(base),
        renew=f"toolcrib account add discord {account.name} --replace",
        explain=_explain,
    )
    return connect(service, limits)


async def reads_content(api: RestClient) -> bool:
    """Whether the Message Content Intent is on."""
    application = await api.get("/applications/@me")
    return bool(int(application.get("flags") or 0) & CONTENT_INTENT)


def display_name(user: dict[str, Any]) -> str:
    """How Discord shows a user."""
    return one_line(str(user.get("global_name") or user.get("username") or user.get("id") or "unknown"))


def _explain(request: RestRequest, reply: RestReply) -> RestFailure | None:
    body = reply.data if isinstance(reply.data, dict) else {}
    code = body.get("code")
    if reply.status == 401 or not isinstance(code, int) or code == 0:
        return None
    if code == _NO_PERMISSION:
        needs = request.needs or "for this"
        message, hint = (
            f"The bot lacks the permission {needs} here.",
            "Someone who manages the server can give it to the bot's role.",
        )
    elif code in _EXPLAINED:
        message, hint = _EXPLAINED[code]
    else:
        message, hint = f"Discord rejected the request: {_said(body)} (code {code}).", ""
    return RestFailure(message, hint, status=reply.status, code=code)


def _said(body: dict[str, Any]) -> str:
    """Its message, with the first detail of a form error."""
    from toolcrib.serverkit.network.policy import shown

    details = list(_details(body.get("errors")))
    return shown("; ".join([str(body.get("message", "")).rstrip("."), *details[:3]]), 300)


def _details(errors: Any, depth: int = 0) -> list[str]:
    if not isinstance(errors, dict) or depth > 6:
        return []
    found = [str(error.get("message", "")) for error in errors.get("_errors", []) if isinstance(error, dict)]
    for name, inner in errors.items():
        if name != "_errors":
            found += _details(inner, depth + 1)
    return found
