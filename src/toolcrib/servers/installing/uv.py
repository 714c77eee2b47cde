"""Finds uv, and tells it which package indexes pip is set up with: uv does not read pip's settings itself."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolcrib.errors import InstallFailed
from toolcrib.servers.installing.context import InstallContext

_UV_OWN = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_CONFIG_FILE",
    "UV_NO_INDEX",
)
_NOISE = re.compile(r"^\s*(warning|npm warn|Using |Resolved |Prepared |Downloading |hint: )", re.IGNORECASE)
_ADDRESS = re.compile(r"(https?://)[^\s@/]*@")


def find_uv(bench: InstallContext) -> str:
    """The uv that came with us, else one of the system's; raises `InstallFailed`."""
    beside = str(Path(sys.executable).parent)
    path = os.pathsep.join([beside, bench.runner.environ.get("PATH", os.defpath)])
    found = shutil.which("uv", path=path)
    if found is None:
        raise InstallFailed("uv, which installs Python servers, was not found.", hint="Type: pip install uv")
    return found


def index_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """What uv has to be told so that it looks where pip would; nothing when uv has settings of its own."""
    if any(environ.get(name) for name in _UV_OWN) or _has_own_file(environ):
        return {}
    pip = pip_settings(environ)
    told: dict[str, str] = {}
    if pip.get("index-url"):
        told["UV_DEFAULT_INDEX"] = pip["index-url"]
    if pip.get("extra-index-url"):
        # As pip does it: the best version of all. uv's own way would take an older one of the first index.
        told["UV_INDEX"] = " ".join(pip["extra-index-url"].split())
        told["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    if pip.get("find-links"):
        told["UV_FIND_LINKS"] = ",".join(pip["find-links"].split())
    if pip.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        told["UV_NO_INDEX"] = "1"
    if pip.get("trusted-host"):
        told["UV_INSECURE_HOST"] = " ".join(pip["trusted-host"].split())
    if pip.get("cert") and not environ.get("SSL_CERT_FILE"):
        told["SSL_CERT_FILE"] = pip["cert"]
    return told


def pip_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """pip's settings as pip itself would read them: files from the general to the special, then variables."""
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
    """The lines of an installer that say what went wrong, in one; without passwords in addresses."""
    spoken = [line.strip(" ×╰─▶│├·") for line in lines if line.strip() and not _NOISE.match(line)]
    said = " ".join(spoken)[-1500:]
    return _ADDRESS.sub(r"\1…@", said)


def _has_own_file(environ: Mapping[str, str]) -> bool:
    """True when the person keeps a uv.toml that names an index."""
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
