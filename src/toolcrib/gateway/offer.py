"""Which views an address serves: all that the config file knows, or one alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from toolcrib.config.settings import Settings
from toolcrib.gateway.profile import Profile, read_profile


@dataclass(frozen=True, kw_only=True)
class Offered:
    """A view and who may use it."""

    profile: Profile
    token_hash: str = ""
    """Empty where no token is needed."""


Offer = Callable[[Settings], Mapping[str, Offered]]
"""The views by name, as the settings are now; the one without a name is the whole crib."""


def offer_all(*, search: bool = False, plain_names: bool = False) -> Offer:
    """The whole crib, shown in the way that is asked for, and every profile."""

    def offered(settings: Settings) -> dict[str, Offered]:
        whole = replace(read_profile(settings), search=search, plain_names=plain_names)
        return {
            "": Offered(profile=whole, token_hash=settings.gateway.token_hash),
            **{name: _named(settings, name) for name in settings.profiles},
        }

    return offered


def offer_one(asked: Profile) -> Offer:
    """One view alone: the profile of this name, or the whole crib, narrowed by what was asked for besides.

    Nothing while there is no such profile.
    """

    def offered(settings: Settings) -> dict[str, Offered]:
        if asked.name and asked.name not in settings.profiles:
            return {}
        known = (
            _named(settings, asked.name)
            if asked.name
            else Offered(profile=read_profile(settings), token_hash=settings.gateway.token_hash)
        )
        return {asked.name: replace(known, profile=_narrowed(known.profile, asked))}

    return offered


def _named(settings: Settings, name: str) -> Offered:
    return Offered(profile=read_profile(settings, name), token_hash=settings.profiles[name].token_hash)


def _narrowed(known: Profile, asked: Profile) -> Profile:
    return replace(
        known,
        servers=asked.servers or known.servers,
        tools=asked.tools or known.tools,
        read_only=asked.read_only or known.read_only,
        search=asked.search or known.search,
        plain_names=asked.plain_names or known.plain_names,
    )
