"""Accounts of Discord: a bot and its token; the form with its help texts, the check, and remarks (invite the
bot, turn on Message Content Intent).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from toolcrib.accounts.account import Account
from toolcrib.accounts.addresses import service_url
from toolcrib.accounts.discord import display_name, open_discord, reads_content
from toolcrib.accounts.provider import AccountCheck, AccountDraft, AccountField
from toolcrib.errors import UsageError

TITLE = "Discord"
ABOUT = "Read and write messages as a bot, in the servers that it was invited to."
SERVICES = ("discord",)
FIELDS = (
    AccountField(
        key="token",
        label="Bot token",
        secret=True,
        help="From https://discord.com/developers/applications: choose the application, Bot, Reset Token.",
    ),
    AccountField(
        key="api",
        label="API address",
        required=False,
        help="Only for a proxy or a test server. Default: https://discord.com/api/v10",
    ),
)
_TOKEN = re.compile(r"[A-Za-z0-9_.-]{20,200}")
_MAX_NAMED = 10


async def prepare(name: str, given: Mapping[str, str]) -> AccountDraft:
    token = given.get("token", "").strip().removeprefix("Bot ").strip()
    if not _TOKEN.fullmatch(token):
        raise UsageError(
            "This is not a bot token.",
            hint="Copy it from Discord's developer portal, under Bot; it has three parts with dots between.",
        )
    api = given.get("api", "").strip()
    settings = {"api": service_url(api, "API address")} if api else {}
    return AccountDraft(user="", settings=settings, secret=token)


async def check(account: Account, secret: str) -> AccountCheck:
    async with open_discord(account, secret) as api:
        me = await api.get("/users/@me")
        if not isinstance(me, dict) or "id" not in me:
            raise UsageError("This address is not Discord's API.", hint="Check the account's API address.")
        servers = await api.get("/users/@me/guilds", {"limit": 200})
        content = await reads_content(api)
    remarks = [_servers(servers)]
    if not content:
        remarks.append(
            "The Message Content Intent is off, so messages of others have no text. Turn it on in Discord's "
            "developer portal, under Bot."
        )
    return AccountCheck(identity=f"{display_name(me)} (bot)", remarks=tuple(remarks))


def _servers(servers: list[dict[str, str]]) -> str:
    if not servers:
        return "The bot is in no server yet: invite it with the link from the developer portal, under OAuth2."
    names = ", ".join(server["name"] for server in servers[:_MAX_NAMED])
    more = len(servers) - _MAX_NAMED
    return f"In {len(servers)} server{'s' if len(servers) > 1 else ''}: {names}" + (
        f" and {more} more." if more > 0 else "."
    )
