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
from toolcrib.store.connection import DatabaseConnection, transaction
from toolcrib.store.decisions import Decisions, upsert_decision

Profiles = Mapping[str, Mapping[str, Any]]
"""By name, as in a config file."""
_TABLE = "gateway_profiles"
_ADD = f"INSERT INTO {_TABLE} (name, profile, changed_at, decided) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"  # noqa: S608
_UPSERT = upsert_decision(_TABLE)
_CLOSED = {"tokenHash": "refused"}
"""Fits no token. If the token of clients without a profile is refused, none of them is accepted."""


def read_profiles(decisions: Decisions, connection: DatabaseConnection) -> dict[str, dict[str, Any]]:
    rows = decisions.read(connection, _TABLE, "ORDER BY name")
    closed = {"": _CLOSED} if ("",) in decisions.refused.get(_TABLE, {}) else {}
    return {**closed, **{name: json.loads(profile) for name, profile, _, _ in rows}}


def add_profiles(
    profiles: Profiles, clock: Clock, decisions: Decisions, connection: DatabaseConnection
) -> None:
    """Add those whose names are not taken."""
    now = to_stored(clock.now())
    rows = [(name, json.dumps(raw), now) for name, raw in profiles.items()]
    signed = [(*row, decisions.decide(_TABLE, *row)) for row in rows]
    connection.executemany(_ADD, signed)


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
    """Changed as the config file is: `put_profile(ProfileRows(connection, clock, decisions), …)`."""

    def __init__(self, connection: DatabaseConnection, clock: Clock, decisions: Decisions) -> None:
        self._decisions = decisions
        self._connection = connection
        self._clock = clock

    @contextmanager
    def edit(self) -> Iterator[dict[str, Any]]:
        """The profiles as a document; written when the block is left, unless it raised."""
        with transaction(self._connection):
            rows = self._decisions.read(self._connection, _TABLE, "ORDER BY name FOR UPDATE")
            before = {name: json.loads(raw) for name, raw, _, _ in rows}
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
                row = (name, json.dumps(raw), now)
                self._connection.execute(_UPSERT, (*row, self._decisions.decide(_TABLE, *row)))


def _document(profiles: dict[str, dict[str, Any]]) -> dict[str, Any]:
    gateway = profiles.pop("", None)
    return {OWN: {"profiles": profiles, **({} if gateway is None else {"gateway": gateway})}}


def _rows(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    own = document[OWN]
    # Also without a token, once one was removed: otherwise that of the config file would be valid again.
    return {**own["profiles"], **({"": own["gateway"]} if "gateway" in own else {})}
