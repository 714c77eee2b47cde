"""The list of contents of a backup: written last, checked before anything else is read."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from toolcrib.errors import ConfigError
from toolcrib.servers.installers.engine.plan import Options

PRODUCT = "toolcrib backup"
FORMAT = 1
MAX_FILES = 200_000


class BackupRefused(ConfigError):
    """The file is not a backup that can be restored."""

    kind = "backup_refused"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BackupFile(_Frozen):
    name: str = Field(max_length=300)
    size: int = Field(ge=0, le=1 << 50)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class InstallToRepeat(_Frozen):
    """An installed server; its files are installed again instead of copied."""

    name: str
    installer: str
    reference: str
    package: str
    version: str
    integrity: str
    """A hash of its lock, or of the file or folder that it was installed from."""
    source: str = ""
    """The local file or folder that it was installed from."""
    options: Options = Options()


class Manifest(_Frozen):
    product: str
    format: int
    version: str
    """Of the program that made it."""
    created: str
    machine: str
    home: str
    files_folder: str
    """The folder of the bundled filesystem server in that home."""
    database_url: str = ""
    """The shared database that the data was copied from, without its password."""
    database_schema: int = 0
    rows: dict[str, int] = {}
    parts: list[str]
    """A part that is listed and has no files was empty."""
    files: list[BackupFile] = Field(max_length=MAX_FILES)
    installs: list[InstallToRepeat] = []
    secrets: int = 0
    """How many secrets are in it, encrypted."""
    left_out: list[str] = []

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def read_manifest(content: bytes) -> Manifest:
    """Raises `BackupRefused`."""
    try:
        data: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise BackupRefused("The list of contents of the backup is damaged.", hint=_OTHER) from None
    if not isinstance(data, dict) or data.get("product") != PRODUCT:
        raise BackupRefused("The file is not a backup of Toolcrib.", hint=_OTHER)
    if isinstance(data.get("format"), int) and data["format"] > FORMAT:
        raise BackupRefused(
            f"The backup was made by a newer Toolcrib ({str(data.get('version'))[:40]}).",
            hint="Update Toolcrib on this machine, then restore it.",
        )
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BackupRefused(
            f"The list of contents of the backup is invalid: {where[:80]}.", hint=_OTHER
        ) from None


_OTHER = "Use another copy of the backup."
