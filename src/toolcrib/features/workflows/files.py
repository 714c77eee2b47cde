"""The files of the workflows: `workflows/NAME.json`, written whole, with their earlier versions beside them:
how many are kept, largest file, valid names, and errors for conflicts.

A version is the digest of a file's bytes, so that an edit by hand is noticed like any other. All methods
block; the host calls them in a thread.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from toolcrib.config.paths import make_private
from toolcrib.config.safe_files import exclusive, write_atomic
from toolcrib.errors import Conflict, NotFound, UsageError
from toolcrib.graph.files import read_workflow
from toolcrib.graph.problems import InvalidWorkflow
from toolcrib.schema.workflows import Workflow, WorkflowProblem
from toolcrib.suggestions import did_you_mean

VERSIONS = ".versions"
KEPT_VERSIONS = 50
LARGEST = 4 * 1024 * 1024
"""Bytes of one file."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")
_STAMP = "%Y%m%dT%H%M%S.%fZ"


@dataclass(frozen=True, kw_only=True)
class StoredWorkflow:
    """A workflow as it is stored; None if its file cannot be read."""

    name: str
    version: str
    changed: datetime
    workflow: Workflow | None
    problems: Sequence[WorkflowProblem] = ()

    @property
    def readable(self) -> Workflow:
        """The workflow; raises `InvalidWorkflow` if its file cannot be read."""
        if self.workflow is None:
            raise InvalidWorkflow(self.problems, name=self.name)
        return self.workflow


def read_file(file: WorkflowFile) -> StoredWorkflow:
    """The workflow of a file; its name is the file's."""
    workflow: Workflow | None = None
    problems: Sequence[WorkflowProblem] = ()
    try:
        workflow = read_workflow(file.content)
    except InvalidWorkflow as error:
        problems = error.problems
    if workflow is not None and workflow.name != file.name:
        workflow = workflow.model_copy(update={"name": file.name})
    return StoredWorkflow(
        name=file.name, version=file.version, changed=file.changed, workflow=workflow, problems=problems
    )


@dataclass(frozen=True, kw_only=True)
class WorkflowFile:
    """One version of a file."""

    name: str
    version: str
    changed: datetime
    content: bytes


@dataclass(frozen=True, kw_only=True)
class FileVersion:
    version: str
    saved: datetime


class WorkflowFiles:
    """The workflows of a home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        if not self.folder.is_dir():
            return []
        return sorted(path.stem for path in self.folder.glob("*.json") if _NAME.match(path.stem))

    def all(self) -> Iterator[WorkflowFile]:
        """Every file, by name; one that is removed meanwhile is left out."""
        for name in self.names():
            try:
                yield self.read(name)
            except NotFound:
                continue

    def read(self, name: str, version: str | None = None) -> WorkflowFile:
        """The current file, or a kept version; raises `NotFound`."""
        if not _NAME.match(name):
            raise self._unknown(name)
        if version is not None:
            return self._kept(name, version)
        path = self._path(name)
        try:
            changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            with path.open("rb") as file:
                content = file.read(LARGEST + 1)
        except FileNotFoundError:
            raise self._unknown(name) from None
        return WorkflowFile(name=name, version=digest(content), changed=changed, content=content)

    def save(self, name: str, content: bytes, *, expected: str | None = None) -> WorkflowFile:
        """Write a file; `expected` is the version that it replaces, empty for a new one.

        Raises `Conflict` if the file has changed since.
        """
        if len(content) > LARGEST:
            raise UsageError(f"The workflow {name} is larger than {LARGEST // 1024 // 1024} MiB.")
        make_private(self.folder)
        with exclusive(self._path(name)):
            current = self._current(name)
            self._check(name, current, expected)
            if current is not None and current.content == content:
                return current
            if current is not None:
                self._keep(current)
            write_atomic(self._path(name), content)
            saved = self.read(name)
            self._keep(saved)
        return saved

    def remove(self, name: str) -> WorkflowFile:
        """Remove a file; its versions are kept."""
        self.read(name)
        with exclusive(self._path(name)):
            current = self.read(name)
            self._keep(current)
            self._path(name).unlink()
        return current

    def versions(self, name: str) -> list[FileVersion]:
        """The kept versions, the latest first."""
        if not _NAME.match(name):
            raise self._unknown(name)
        kept = [self._stamped(path) for path in self._version_paths(name)]
        if not kept and name not in self.names():
            raise self._unknown(name)
        return [version for version in kept if version is not None]

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _current(self, name: str) -> WorkflowFile | None:
        try:
            return self.read(name)
        except NotFound:
            return None

    def _check(self, name: str, current: WorkflowFile | None, expected: str | None) -> None:
        found = "" if current is None else current.version
        if expected is None or expected == found:
            return
        if current is None:
            raise Conflict(f"The workflow {name} was removed in the meantime.", hint="Save it as a new one.")
        if not expected:
            raise Conflict(f"There is already a workflow called {name}.", hint="Choose another name.")
        raise Conflict(
            f"The workflow {name} was changed in the meantime.",
            hint="Reload it and make your change again, or save without the expected version.",
            data={"version": found},
        )

    def _keep(self, file: WorkflowFile) -> None:
        """Store a version unless the latest one is the same; the oldest ones are deleted."""
        paths = self._version_paths(file.name)
        latest = self._stamped(paths[0]) if paths else None
        if latest is not None and latest.version == file.version:
            return
        folder = self.folder / VERSIONS / file.name
        make_private(folder)
        stamp = max(file.changed, latest.saved if latest else file.changed).strftime(_STAMP)
        write_atomic(folder / f"{stamp}-{file.version}.json", file.content)
        for path in self._version_paths(file.name)[KEPT_VERSIONS:]:
            path.unlink(missing_ok=True)

    def _version_paths(self, name: str) -> list[Path]:
        found = (self.folder / VERSIONS / name).glob("*-*.json")
        return sorted(found, key=lambda path: path.name, reverse=True)

    def _kept(self, name: str, version: str) -> WorkflowFile:
        for path in self._version_paths(name):
            stamped = self._stamped(path)
            if stamped is not None and stamped.version == version:
                return WorkflowFile(
                    name=name, version=version, changed=stamped.saved, content=path.read_bytes()
                )
        current = self._current(name)
        if current is not None and current.version == version:
            return current
        raise NotFound(
            f"The workflow {name} has no version {version!r}.",
            hint=f"The latest {KEPT_VERSIONS} versions are kept.",
        )

    def _stamped(self, path: Path) -> FileVersion | None:
        stamp, _, version = path.stem.rpartition("-")
        try:
            saved = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
        except ValueError:
            return None
        return FileVersion(version=version, saved=saved)

    def _unknown(self, name: str) -> NotFound:
        listed = "List them with: toolcrib workflow list"
        return NotFound(
            f"There is no workflow called {name[:80]!r}.",
            hint=did_you_mean(name, self.names(), otherwise=listed),
        )


def digest(content: bytes) -> str:
    """The version of a file with this content."""
    return hashlib.sha256(content).hexdigest()[:16]
