"""Calendars on a CalDAV server: iCloud, Fastmail, Nextcloud, mailbox.org, Radicale and others."""

from __future__ import annotations

from collections.abc import Mapping

from toolcrib.accounts.account import Account, Setting
from toolcrib.accounts.dav import check_server_url, open_dav
from toolcrib.accounts.dav_discovery import find_home, list_calendars
from toolcrib.accounts.provider import AccountCheck, AccountField, Draft
from toolcrib.errors import UsageError
from toolcrib.features.accounts.caldav_servers import find_server, provider_without_caldav

TITLE = "CalDAV"
ABOUT = "Calendars on iCloud, Fastmail, Nextcloud, mailbox.org and other CalDAV servers."
SERVICES = ("calendar",)
FIELDS = (
    AccountField(key="user", label="Address or user name", help="For example anna@icloud.com"),
    AccountField(
        key="password", label="Password", help="An app password if the provider offers them", secret=True
    ),
    AccountField(
        key="url",
        label="Server URL",
        help="Not needed for well-known providers. For Nextcloud: https://cloud.example.org/remote.php/dav",
        required=False,
    ),
)


async def prepare(name: str, given: Mapping[str, str]) -> Draft:
    """The server of the address or URL; raises `UsageError`."""
    user, password = given.get("user", "").strip(), given.get("password", "")
    if not user or not password:
        missing = "a user name" if not user else "a password"
        raise UsageError(f"The account {name} needs {missing}.", hint="Give --user and --password-stdin.")
    settings, advice = _server(user, given.get("url", "").strip())
    check_server_url(str(settings["url"]))
    return Draft(user=user, settings=settings, secret=password, remarks=(advice,) if advice else ())


def _server(user: str, url: str) -> tuple[dict[str, Setting], str]:
    domain = user.rpartition("@")[2] if "@" in user else ""
    if url:
        return {"url": url if "://" in url else f"https://{url}"}, ""
    if not domain:
        raise UsageError(
            "The calendar server is not known.", hint="Give its URL: --url https://cloud.example.org/"
        )
    known = find_server(domain)
    if known is not None:
        return {"url": known.url, "domain": known.domain}, known.advice
    without = provider_without_caldav(domain)
    if without == "Google":
        raise UsageError("Google accounts use a sign-in.", hint="Use: toolcrib account add google NAME")
    if without:
        raise UsageError(f"{without} does not offer CalDAV.", hint="Use another calendar provider.")
    return {"url": f"https://{domain}/.well-known/caldav"}, ""


async def check(account: Account, secret: str) -> AccountCheck:
    """Find the calendars; raises `ToolcribError`."""
    async with open_dav(account, secret) as connection:
        home = await find_home(connection)
        calendars = await list_calendars(connection, home)
    if not calendars:
        remark = "The account has no calendars for events."
    else:
        remark = (
            f"Calendars: {', '.join(_shown(calendar.name, calendar.writable) for calendar in calendars)}."
        )
    return AccountCheck(identity=home.addresses[0] if home.addresses else account.user, remarks=(remark,))


def _shown(name: str, writable: bool) -> str:
    return name if writable else f"{name} (read-only)"
