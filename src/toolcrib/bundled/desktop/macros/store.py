"""Stores macros in the host's home, one JSON file each, replaced as a whole so that a crash loses none.
Limits: most macros, size of a file, fields that can be changed.

Calls wait for the disk: in an event loop, use a thread.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import time
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self

from toolcrib.bundled.desktop.macros.model import Macro, check_macro
from toolcrib.bundled.desktop.records import read_record, write_record
from toolcrib.bundled.desktop.resources import MacroMissing, ResourceExists, id_of, new_id
from toolcrib.config.paths import find_paths, make_private
from toolcrib.config.safe_files import exclusive, write_atomic
from toolcrib.serverkit.bounded_read import read_bounded
from toolcrib.serverkit.context import ToolFailure
from toolcrib.suggestions import did_you_mean

logger = logging.getLogger(__name__)

COLLECTION = "macros"
MAX_MACROS = 500
MAX_BYTES = 512 * 1024
CHANGEABLE = frozenset({"display_name", "description", "actions", "parameters", "tags"})


class MacroStore:
    """The macros of one home; several processes may use it at the same time."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self._now = now

    @classmethod
    def of_home(cls, home: Path | None = None) -> Self:
        """The macros of this home, else of `TOOLCRIB_HOME`, else of the user."""
        return cls(find_paths(home).desktop / COLLECTION)

    def create(self, macro: Macro, macro_id: str | None = None) -> Macro:
        """Store a new macro; raises `ToolFailure` if the id is taken or there are too many."""
        chosen, now = new_id(macro_id), self._now()
        made = dataclasses.replace(macro, name=f"{COLLECTION}/{chosen}", create_time=now, update_time=now)
        with self._changing():
            if self._file(chosen).exists():
                raise ResourceExists(f"There is already a macro {chosen!r}.", "Choose another macro_id.")
            if len(self._files()) >= MAX_MACROS:
                raise ToolFailure(f"There are already {MAX_MACROS} macros.", "Delete some of them first.")
            self._write(chosen, made)
        return made

    def get(self, name: str) -> Macro:
        """Raises `ToolFailure` with the nearest names if there is none."""
        found = id_of(name, COLLECTION)
        if not self._file(found).is_file():
            known = [file.stem for file in self._files()]
            hint = did_you_mean(found, known) if known else "No macro is stored yet."
            raise MacroMissing(f"There is no macro {found!r}.", hint)
        return self._read(self._file(found))

    def all(self) -> list[Macro]:
        """All of them, sorted by name; a file that is not a macro is left out and logged."""
        found = []
        for file in self._files():
            try:
                found.append(self._read(file))
            except ToolFailure as error:
                logger.warning("macro left out", extra={"file": file.name, "reason": error.message})
        return found

    def update(self, name: str, macro: Macro, fields: Collection[str] = ()) -> Macro:
        """Replace these fields, or all that can be changed; `*` means all too."""
        chosen = CHANGEABLE if not fields or "*" in fields else frozenset(fields)
        if not chosen <= CHANGEABLE:
            wrong = ", ".join(sorted(chosen - CHANGEABLE))
            raise ToolFailure(f"These fields of a macro cannot be changed: {wrong}.")
        changes = {field: getattr(macro, field) for field in chosen}
        return self._change(name, lambda old: dataclasses.replace(old, **changes, update_time=self._now()))

    def count_execution(self, name: str) -> Macro:
        return self._change(
            name, lambda old: dataclasses.replace(old, execution_count=old.execution_count + 1)
        )

    def delete(self, name: str) -> None:
        with self._changing():
            self._file(id_of(self.get(name).name, COLLECTION)).unlink(missing_ok=True)

    def _change(self, name: str, changed: Callable[[Macro], Macro]) -> Macro:
        with self._changing():
            made = changed(self.get(name))
            check_macro(made)
            self._write(id_of(made.name, COLLECTION), made)
        return made

    def _changing(self) -> AbstractContextManager[None]:
        make_private(self.folder)
        return exclusive(self.folder / "macros")

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("[!.]*.json"))

    def _file(self, macro_id: str) -> Path:
        return self.folder / f"{macro_id}.json"

    def _write(self, macro_id: str, macro: Macro) -> None:
        content = json.dumps(write_record(macro), ensure_ascii=False, indent=1).encode()
        if len(content) > MAX_BYTES:
            raise ToolFailure(f"The macro is larger than {MAX_BYTES // 1024} KiB.", "Make it shorter.")
        try:
            write_atomic(self._file(macro_id), content)
        except OSError as error:
            raise ToolFailure(f"The macro cannot be stored: {error.strerror}.") from error

    def _read(self, file: Path) -> Macro:
        try:
            value = json.loads(read_bounded(file, MAX_BYTES))
        except (OSError, ValueError, RecursionError) as error:
            raise ToolFailure(f"The macro {file.stem!r} cannot be read: {error}.") from None
        macro = read_record(Macro, value, file.stem)
        return dataclasses.replace(macro, name=f"{COLLECTION}/{file.stem}")
