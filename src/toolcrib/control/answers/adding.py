"""What is said about servers that are not there yet: what a paste means, what it would run, how it went."""

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
    """A value that only the person knows."""

    key: str
    """What `answers` calls it."""
    title: str
    description: str
    kind: Literal["string", "number", "boolean", "directory", "file"]
    secret: bool
    required: bool
    default: str
    choices: list[str]
    multiple: bool


class LookAlike(TypedDict):
    """A well-known package whose name is nearly the pasted one."""

    name: str
    reference: str
    letters: int
    listed: bool
    """It is in the catalog."""


class RecognisedServer(TypedDict):
    """One server of a paste."""

    name: str
    """Proposed; free, unless the source named it."""
    taken: bool
    standing: Literal["new", "same", "differs"]
    way: Literal["install", "run", "connect"]
    reference: str
    package: str
    version: str
    words: list[str]
    """The command as it was pasted, with what hides made visible."""
    url: str
    secrets: list[str]
    """Values that go to where secrets are kept, by their names."""
    needed: list[Needed]
    lookalike: LookAlike | None
    notes: list[str]


class Recognised(TypedDict):
    """What was pasted; nothing was run, fetched or written to find out."""

    kind: PasteKind
    servers: list[RecognisedServer]
    alternatives: list[str]
    """What else to paste, where it could mean several things."""
    refused: dict[str, str]
    problem: str
    hint: str
    file: str
    """For `import_apply`, where there are several servers; with `text`, `host` and `digest`."""
    text: str | None
    """None where the servers stand in a file of that name."""
    host: str | None
    digest: str


class LaunchArgument(TypedDict):
    """One argument, whole."""

    text: str
    """With characters that hide shown as ⟨U+200B⟩."""
    outside: bool
    """It reaches outside the program's own folder."""


class LaunchChange(TypedDict):
    """A part of what runs that is not what was agreed to."""

    part: str
    before: str | None
    now: str | None


class LaunchScripts(TypedDict):
    """What would run while installing."""

    allowed: list[str]
    refused: list[str]
    built: list[str]


class LaunchShown(TypedDict):
    """What would run or be reached, as a person sees it before saying yes; `mark` names exactly this."""

    name: str
    type: str
    program: str
    arguments: list[LaunchArgument]
    folder: str
    url: str
    headers: list[str]
    touches: list[str]
    inherits: list[str]
    """Names of variables of ours that it sees."""
    sets: list[LaunchArgument]
    """Its own variables; a value is shown only of those that can make other code run."""
    scripts: LaunchScripts
    fetches: list[str]
    copies: str
    installed: bool
    """Nothing has to be fetched before it can start."""
    remarks: list[str]
    changed: list[LaunchChange]
    agreed: str | None
    """When somebody last agreed to what it ran."""
    trusted: bool
    mark: str


class Proposed(TypedDict):
    """What adding would do; `plan` is to be handed to `admit`, empty where nothing is installed."""

    name: str
    launch: LaunchShown | None
    entry: dict[str, Any]
    secrets: list[str]
    needed: list[Needed]
    missing: list[str]
    """Keys of required values that nobody has given yet."""
    plan: str
    package: str
    version: str
    ms: float
    """How long it took to find out."""


class InstallStep(TypedDict):
    """One thing that is under way; `total` is 0 where nobody knows how much there is."""

    stage: Literal["runtime", "resolve", "fetch", "copy", "scripts", "build", "activate"]
    detail: str
    done: int
    total: int


class Admitted(TypedDict):
    """A server that is in the config file now and waits for a person's word."""

    name: str
    mark: str
    trusted: bool
    packages: int
    version: str
    ms: float


class EntryText(TypedDict):
    """An entry as it stands in the file."""

    name: str
    text: str
    digest: str
    unknown: list[str]
    """Keys that we do not know and keep."""
    line: int
    file: str


class EntryWritten(TypedDict):
    """An entry that was changed."""

    name: str
    digest: str
    unknown: list[str]
    needs_trust: bool
    remarks: list[str]


class ServerRemoval(TypedDict):
    """A server that is gone; for `undo` seconds `restore` brings it back."""

    name: str
    removed: bool
    backup: str
    unused_secrets: list[str]
    undo: NotRequired[float]


class ServerRestored(TypedDict):
    """A server that is back."""

    name: str
    trusted: bool
