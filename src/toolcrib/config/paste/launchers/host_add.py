"""The commands by which other hosts add a server: `claude mcp add …` and its kin."""

from __future__ import annotations

import json
from typing import Any

from toolcrib.config.paste.checks import check_address
from toolcrib.config.paste.pasted import CommandLine, Entries, Pasted, PastedAddress, PastedDocument

NAMES = ("claude", "codex", "gemini", "code", "code-insiders", "cursor", "fastmcp")
_KINDS = ("-t", "--transport", "--type")
_ENV = ("-e", "--env")
_HEADER = ("-H", "--header")
_IGNORED = ("-s", "--scope", "--timeout", "--description", "--include-tools", "--exclude-tools", "--url")
_FLAGS = ("--trust", "--client-secret")


def understand(command: CommandLine) -> Pasted | None:
    """The server that the other host would have added."""
    words = list(command.words[1:])
    if words[:1] == ["--add-mcp"] and len(words) == 2:
        return _from_json(words[1], "", command)
    if words[:2] == ["mcp", "add-json"] and len(words) >= 4:
        rest = [word for word in words[2:] if not word.startswith("-")]
        return _from_json(rest[-1], rest[-2], command)
    if words[:2] != ["mcp", "add"]:
        return None
    return _added(words[2:], command)


def _from_json(text: str, name: str, command: CommandLine) -> Pasted | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    name = name or str(found.pop("name", "server"))
    return PastedDocument(text=json.dumps({"mcpServers": {name: found}}), file=command.cwd / "pasted.json")


def _added(words: list[str], command: CommandLine) -> Pasted | None:
    env, headers, rest, kind = dict(command.env), {}, [], ""
    url = ""
    while words:
        word = words.pop(0)
        if word == "--":
            rest += words
            break
        if len(rest) >= 2:  # The server's own options.
            rest += [word, *words]
            break
        option, sign, value = word.partition("=")
        if option in _FLAGS:
            continue
        if option not in (*_KINDS, *_ENV, *_HEADER, *_IGNORED):
            if word.startswith("-"):
                return None
            rest.append(word)
            continue
        if not sign and not words:
            return None
        value = value if sign else words.pop(0)
        if option == "--url":
            url = value
        elif option in _KINDS:
            kind = value
        elif option in _ENV:
            key, _, content = value.partition("=")
            env[key] = content
        elif option in _HEADER:
            key, _, content = value.partition(":")
            headers[key.strip()] = content.strip()
    return _made([*rest, url] if url else rest, env, headers, kind, command)


def _made(
    rest: list[str], env: dict[str, Any], headers: dict[str, str], kind: str, command: CommandLine
) -> Pasted | None:
    if len(rest) < 2:
        return None
    name, target = rest[0], rest[1:]
    if target[0].startswith(("http://", "https://")):
        check_address(target[0])
        transport = "sse" if kind == "sse" else "http" if kind else None
        return PastedAddress(url=target[0], name=name, headers=headers, transport=transport)
    return Entries(servers={name: CommandLine(words=tuple(target), env=env, cwd=command.cwd).entry()})
