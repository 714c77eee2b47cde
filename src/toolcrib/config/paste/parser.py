"""Finds the meaning of what is pasted after `toolcrib add`: a command line, package, address, file, folder
or JSON, after a prompt such as `$`; with the errors for what is not recognised. Reads the files that it
names, and changes nothing.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from toolcrib import plugins
from toolcrib.config.drafts import REACHES, as_object
from toolcrib.config.paste.checks import SCHEME, SCRIPTS, check_address, missing_file
from toolcrib.config.paste.pasted import (
    CommandLine,
    Entries,
    Install,
    Pasted,
    PastedAddress,
    PastedDocument,
    is_link,
    npm_reference,
    pypi_reference,
    read_link,
    short_name,
)
from toolcrib.errors import UsageError
from toolcrib.serverkit.bounded_read import read_bounded_text

LAUNCHERS = "toolcrib.config.paste.launchers"
OWN_FILE = "toolcrib.json"
"""The entry of a server that runs in its own folder."""
LARGEST_FILE = 8 * 1024 * 1024
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_PACKAGES = (".mcpb", ".dxt", ".tgz", ".tar.gz", ".whl", ".zip")
_CONFIGS = (".json", ".jsonc", ".toml", ".yaml", ".yml")
_RUNTIMES = ("cmd", "node", "python", "python3", "deno", "java", "sh", "bash", "env")
_PROMPT = re.compile(r"^\s*(?:[$>#]|PS [^>]*>)\s+")


def understand(words: Sequence[str], cwd: Path) -> Pasted:
    """The meaning of the arguments; raises `UsageError` if they are ambiguous or not recognised."""
    words = [word for word in words if word.strip()]
    if not words:
        raise UsageError(
            "The way to reach the server is missing.", hint="Give a command, an address or a package."
        )
    return _one(words[0].strip(), cwd) if len(words) == 1 else _line(words, cwd)


def is_launcher(word: str) -> bool:
    """Whether this is a program that starts servers, such as npx."""
    return CommandLine(words=(word,), cwd=Path()).program in _launchers()


def begins_command(word: str, following: str) -> bool:
    """Whether a pasted command line begins here; a server may well be called `docker` or `claude`."""
    program = CommandLine(words=(word,), cwd=Path()).program
    if program not in _launchers() and program not in _RUNTIMES:
        return False
    named = following.startswith(("npm:", "pypi:", "{")) or bool(_URL.match(following))
    return not named and not is_launcher(following)


def is_beginning(word: str) -> bool:
    """Whether this is a paste rather than the name of a server."""
    return (
        word.startswith(("npm:", "pypi:", "{", "@", "./", "../", "/", "~"))
        or any(sign in word for sign in (" ", "\n", "="))
        or bool(SCHEME.match(word))
        or is_link(word)
    )


def _one(word: str, cwd: Path) -> Pasted:
    if word.startswith("{") or word.startswith('"'):
        return _json(word, cwd)
    if is_link(word):
        return read_link(word, cwd) or _nothing(word)
    if SCHEME.match(word) and not re.search(r"\s", word):
        check_address(word)
        return PastedAddress(url=word, name=_host_name(word))
    path = cwd / Path(word).expanduser()
    if path.exists():
        return _path(path)
    if "\n" in word or " " in word:
        return _line(_split(word), cwd)
    return _package(word, cwd)


def as_command(words: Sequence[str], cwd: Path) -> Entries:
    """The arguments as a plain command."""
    whole = _split(words[0]) if len(words) == 1 else words
    command = _command(whole, cwd)
    return Entries(servers={_name_of(command.words): command.entry()})


def _command(words: Sequence[str], cwd: Path) -> CommandLine:
    """A command line, less a prompt and variables before it."""
    env: dict[str, str] = {}
    left = list(words)
    if left[0] in ("$", ">", "env", "export"):
        left.pop(0)
    while left and (found := _ASSIGNMENT.fullmatch(left[0])):
        env[found[1]] = found[2]
        left.pop(0)
    if len(left) >= 2 and left[0].lower() in ("cmd", "cmd.exe") and left[1].lower() == "/c":
        left = left[2:]
    if not left:
        raise UsageError("There is no command after the variables.", hint="VAR=value COMMAND …")
    return CommandLine(words=tuple(left), env=env, cwd=cwd)


def _line(words: Sequence[str], cwd: Path) -> Pasted:
    command = _command(words, cwd)
    left = command.words
    launcher = _launchers().get(command.program)
    if launcher is not None:
        understood: Pasted | None = plugins.find(LAUNCHERS, launcher).understand(command)
        if understood is not None:
            return _deeper(understood, cwd)
    package = left[0].startswith(("npm:", "pypi:", "@")) or left[0].lower().endswith(_PACKAGES)
    if package or (len(left) == 1 and not command.env):
        return _with(_one(left[0], cwd), command)
    path = cwd / Path(left[0]).expanduser()
    if path.is_dir() or (path.is_file() and left[0].lower().endswith((*_PACKAGES, "server.json"))):
        return _with(_path(path), command)
    return Entries(servers={_name_of(left): command.entry()})


def _deeper(understood: Pasted, cwd: Path) -> Pasted:
    """A host's own command may hold one that fetches a package: then that is what is meant."""
    if not isinstance(understood, Entries) or len(understood.servers) != 1:
        return understood
    ((name, entry),) = understood.servers.items()
    if str(entry["command"]) not in ("npx", "uvx", "bunx", "pipx", "uv", "cmd", "docker"):
        return understood
    inner = CommandLine(words=(entry["command"], *entry.get("args", ())), env=entry.get("env", {}), cwd=cwd)
    launcher = _launchers().get(inner.program)
    found = plugins.find(LAUNCHERS, launcher).understand(inner) if launcher else None
    if isinstance(found, Install):
        return Install(**{**vars(found), "name": name})
    return understood


def _with(found: Pasted, command: CommandLine) -> Pasted:
    """A package with the arguments and variables around it."""
    if isinstance(found, Install):
        return Install(**{**vars(found), "args": command.words[1:], "env": command.env})
    if isinstance(found, Entries) and len(command.words) > 1:
        ((name, entry),) = found.servers.items()
        return Entries(servers={name: {**entry, "args": [*entry.get("args", ()), *command.words[1:]]}})
    return found


def _json(text: str, cwd: Path) -> Pasted:
    """An object, or the inside of one: `"name": {…}`."""
    whole = text if text.startswith("{") else f"{{{text.rstrip().rstrip(',')}}}"
    return PastedDocument(text=whole, file=cwd / "pasted.json")


def _path(path: Path) -> Pasted:
    if path.is_dir():
        return _folder(path)
    lowered = path.name.lower()
    if lowered.endswith(_PACKAGES):
        return Install(reference=str(path.absolute()), name=short_name(_unversioned(path.name)))
    if lowered.endswith(_CONFIGS):
        text = _read(path, "utf-8-sig")
        if _is_registry_document(text):
            return Install(reference=str(path.absolute()), name="server")
        return PastedDocument(text=text, file=path.absolute())
    return Install(reference=str(path.absolute()), name=short_name(path.name))


def _folder(path: Path) -> Pasted:
    """A folder with a `toolcrib.json` runs in place; any other folder is installed as a copy."""
    own = path / OWN_FILE
    if not own.is_file():
        return Install(reference=str(path.absolute()), name=short_name(path.absolute().name))
    try:
        found: Any = json.loads(_read(own))
    except ValueError as error:
        raise UsageError(f"{own} is not valid JSON: {error}.", hint="Fix it.") from None
    if not isinstance(found, dict):
        raise UsageError(f"{own} is not a JSON object.", hint='Such as {"command": "…", "args": […]}.')
    name = str(found.pop("name", "") or short_name(path.absolute().name))
    return Entries(servers={name: {**found, "cwd": str(path.absolute())}})


def _read(path: Path, encoding: str = "utf-8") -> str:
    try:
        return read_bounded_text(path, LARGEST_FILE, encoding=encoding)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text.") from None


def _is_registry_document(text: str) -> bool:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "name" in found and ("packages" in found or "remotes" in found)


def _package(word: str, cwd: Path) -> Pasted:
    scheme, sign, spec = word.partition(":")
    readers = {"npm": npm_reference, "pypi": pypi_reference}
    if sign and scheme in readers:
        reference = readers[scheme](spec)
        if reference is None:
            raise UsageError(
                f"{spec!r} is not a package name.", hint="Such as npm:NAME@1.2.3 or pypi:NAME==1.2.3."
            )
        return Install(reference=reference, name=short_name(spec))
    if word.startswith("@") and (reference := npm_reference(word)):
        return Install(reference=reference, name=short_name(word))
    if _names_file(word):
        raise missing_file(word, cwd)
    if npm_reference(word) is None and pypi_reference(word) is None:
        return _nothing(word)
    return _known(word)


def _names_file(word: str) -> bool:
    lowered = word.lower()
    return (
        "/" in word
        or "\\" in word
        or word.startswith(("~", "."))
        or lowered.endswith((*_PACKAGES, *_CONFIGS, *SCRIPTS))
    )


def _known(word: str) -> Pasted:
    """A bare name is looked up in the catalog; anyone may have put such a name on either index."""
    from toolcrib.catalog.listing import by_name

    listed = by_name(word)
    if listed is not None and listed.module:
        return Entries(servers={listed.name: listed.entry})
    if listed is not None and listed.setting:
        raise UsageError(
            f"{listed.title} is part of the host.",
            hint=f"Turn it on with: toolcrib settings set {listed.setting} true",
        )
    if listed is not None and (listed.args or not listed.reference):
        raise UsageError(f"{listed.title} needs more arguments.", hint=f"Such as: {listed.command}")
    if listed is not None:
        return Install(reference=listed.reference, name=listed.name)
    raise UsageError(
        f"{word} could be an npm package, a PyPI package or a program.",
        hint=f"Choose one: npm:{word}, pypi:{word}; or with a name before it: toolcrib add NAME -- {word}",
    )


def _nothing(word: str) -> Pasted:
    raise UsageError(
        f"{word[:80]!r} is not recognised.",
        hint="Give a package (npm:… or pypi:…), a command, an address, a file or a JSON object.",
    )


def _split(text: str) -> list[str]:
    """The words of a pasted line, or of several joined by backslashes."""
    joined = _PROMPT.sub("", re.sub(r"\\\r?\n", " ", text.strip()))
    try:
        words = shlex.split(joined)
    except ValueError as error:
        raise UsageError(f"The quotes of this line do not match: {error}.") from None
    if "\n" in joined.strip():
        raise UsageError("This is more than one line.", hint="Paste one command at a time, or a file.")
    return words


def _launchers() -> dict[str, str]:
    return {
        name: module for module in plugins.names(LAUNCHERS) for name in plugins.find(LAUNCHERS, module).NAMES
    }


def _name_of(words: Sequence[str]) -> str:
    """After what it runs: a module, a script, or the program itself."""
    if "-m" in words[1:-1]:
        return short_name(words[words.index("-m", 1) + 1].replace("_", "-").partition(".")[0])
    script = next((word for word in words[1:] if re.search(r"\.(?:py|[cm]?js|ts|jar)$", word)), words[0])
    path = Path(script)
    stem = short_name(path.name)
    return (
        short_name(path.absolute().parent.name) if stem in ("index", "main", "server", "__main__") else stem
    )


def _unversioned(name: str) -> str:
    return re.sub(r"[-_]v?\d+(?:\.\d+).*?(?=\.(?:mcpb|dxt|tgz|tar\.gz|whl|zip)$)", "", name)


def _host_name(url: str) -> str:
    parsed = urlsplit(url)
    host = parsed.hostname or "server"
    if host in ("localhost", "::1") or host.startswith("127."):
        return f"local-{parsed.port}" if parsed.port else "local"
    if host.replace(".", "").isdigit() or ":" in host:
        return f"server-{host.replace('.', '-').replace(':', '-').strip('-')}"
    parts = [part for part in host.split(".") if part not in ("www", "mcp", "api")] or [host]
    return short_name(parts[-2] if len(parts) > 1 else parts[0])


def as_install(entry: Mapping[str, Any]) -> Install | None:
    """The package that an entry's command would fetch, where it is one of those."""
    words = (str(entry.get("command", "")), *map(str, entry.get("args") or ()))
    if "url" in entry or len(words) < 2 or not is_launcher(words[0]):
        return None
    found = understand(words, Path.cwd())
    if not isinstance(found, Install):
        return None
    env = {key: str(value) for key, value in (entry.get("env") or {}).items() if value is not None}
    return Install(**{**vars(found), "env": env, "cwd": entry.get("cwd")})


def named(text: str, name: str) -> str:
    """A document in which a single entry without a name has one."""
    entry = as_object(text)
    if entry is None or not any(isinstance(entry.get(key), str) for key in REACHES):
        return text
    package = as_install(dict(entry))
    return json.dumps({"mcpServers": {name or (package.name if package else "server"): entry}})


def needed_folder(words: Iterable[str], here: Path | None = None) -> str | None:
    """This folder, if an argument names a file in it: a host may be started from anywhere."""
    here = here or Path.cwd()
    for word in words:
        looks_like_a_path = "/" in word or Path(word).suffix or word in (".", "..")
        if not looks_like_a_path or Path(word).is_absolute() or word.startswith(("-", "~")):
            continue
        if (here / word).exists():
            return str(here)
    return None
