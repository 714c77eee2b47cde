"""The manifest of an `.mcpb` bundle (once `.dxt`): its command and its user settings."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolcrib.errors import InstallFailed
from toolcrib.servers.installers.engine.plan import InstallQuestion, literal, slot

HERE = "${__dirname}"
_USER = re.compile(r"\$\{user_config\.([^}]+)\}")
_PLATFORMS = {"linux": "linux", "darwin": "darwin", "win32": "win32"}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class BundleCommand(_Model):
    command: str = Field(min_length=1)
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    platform_overrides: dict[str, dict[str, Any]] = {}

    def here(self) -> BundleCommand:
        """The command for this platform; an override replaces values, it is not merged."""
        override = self.platform_overrides.get(_PLATFORMS.get(sys.platform, sys.platform))
        return self.model_validate({**self.model_dump(), **override}) if override else self


class BundleServer(_Model):
    type: Literal["node", "python", "binary", "uv"]
    entry_point: str = ""
    mcp_config: BundleCommand | None = None


class BundleInput(_Model):
    """A user setting."""

    type: Literal["string", "number", "boolean", "directory", "file"] = "string"
    title: str = ""
    description: str = ""
    required: bool = False
    default: Any = None
    multiple: bool = False
    sensitive: bool = False
    min: float | None = None
    max: float | None = None


class BundleCompatibility(_Model):
    platforms: tuple[str, ...] = ()


class BundleManifest(_Model):
    name: str = Field(min_length=1)
    version: str = Field(min_length=1)
    description: str = ""
    server: BundleServer
    user_config: dict[str, BundleInput] = {}
    compatibility: BundleCompatibility = BundleCompatibility()


def read_manifest(content: bytes, source: str) -> BundleManifest:
    """Raises `InstallFailed` if invalid."""
    try:
        manifest = BundleManifest.model_validate(json.loads(content.decode("utf-8-sig")))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InstallFailed(f"The manifest of {source} is invalid: {where}: {first['msg']}.") from None
    except (ValueError, RecursionError) as error:
        raise InstallFailed(f"The manifest of {source} is not valid JSON: {error}") from None
    platforms = manifest.compatibility.platforms
    if platforms and sys.platform not in platforms:
        raise InstallFailed(
            f"{manifest.name} does not run on {sys.platform}, only on {', '.join(platforms)}."
        )
    check_inside(manifest.server.entry_point, source)
    return manifest


def questions_of(manifest: BundleManifest, home: Path) -> tuple[InstallQuestion, ...]:
    return tuple(
        InstallQuestion(
            key=key,
            title=asked.title or key,
            description=asked.description,
            kind=asked.type,
            required=asked.required,
            default=_default(asked.default, home),
            multiple=asked.multiple,
            secret=asked.sensitive,
            minimum=asked.min,
            maximum=asked.max,
        )
        for key, asked in manifest.user_config.items()
    )


def check_inside(path: str, source: str) -> None:
    """Refuse a path outside the bundle."""
    if path.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", path):
        raise InstallFailed(
            f"{source} refers to a file outside itself: {path[:200]!r}.", hint="Do not use it."
        )


def fill_in(text: str, folder: Path, home: Path) -> str:
    """An argument with folders filled in and settings as slots; the rest is unchanged."""
    if HERE in text:
        check_inside(text.partition(HERE)[2].lstrip("/"), "The bundle")
    return _replace(text, {**_folders(home), "__dirname": str(folder)})


def _folders(home: Path) -> dict[str, str]:
    named = {name.upper(): str(home / name) for name in ("Desktop", "Documents", "Downloads")}
    return {**named, "HOME": str(home), "/": "/", "pathSeparator": "/"}


def _replace(text: str, values: Mapping[str, str]) -> str:
    parts = re.split(r"(\$\{[^}]*\})", text)
    return "".join(_part(part, values) for part in parts)


def _part(part: str, values: Mapping[str, str]) -> str:
    if user := _USER.fullmatch(part):
        return slot(user[1])
    if part.startswith("${") and part[2:-1] in values:
        return values[part[2:-1]]
    # The user's variables and secrets are never filled into a bundle's text.
    return literal(part)


def _default(value: Any, home: Path) -> Any:
    if isinstance(value, str):
        return _replace(value, _folders(home)).replace("$${", "${")
    if isinstance(value, list):
        return [_default(item, home) for item in value]
    return value
