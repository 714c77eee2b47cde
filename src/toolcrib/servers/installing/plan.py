"""The data of installing: what was asked for, what would happen, and what is in place.

A plan is pure data that can be shown, kept and handed on; applying it installs what it names and nothing
else. No answer to a question is part of it, so that no secret ever is.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

FORMAT: Literal[1] = 1


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Options(_Data):
    """What the person allows and chooses; kept with the version, so that an update does the same."""

    allow_scripts: tuple[str, ...] = ()
    """npm packages whose install scripts may run."""
    allow_build: tuple[str, ...] = ()
    """Python packages that may be built from source."""
    also: tuple[str, ...] = ()
    """Further Python requirements, such as `mcp<2` for a server that does not say so itself."""
    program: str | None = None
    """Which of a package's programs is the server, where it has several."""
    python: str | None = None
    """Which Python a server gets: a version or a path; ours when unset."""
    needed_python: str | None = None
    """The version that was chosen because the package does not run on ours; used where `python` is unset."""


def merged(before: Options, given: Options) -> Options:
    """The options that an installation had, with those that are given now."""
    changes = {
        key: tuple(dict.fromkeys((*getattr(before, key), *value))) if isinstance(value, tuple) else value
        for key, value in given
        if value
    }
    return before.model_copy(update=changes)


class Request(_Data):
    """What to install, and for which server."""

    reference: str
    name: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    options: Options = Options()


class Launch(_Data):
    """How the installed server is started; written as `launch.json`, which `servers/installed.py` reads."""

    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None


class Question(_Data):
    """Something that only the person knows, and that the server needs."""

    key: str
    title: str
    description: str = ""
    kind: Literal["string", "number", "boolean", "directory", "file"] = "string"
    required: bool = False
    default: Any = None
    multiple: bool = False
    secret: bool = False
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None


class Plan(_Data):
    """What would happen."""

    format: Literal[1] = FORMAT
    installer: str
    name: str
    """The server's."""
    reference: str
    package: str
    version: str
    published: str | None = None
    place: str
    """The folder of this version."""
    fetches: tuple[str, ...] = ()
    """What is brought here, the package itself first: `name@version` of npm, `name==version` of PyPI."""
    runtimes: tuple[str, ...] = ()
    """What has to be fetched to run it, after the user agreed: `Node 24 (60 MB)`, `Python 3.13 (30 MB)`."""
    incomplete: bool = False
    """Only `runtimes` is known: packages can be looked up once these are there. It cannot be applied."""
    copies: str = ""
    """What is copied from this machine, in words."""
    launch: Launch
    scripts_refused: tuple[str, ...] = ()
    """Packages whose install scripts will not run."""
    scripts_allowed: tuple[str, ...] = ()
    builds: tuple[str, ...] = ()
    """What is built from source, which runs its code while installing."""
    remarks: tuple[str, ...] = ()
    """What a careful reader would point out."""
    questions: tuple[Question, ...] = ()
    entry: dict[str, Any] = {}
    """The entry of the config file, with `${answer:KEY}` where an answer belongs."""
    lock: str = ""
    """The exact versions with their hashes, in the installer's own form."""
    source: str = ""
    """The file or folder on this machine that is installed from."""
    digest_of_source: str = ""
    details: dict[str, Any] = {}
    """What only this installer needs to know again."""
    options: Options = Options()

    @property
    def digest(self) -> str:
        """Names exactly this plan: who agreed to it agreed to nothing else."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class Record(_Data):
    """A version that is in place; written last, as `install.json`: a folder without one is half done."""

    format: Literal[1] = FORMAT
    id: str
    installer: str
    name: str
    reference: str
    package: str
    version: str
    published: str | None = None
    installed_at: datetime
    integrity: str
    """A hash of the lock, or of the file that was installed from."""
    source: str = ""
    packages: int = 0
    options: Options = Options()
    entry: dict[str, Any] = {}
    launch: Launch
