"""The entry that `toolcrib add` is about to write: made from the arguments, with its secrets, and shown.
Errors and examples for `--env`, `--header` and `--set`."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.cli.safe_text import revealed
from toolcrib.errors import UsageError

if TYPE_CHECKING:
    from toolcrib.servers.transport import Traits

_URL = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class EntryProposal:
    """An entry, and the values of the secrets that it refers to."""

    name: str
    entry: Mapping[str, Any]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    shown: Mapping[str, Any] | None = None
    """The entry without secrets; None if it contains none."""


def make_entry(
    target: tuple[str, ...],
    kind: str | None,
    env: Mapping[str, str],
    headers: Mapping[str, str],
    cwd: str | None,
) -> dict[str, Any]:
    """The entry for a command and its arguments, or for an address; raises `UsageError`."""
    if not target:
        raise UsageError(
            "The command or address of the server is missing.",
            hint="For example: toolcrib add NAME -- COMMAND, toolcrib add NAME URL",
        )
    from toolcrib.config.paste.parser import needed_folder

    remote = _traits(kind).remote if kind else len(target) == 1 and _URL.match(target[0]) is not None
    entry = _remote(target, kind, headers) if remote else _local(target, kind, headers)
    if env:
        entry["env"] = dict(env)
    folder = cwd or (None if remote else needed_folder(target))
    if folder:
        entry["cwd"] = str(Path(folder).expanduser().absolute())
    return entry


def _remote(target: tuple[str, ...], kind: str | None, headers: Mapping[str, str]) -> dict[str, Any]:
    from toolcrib.config.aliases import ADDRESS_TYPE

    if len(target) > 1 or not (_URL.match(target[0]) or "${" in target[0]):
        raise UsageError(
            f"A server of type {kind or ADDRESS_TYPE} takes one address.",
            hint="For example https://example.com/mcp.",
        )
    from toolcrib.config.paste.checks import check_address

    check_address(target[0])
    entry: dict[str, Any] = {"type": kind, "url": target[0]} if kind else {"url": target[0]}
    if headers:
        entry["headers"] = dict(headers)
    return entry


def _local(target: tuple[str, ...], kind: str | None, headers: Mapping[str, str]) -> dict[str, Any]:
    if headers:
        raise UsageError("--header only applies to servers with an address.", hint="Use --env for a command.")
    from toolcrib.config.aliases import COMMAND_TYPE

    entry: dict[str, Any] = {} if kind in (None, COMMAND_TYPE) else {"type": kind}
    entry[_traits(kind).first_word if kind else "command"] = target[0]
    if len(target) > 1:
        entry["args"] = list(target[1:])
    return entry


def _traits(kind: str) -> Traits:
    from toolcrib.servers.transport import traits_of  # an entry without a type needs no transport

    return traits_of(kind)


def read_pairs(given: Iterable[str], separator: str, option: str) -> dict[str, str]:
    """Parse `KEY=VALUE` or `Name: value` pairs; raises `UsageError`."""
    pairs: dict[str, str] = {}
    for pair in given:
        key, found, value = pair.partition(separator)
        if not found or not key.strip():
            # Without the text itself, which may be a secret.
            raise UsageError(
                f"{option} takes KEY{separator}VALUE.", hint=f"For example {option} {_EXAMPLES[option]}."
            )
        pairs[key.strip()] = value.strip() if option == "--header" else value
    return pairs


_EXAMPLES = {"--set": "path=/srv/notes", "--env": "LOG_LEVEL=debug", "--header": "'Authorization: Bearer …'"}


def find_secrets(name: str, entry: Mapping[str, Any]) -> EntryProposal:
    """The entry with references instead of values that look like secrets, and these values."""
    from toolcrib.config.secret_detection import looks_secret
    from toolcrib.config.secret_extraction import SecretExtractor

    extractor = SecretExtractor(name, looks_secret, lambda secret: None)
    return EntryProposal(name=name, entry=extractor.hide(entry), secrets=extractor.secrets)


def describe(proposal: EntryProposal) -> list[str]:
    """The whole entry, with hidden characters made visible; secrets are not shown."""
    entry = proposal.entry if proposal.shown is None else proposal.shown
    lines = []
    for key in ("url", "package", "module", "command"):
        if key in entry:
            words = [str(entry[key]), *map(str, entry.get("args", ()))]
            shown = words[0] if key == "url" else shlex.join(words)
            lines.append(f"  {key:<8} {revealed(shown)}")
    if "cwd" in entry:
        lines.append(f"  {'in':<8} {revealed(str(entry['cwd']))}")
    for section in ("env", "headers"):
        for key, value in (entry.get(section) or {}).items():
            lines.append(f"  {section:<8} {revealed(key)} = {revealed(_text(value))}")
    if entry.get("sandbox"):
        lines.append(f"  {'sandbox':<8} {sandbox_shown(entry['sandbox'])}")
    return lines


def sandbox_shown(sandbox: Any) -> str:
    """The sandbox of an entry: its settings, or what the default one is."""
    if sandbox is True:
        return "on: only its own files, what its arguments name, and other machines"
    return revealed(json.dumps(sandbox, ensure_ascii=False))


def _text(value: Any) -> str:
    return "(unset)" if value is None else str(value)
