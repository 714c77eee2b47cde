"""Calendars on a CalDAV server: the list of known providers (iCloud, Fastmail, Nextcloud, mailbox.org and
others) and of those without CalDAV, the form, and the check of the account.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from toolcrib.accounts.account import Account, Setting
from toolcrib.accounts.dav import check_server_url, open_dav
from toolcrib.accounts.dav_discovery import find_home, list_calendars
from toolcrib.accounts.provider import AccountCheck, AccountDraft, AccountField
from toolcrib.errors import UsageError

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


class CalendarServer(NamedTuple):
    url: str
    domain: str = ""
    """The provider's own hosts, which may also get the password: calendars of one user can be on another."""
    advice: str = ""


_APP_PASSWORD = "Use an app password, which the provider's account settings create."  # noqa: S105
_SERVERS: dict[str, CalendarServer] = {
    "icloud.com me.com mac.com": CalendarServer("https://caldav.icloud.com/", "icloud.com", _APP_PASSWORD),
    "fastmail.com fastmail.fm fastmail.net fastmail.org fastmail.de messagingengine.com sent.com": (
        CalendarServer("https://caldav.fastmail.com/", "fastmail.com", _APP_PASSWORD)
    ),
    "gmx.net gmx.de gmx.at gmx.ch": CalendarServer("https://caldav.gmx.net/", "gmx.net"),
    "gmx.com gmx.us gmx.co.uk": CalendarServer("https://caldav.gmx.com/", "gmx.com"),
    "web.de": CalendarServer("https://caldav.web.de/", "web.de"),
    "mailbox.org": CalendarServer("https://dav.mailbox.org/", "mailbox.org"),
    "posteo.de posteo.net posteo.org posteo.eu posteo.at posteo.ch": CalendarServer(
        "https://posteo.de:8443/", "posteo.de"
    ),
    "yahoo.com yahoo.de yahoo.fr yahoo.co.uk yahoo.it yahoo.es ymail.com rocketmail.com": CalendarServer(
        "https://caldav.calendar.yahoo.com/", "yahoo.com", _APP_PASSWORD
    ),
    "aol.com": CalendarServer("https://caldav.aol.com/", "aol.com", _APP_PASSWORD),
    "zoho.com zohomail.com": CalendarServer("https://calendar.zoho.com/", "zoho.com", _APP_PASSWORD),
    "zoho.eu zohomail.eu": CalendarServer("https://calendar.zoho.eu/", "zoho.eu", _APP_PASSWORD),
    "runbox.com": CalendarServer("https://dav.runbox.com/", "runbox.com"),
    "kolabnow.com": CalendarServer("https://apps.kolabnow.com/", "kolabnow.com"),
    "mailfence.com": CalendarServer("https://mailfence.com/", "mailfence.com"),
    "soverin.net": CalendarServer("https://calendar.soverin.net/", "soverin.net"),
    "purelymail.com": CalendarServer("https://purelymail.com/", "purelymail.com"),
    "disroot.org": CalendarServer("https://cloud.disroot.org/", "disroot.org"),
    "yandex.ru yandex.com ya.ru": CalendarServer("https://caldav.yandex.ru/", "yandex.ru", _APP_PASSWORD),
    "mail.ru inbox.ru list.ru bk.ru": CalendarServer("https://calendar.mail.ru/", "mail.ru", _APP_PASSWORD),
}
WITHOUT_CALDAV = {
    "Google": ("gmail.com", "googlemail.com"),
    "Microsoft": ("outlook.com", "hotmail.com", "live.com", "msn.com"),
    "Proton": ("proton.me", "protonmail.com", "pm.me"),
    "Tuta": ("tuta.com", "tutanota.com", "tutanota.de"),
}


def find_server(domain: str) -> CalendarServer | None:
    """The server of a provider; None for other domains."""
    domain = domain.lower()
    return next((server for names, server in _SERVERS.items() if domain in names.split()), None)


def provider_without_caldav(domain: str) -> str:
    """The provider's name if it does not offer CalDAV; else empty."""
    domain = domain.lower()
    return next((name for name, domains in WITHOUT_CALDAV.items() if domain in domains), "")


async def prepare(name: str, given: Mapping[str, str]) -> AccountDraft:
    """The server of the address or URL; raises `UsageError`."""
    user, password = given.get("user", "").strip(), given.get("password", "")
    if not user or not password:
        missing = "a user name" if not user else "a password"
        raise UsageError(f"The account {name} needs {missing}.", hint="Give --user and --password-stdin.")
    settings, advice = _server(user, given.get("url", "").strip())
    check_server_url(str(settings["url"]))
    return AccountDraft(user=user, settings=settings, secret=password, remarks=(advice,) if advice else ())


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
