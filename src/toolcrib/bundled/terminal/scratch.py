"""Folders for temporary files that belong to sandboxed commands alone; one for each working folder."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from functools import cached_property
from hashlib import sha256
from pathlib import Path

NAMES = ("tmp", "var-tmp")


class Scratch:
    """Made when a command first needs one; all are removed by `close`, or with the process."""

    @cached_property
    def folder(self) -> Path:
        """The one that holds them, which no other user can enter."""
        made = tempfile.mkdtemp(prefix="toolcrib-commands-")
        weakref.finalize(self, shutil.rmtree, made, ignore_errors=True)
        return Path(made).resolve()

    def of(self, working_folder: str) -> Path:
        """The folder for the commands of a working folder: what one leaves there, the next one finds."""
        found = self.folder / sha256(os.fsencode(working_folder)).hexdigest()[:16]
        for name in NAMES:
            if not (made := found / name).is_dir():
                made.mkdir(parents=True)
                made.chmod(0o1777)  # as programs expect it
        return found

    def close(self) -> None:
        """Remove them; commands that still run lose their files."""
        if "folder" in self.__dict__:
            shutil.rmtree(self.folder, ignore_errors=True)
            del self.__dict__["folder"]
