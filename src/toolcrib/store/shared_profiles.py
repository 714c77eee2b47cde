"""The gateway's profiles and tokens in the shared database, as a document like the config file's.

Each profile is one row; the row without a name has the token of clients without a profile, and how they are
asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Any

from toolcrib.clock import Clock
from toolcrib.config.contents import Config
from toolcrib.config.settings import GatewaySettings, ProfileSettings
from toolcrib.config.settings_file import OWN
from toolcrib.store.columns import to_stored
from toolcrib.store.connection import Connection, transaction

Profiles = Mapping[str, Mapping[str, Any]]
"""By name, as in a config file."""
_LOCK = "SELECT name, profile FROM gateway_profiles ORDER BY name FOR UPDATE"
_UPSERT = (
    "INSERT INTO gateway_profiles VALUES (?, ?, ?) ON CONFLICT (name)"
    " DO UPDATE SET profile = excluded.profile, changed_at = excluded.changed_at"
)


def read_profiles(connection: Connection) -> dict[str, dict[str, Any]]:
    rows = connection.execute("SELECT name, profile FROM gateway_profiles ORDER BY name")
    return {name: json.loads(profile) for name, profile in rows}


def add_profiles(profiles: Profiles, clock: Clock, connection: Connection) -> None:
    """Add those whose names are not taken."""
    now = to_stored(clock.now())
    statement = "INSERT INTO gateway_profiles VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
    connection.executemany(statement, [(name, json.dumps(raw), now) for name, raw in profiles.items()])


def overlaid(config: Config, profiles: Profiles) -> Config:
    """The config with these profiles; those that only the file has stay, for this host alone."""
    if not profiles:
        return config
    named = {name: ProfileSettings.read(raw) for name, raw in profiles.items() if name}
    gateway = config.settings.gateway
    if "" in profiles:
        view = GatewaySettings.read(profiles[""])
        asks = view.approvals if "approvals" in profiles[""] else gateway.approvals
        gateway = gateway.replace(token_hash=view.token_hash, token_tail=view.token_tail, approvals=asks)
    settings = config.settings.replace(profiles={**config.settings.profiles, **named}, gateway=gateway)
    return replace(config, settings=settings)


class ProfileRows:
    """Changed as the config file is: `put_profile(ProfileRows(connection, clock), …)`."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock

    @contextmanager
    def edit(self) -> Iterator[dict[str, Any]]:
        """The profiles as a document; written when the block is left, unless it raised."""
        with transaction(self._connection):
            before = {name: json.loads(raw) for name, raw in self._connection.execute(_LOCK)}
            document = _document(deepcopy(before))
            yield document
            self._write(before, _rows(document))

    def _write(self, before: Profiles, after: Profiles) -> None:
        now = to_stored(self._clock.now())
        for name in before.keys() - after.keys():
            self._connection.execute("DELETE FROM gateway_profiles WHERE name = ?", (name,))
        for name, raw in after.items():
            (ProfileSettings if name else GatewaySettings).read(raw)
            if before.get(name) != raw:
                self._connection.execute(_UPSERT, (name, json.dumps(raw), now))


def _document(profiles: dict[str, dict[str, Any]]) -> dict[str, Any]:
    gateway = profiles.pop("", None)
    return {OWN: {"profiles": profiles, **({} if gateway is None else {"gateway": gateway})}}


def _rows(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    own = document[OWN]
    # Also without a token, once one was removed: otherwise that of the config file would be valid again.
    return {**own["profiles"], **({"": own["gateway"]} if "gateway" in own else {})}
