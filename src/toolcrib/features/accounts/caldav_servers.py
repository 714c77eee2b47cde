"""CalDAV servers of well-known providers, found by the domain of an address."""

from __future__ import annotations

from typing import NamedTuple


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
