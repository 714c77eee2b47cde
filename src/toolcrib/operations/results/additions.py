"""A recognised paste, the proposed entry, and edits of entries."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

PasteKind = Literal[
    "nothing",
    "command-npm",
    "command-pypi",
    "command-docker",
    "command",
    "npm",
    "pypi",
    "bundle",
    "file",
    "folder",
    "address",
    "link",
    "document",
    "ambiguous",
]


class Needed(TypedDict):
    """A value that the user has to provide: an `InstallQuestion` whose default is text, without bounds."""

    key: str
    """Its key in `answers`."""
    title: str
    description: str
    kind: Literal["string", "number", "boolean", "directory", "file"]
    secret: bool
    required: bool
    default: str
    choices: list[str]
    multiple: bool


class LookAlike(TypedDict):
    """A well-known package whose name is close to the pasted one."""

    name: str
    reference: str
    letters: int
    listed: bool
    """Whether it is in the catalog."""


class RecognisedServer(TypedDict):
    name: str
    """Proposed name; not in use, unless the source gave it."""
    taken: bool
    standing: Literal["new", "same", "differs"]
    way: Literal["install", "run", "connect"]
    reference: str
    package: str
    version: str
    words: list[str]
    """The pasted command, with invisible characters made visible."""
    url: str
    secrets: list[str]
    """Names of the values that are stored as secrets."""
    needed: list[Needed]
    lookalike: LookAlike | None
    notes: list[str]


class Recognised(TypedDict):
    """What was pasted; recognising it runs, downloads and writes nothing."""

    kind: PasteKind
    servers: list[RecognisedServer]
    alternatives: list[str]
    """More specific texts to paste, if it could mean several things."""
    refused: dict[str, str]
    problem: str
    hint: str
    file: str
    """For `import_apply`, if there are several servers; with `text`, `host` and `digest`."""
    text: str | None
    """None if the servers are in a file of that name."""
    host: str | None
    digest: str


class LaunchArgument(TypedDict):
    """One argument, not shortened."""

    text: str
    """With invisible characters shown as ⟨U+200B⟩."""
    outside: bool
    """Whether it refers to something outside the program's own folder."""


class LaunchChange(TypedDict):
    """A part of the launch that differs from what the user approved."""

    part: str
    before: str | None
    now: str | None


class LaunchScripts(TypedDict):
    """Scripts of the packages that an installation would or would not run."""

    allowed: list[str]
    refused: list[str]
    built: list[str]


class LaunchShown(TypedDict):
    """The program or address, as shown to the user for approval; `mark` identifies exactly this."""

    name: str
    type: str
    program: str
    arguments: list[LaunchArgument]
    folder: str
    url: str
    headers: list[str]
    touches: list[str]
    inherits: list[str]
    """Names of the variables that it inherits from the host."""
    sets: list[LaunchArgument]
    """Its own variables; values are shown only if they can make other code run."""
    scripts: LaunchScripts
    fetches: list[str]
    copies: str
    sandbox: list[str]
    """What its sandbox allows; empty if it has none."""
    installed: bool
    """Whether it can start without downloading anything."""
    remarks: list[str]
    changed: list[LaunchChange]
    agreed: str | None
    """When the user last approved what it runs."""
    trusted: bool
    mark: str


class Proposed(TypedDict):
    """The effect of adding a server; pass `plan` to `admit` (empty if nothing is installed)."""

    name: str
    launch: LaunchShown | None
    entry: dict[str, Any]
    secrets: list[str]
    needed: list[Needed]
    missing: list[str]
    """Keys of required values that are still missing."""
    plan: str
    package: str
    version: str
    ms: float


class Admitted(TypedDict):
    """A server that was added to the config file and may need approval."""

    name: str
    mark: str
    trusted: bool
    packages: int
    version: str
    ms: float


class EntryText(TypedDict):
    """The text of an entry in the config file."""

    name: str
    text: str
    digest: str
    unknown: list[str]
    """Unknown keys, which are kept."""
    keys: list[str]
    """The keys of its type, such as `command`; empty if the type is unknown."""
    line: int
    file: str


class EntryWritten(TypedDict):
    name: str
    digest: str
    unknown: list[str]
    secrets: list[str]
    """The names of the secrets that were stored."""
    needs_trust: bool
    remarks: list[str]


class ServerRemoval(TypedDict):
    """A removed server; `restore` brings it back for `undo` seconds."""

    name: str
    removed: bool
    backup: str
    unused_secrets: list[str]
    kept_folders: list[str]
    undo: NotRequired[float]


class ServerRestored(TypedDict):
    name: str
    trusted: bool
