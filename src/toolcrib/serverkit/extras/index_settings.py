"""Package index settings for uv: pip's own, which uv does not read; and readable errors of installers,
without noise and passwords."""

from __future__ import annotations

import configparser
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_UV_OWN = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_CONFIG_FILE",
    "UV_NO_INDEX",
)
_NOISE = re.compile(r"^\s*(warning|npm warn|Using |Resolved |Prepared |Downloading |hint: )", re.IGNORECASE)
_ADDRESS = re.compile(r"(https?://)[^\s/]*@")


def index_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Variables that make uv use pip's indexes; empty if uv has its own settings."""
    if any(environ.get(name) for name in _UV_OWN) or _has_own_file(environ):
        return {}
    pip = pip_settings(environ)
    variables: dict[str, str] = {}
    if pip.get("index-url"):
        variables["UV_DEFAULT_INDEX"] = pip["index-url"]
    if pip.get("extra-index-url"):
        # Like pip: the best version of all indexes. uv's default would take an older one from the first
        # index.
        variables["UV_INDEX"] = " ".join(pip["extra-index-url"].split())
        variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    if pip.get("find-links"):
        variables["UV_FIND_LINKS"] = ",".join(pip["find-links"].split())
    if pip.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        variables["UV_NO_INDEX"] = "1"
    if pip.get("trusted-host"):
        variables["UV_INSECURE_HOST"] = " ".join(pip["trusted-host"].split())
    if pip.get("cert") and not environ.get("SSL_CERT_FILE"):
        variables["SSL_CERT_FILE"] = pip["cert"]
    return variables


def pip_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """pip's settings in pip's own order: files from global to user, then variables."""
    settings: dict[str, str] = {}
    for file in _pip_files(environ):
        parser = configparser.RawConfigParser()
        try:
            parser.read(file, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                settings.update(parser.items(section))
    for name, value in environ.items():
        if name.startswith("PIP_") and value:
            settings[name[4:].lower().replace("_", "-")] = value
    return settings


def reasons(lines: Sequence[str]) -> str:
    """An installer's error lines joined, without noise and passwords."""
    spoken = [line.strip(" ×╰─▶│├·") for line in lines if line.strip() and not _NOISE.match(line)]
    return without_passwords(" ".join(spoken))[-1500:]


def without_passwords(text: str) -> str:
    """Text of an installer with the credentials of index addresses replaced."""
    return _ADDRESS.sub(r"\1…@", text)


def _has_own_file(environ: Mapping[str, str]) -> bool:
    """Whether a uv.toml of the user sets an index."""
    home = Path(environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "/"), ".config"))
    for file in (home / "uv" / "uv.toml", Path("/etc/uv/uv.toml")):
        try:
            if "index" in file.read_text(encoding="utf-8"):
                return True
        except (OSError, UnicodeDecodeError):
            continue
    return False


def _pip_files(environ: Mapping[str, str]) -> list[Path]:
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    home = Path(environ.get("HOME", "/"))
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    shared = [
        Path(folder) / "pip" / "pip.conf" for folder in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")
    ]
    files = [*shared, Path("/etc/pip.conf"), home / ".pip" / "pip.conf", config / "pip" / "pip.conf"]
    if sys.platform == "darwin":
        files.insert(-1, home / "Library" / "Application Support" / "pip" / "pip.conf")
    files.append(Path(sys.prefix) / "pip.conf")
    return [*files, Path(named)] if named else files
