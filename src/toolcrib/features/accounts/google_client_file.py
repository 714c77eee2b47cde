"""Reads the user's OAuth client: the JSON file of the Google Cloud console, or its id and secret."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from toolcrib.accounts.google.credentials import GoogleCredentials
from toolcrib.accounts.google.endpoints import KEYS, GoogleEndpoints
from toolcrib.errors import UsageError

_HOW = "Create an OAuth client of the type Desktop app in the Google Cloud console (see docs/accounts.md)."


def read_client(given: Mapping[str, str]) -> tuple[GoogleCredentials, GoogleEndpoints] | None:
    """The client without tokens, and the endpoints; None if the user gave none. Raises `UsageError`."""
    if given.get("client_file", "").strip():
        return _from_file(given["client_file"])
    if not given.get("client_id", "").strip():
        return None
    credentials = GoogleCredentials(
        client_id=given["client_id"].strip(), client_secret=given.get("client_secret", "").strip()
    )
    return credentials, GoogleEndpoints()


def no_client() -> UsageError:
    return UsageError("A Google account needs an OAuth client of yours.", hint=_HOW)


def _from_file(text: str) -> tuple[GoogleCredentials, GoogleEndpoints]:
    document = _parse(text)
    if "web" in document:
        raise UsageError("This OAuth client is of the type Web application.", hint=_HOW)
    installed = document.get("installed")
    if not isinstance(installed, dict) or not isinstance(installed.get("client_id"), str):
        raise UsageError("This is not the client file of an OAuth client.", hint=_HOW)
    credentials = GoogleCredentials(
        client_id=installed["client_id"], client_secret=str(installed.get("client_secret") or "")
    )
    named = {key: value for key in KEYS if isinstance(value := installed.get(key), str)}
    return credentials, GoogleEndpoints.of(_without_google(named))


def _without_google(named: dict[str, str]) -> dict[str, Any]:
    """The file names Google's endpoints in older forms too; the current ones are used."""
    return {key: value for key, value in named.items() if not _is_google(value)}


def _is_google(address: str) -> bool:
    return address.startswith(("https://accounts.google.com/", "https://oauth2.googleapis.com/"))


def _parse(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise UsageError("The client file is not JSON.", hint=_HOW)
    return document
