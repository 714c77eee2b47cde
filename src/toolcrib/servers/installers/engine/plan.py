"""The data of installations: requests, options, plans, records, and the answers to a plan's questions, with
the errors for missing or invalid answers.

A plan is plain data that can be shown and stored; applying it installs exactly what it lists. It never
contains answers, so it never contains secrets: these go to the secret store.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from toolcrib.errors import InstallFailed, UsageError

FORMAT: Literal[1] = 1


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Options(_Data):
    """The user's choices; stored with the version, so that an update uses them too."""

    allow_scripts: tuple[str, ...] = ()
    """npm packages whose install scripts may run."""
    allow_build: tuple[str, ...] = ()
    """Python packages that may be built from source."""
    also: tuple[str, ...] = ()
    """Extra Python requirements, such as `mcp<2` for a server that does not declare it."""
    program: str | None = None
    """The server among a package's programs."""
    python: str | None = None
    """A Python version or path; default: ours."""
    needed_python: str | None = None
    """The version chosen because the package does not support ours; used if `python` is unset."""


def merged(before: Options, given: Options) -> Options:
    """The options of an installation with new ones applied."""
    changes = {
        key: tuple(dict.fromkeys((*getattr(before, key), *value))) if isinstance(value, tuple) else value
        for key, value in given
        if value
    }
    return before.model_copy(update=changes)


class InstallRequest(_Data):
    reference: str
    name: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    options: Options = Options()


class LaunchCommand(_Data):
    """The start command; written as `launch.json`, which `servers/installed.py` reads."""

    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str | None = None


@dataclass(frozen=True, kw_only=True)
class InstallQuestion:
    """A value that the server needs from the user."""

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


class _Installation(_Data):
    """What a plan and the record of its installation have in common."""

    format: Literal[1] = FORMAT
    installer: str
    name: str
    """The server's name."""
    reference: str
    package: str
    version: str
    published: str | None = None
    source: str = ""
    """The local file or folder to install from."""
    options: Options = Options()
    entry: dict[str, Any] = {}
    """The config entry, with `${answer:KEY}` for answers."""
    launch: LaunchCommand
    remarks: tuple[str, ...] = ()
    """Warnings for the user."""


class Plan(_Installation):
    """What an installation would do."""

    place: str
    """The version's folder."""
    fetches: tuple[str, ...] = ()
    """The downloads, the package itself first: `name@version` from npm, `name==version` from PyPI."""
    runtimes: tuple[str, ...] = ()
    """Runtimes to download after approval: `Node 24 (60 MB)`, `Python 3.13 (30 MB)`."""
    incomplete: bool = False
    """Only `runtimes` is known, which are needed to resolve packages. Cannot be applied."""
    copies: str = ""
    """A description of the local files to copy."""
    scripts_refused: tuple[str, ...] = ()
    """Packages whose install scripts will not run."""
    scripts_allowed: tuple[str, ...] = ()
    builds: tuple[str, ...] = ()
    """Packages built from source, which runs their code."""
    questions: tuple[InstallQuestion, ...] = ()
    lock: str = ""
    """Exact versions with hashes, in the installer's format."""
    digest_of_source: str = ""
    details: dict[str, Any] = {}
    """Private data of the installer."""

    def check_source(self, digest: str) -> None:
        """Raise `InstallFailed` if the source has another hash than planned."""
        if digest != self.digest_of_source:
            raise InstallFailed(f"{self.source} has changed since the plan was made.", hint="Start again.")

    @property
    def integrity(self) -> str:
        """The same for the same packages with the same hashes, or the same local files."""
        digest = self.digest_of_source or hashlib.sha256(self.lock.encode()).hexdigest()
        return f"sha256:{digest}"

    @property
    def digest(self) -> str:
        """A hash of the plan, by which the user approves exactly this plan."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class Record(_Installation):
    """An installed version; written last, as `install.json`: a folder without it is incomplete."""

    id: str
    installed_at: datetime
    integrity: str
    """A hash of the lock or of the source file."""
    packages: int = 0

    @classmethod
    def of(cls, plan: Plan, identity: str, launch: LaunchCommand, remarks: Sequence[str]) -> Record:
        """The record of an applied plan; `remarks` are about the installed files."""
        own = {
            "id": identity,
            "installed_at": datetime.now(UTC),
            "integrity": plan.integrity,
            "packages": len(plan.fetches),
            "launch": launch,
            "remarks": tuple(remarks),
        }
        return cls(**{name: getattr(plan, name) for name in _Installation.model_fields} | own)


_SLOT = re.compile(r"\$\{answer:([^}]+)\}")


@dataclass(frozen=True)
class FilledEntry:
    """The config entry with answers, and the secrets it refers to."""

    entry: dict[str, Any]
    secrets: dict[str, str] = field(default_factory=dict, repr=False)


def slot(key: str) -> str:
    """The placeholder for an answer; as a whole argument, a list becomes several, a missing answer none."""
    return f"${{answer:{key}}}"


def literal(text: str) -> str:
    """Third-party text with `${` escaped, so that it cannot refer to the user's variables or secrets."""
    return text.replace("${", "$${")


def fill(
    name: str, entry: Mapping[str, Any], questions: Sequence[InstallQuestion], answers: Mapping[str, Any]
) -> FilledEntry:
    """The entry with all answers; raises `UsageError` for a missing or invalid one."""
    known = {question.key: question for question in questions}
    for key in answers:
        if key not in known:
            listed = ", ".join(known) or "none"
            raise UsageError(f"{name} has no setting {key!r}.", hint=f"Settings: {listed}.")
    filler = _Filler(name, known, answers)
    for question in questions:
        filler.check(question)
    result: dict[str, Any] = {key: value for key, value in entry.items() if key not in ("args", "env")}
    arguments = [word for argument in entry.get("args", ()) for word in filler.words(argument)]
    variables = {key: filler.text(value) for key, value in entry.get("env", {}).items()}
    if arguments:
        result["args"] = arguments
    if kept := {key: value for key, value in variables.items() if value is not None}:
        result["env"] = kept
    return FilledEntry(result, filler.secrets)


class _Filler:
    def __init__(self, name: str, known: Mapping[str, InstallQuestion], answers: Mapping[str, Any]) -> None:
        self._name = name
        self._known = known
        self._answers = answers
        self.secrets: dict[str, str] = {}

    def check(self, question: InstallQuestion) -> None:
        values = self._values(question.key)
        if question.required and not values:
            raise UsageError(
                f"{self._name} needs a value for {question.title or question.key}.",
                hint=f"Set it with: --set {question.key}=VALUE",
            )
        if len(values) > 1 and not question.multiple:
            raise UsageError(
                f"{question.key} takes one value.", hint=f"Use --set {question.key}=… only once."
            )
        for value in values:
            _check_value(question, value)

    def words(self, argument: str) -> list[str]:
        whole = _SLOT.fullmatch(argument)
        if whole is None:
            filled = self.text(argument)
            return [] if filled is None else [filled]
        return self._shown(whole[1])

    def text(self, template: str) -> str | None:
        """None if an answer in the template is missing."""
        missing = [key for key in _SLOT.findall(template) if not self._values(key)]
        if missing:
            return None
        return _SLOT.sub(lambda match: ",".join(self._shown(match[1])), template)

    def _values(self, key: str) -> list[Any]:
        question = self._known.get(key)
        given = self._answers.get(key, question.default if question else None)
        if given is None or given == "":
            return []
        return list(given) if isinstance(given, list | tuple) else [given]

    def _shown(self, key: str) -> list[str]:
        values = [_text(value) for value in self._values(key)]
        if not self._known[key].secret:
            return [literal(value) for value in values]
        shown = []
        for number, value in enumerate(values):
            secret = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{self._name}.{key}{f'.{number}' if number else ''}")
            secret = secret.lstrip(".-")[:100]
            self.secrets[secret] = value
            shown.append(f"${{secret:{secret}}}")
        return shown


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value)
    return str(Path(text).expanduser()) if text.startswith("~/") else text


def _check_value(question: InstallQuestion, value: Any) -> None:
    text = _text(value)
    if question.choices and text not in question.choices:
        raise UsageError(
            f"{question.key} cannot be {text!r}.", hint=f"One of: {', '.join(question.choices)}."
        )
    if question.kind == "boolean" and text not in ("true", "false"):
        raise UsageError(
            f"{question.key} must be true or false.", hint=f"Use --set {question.key}=true or =false."
        )
    if question.kind != "number":
        return
    try:
        number = float(text)
    except ValueError:
        raise UsageError(f"{question.key} must be a number.") from None
    least, most = question.minimum, question.maximum
    if (least is not None and number < least) or (most is not None and number > most):
        raise UsageError(f"{question.key} must be between {least} and {most}.")
