"""The six tools: list a folder, read, write, create a folder, move, rename; their descriptions for models,
defaults and what is overwritten. Each resolves its paths once, and then uses only descriptors and single
names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from toolcrib.bundled.filesystem.contents import MAX_READ, FolderListing, list_entries, read_text
from toolcrib.serverkit.confined import ConfinedEntry, Roots
from toolcrib.serverkit.confined.changes import rename_new, replace_file
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.server import ToolServer

FilePath = Annotated[str, "A file: absolute inside an allowed folder, or relative to the first one"]
FolderPath = Annotated[str, "A folder: absolute inside an allowed folder, or relative to the first one"]
AnyPath = Annotated[str, "A file or folder: absolute inside an allowed folder, or relative to the first one"]


class FileTools:
    """What models may do with files inside the roots."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots

    def offer(self, server: ToolServer) -> None:
        """Add all tools to a server."""
        server.tool(title="List a folder", read_only=True, open_world=False)(self.list_directory)
        server.tool(title="Read a file", read_only=True, open_world=False)(self.read_file)
        server.tool(title="Write a file", destructive=True, idempotent=True, open_world=False)(
            self.write_file
        )
        server.tool(title="Create a folder", destructive=False, open_world=False)(self.create_folder)
        server.tool(title="Move a file", destructive=True, open_world=False)(self.move_file)
        server.tool(title="Rename a file", destructive=False, open_world=False)(self.rename_file)

    def list_directory(self, path: FolderPath) -> FolderListing:
        """List a folder, the newest change first: name, kind, size and time of change of each entry."""
        with self._roots.explained(path), self._roots.listing(path) as folder:
            return list_entries(path, folder)

    def read_file(
        self,
        path: FilePath,
        offset: Annotated[int, "The byte to start at, to continue in a long file"] = 0,
        limit: Annotated[int, f"How many bytes to read at most, up to {MAX_READ}"] = MAX_READ,
    ) -> list[str]:
        """Read a text file (UTF-8). Of a long file one part is returned, with a note on how to continue."""
        with self._roots.explained(path), self._roots.reading(path) as file:
            return read_text(path, file, offset, limit)

    def write_file(
        self, path: FilePath, content: Annotated[str, "All of the file's new content, written unchanged"]
    ) -> str:
        """Write a file as a whole, replacing one that exists. The folder must exist."""
        data = _encoded(content)
        with self._roots.explained(path, new=True), self._roots.target(path) as place:
            self._roots.check_changeable(place)
            created = replace_file(place.folder, place.name, data)
            return f"{'Created' if created else 'Replaced'} {place.path} ({len(data)} bytes)."

    def create_folder(self, path: FolderPath, folder_name: Annotated[str, "The new folder's name"]) -> str:
        """Create a new folder inside the folder `path`."""
        with (
            self._roots.explained(path),
            self._roots.folder(path, folder_name) as place,
            self._roots.explained(_joined(path, folder_name)),
        ):
            self._roots.check_changeable(place)
            os.mkdir(place.name, dir_fd=place.folder)
            return f"Created the folder {place.path}."

    def move_file(
        self,
        source_path: AnyPath,
        destination_folder: FolderPath,
        overwrite: Annotated[bool, "Replace a file of the same name there"] = False,
    ) -> str:
        """Move a file or folder into another folder, under its name. Never overwrites unless asked to."""
        with self._roots.explained(source_path), self._roots.entry(source_path) as source:
            self._roots.check_changeable(source, moving=True)
            return self._move(source, destination_folder, overwrite)

    def rename_file(
        self, source_path: AnyPath, new_name: Annotated[str, "The new name, without any folder"]
    ) -> str:
        """Rename a file or folder where it is. Never overwrites."""
        with self._roots.explained(source_path), self._roots.entry(source_path) as source:
            self._roots.check_changeable(source, moving=True)
            target = source.beside(new_name)
            self._roots.check_changeable(target)
            with self._roots.explained(new_name):
                rename_new(source.folder, source.name, target.folder, target.name)
            return f"Renamed {source.path} to {new_name}."

    def _move(self, source: ConfinedEntry, folder: str, overwrite: bool) -> str:
        with (
            self._roots.explained(folder),
            self._roots.folder(folder, source.name) as target,
            self._roots.explained(_joined(folder, source.name)),
        ):
            self._roots.check_changeable(target)
            if overwrite:
                os.replace(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)
            else:
                rename_new(source.folder, source.name, target.folder, target.name)
            return f"Moved {source.path} to {target.path}."


def _encoded(content: str) -> bytes:
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ToolFailure(f"The content cannot be written as UTF-8: {error.reason}.") from None


def _joined(folder: str, name: str) -> str:
    return str(Path(folder) / name)
