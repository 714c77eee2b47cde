"""A command with further forms: `toolcrib tools [SERVER]` lists, and `toolcrib tools search …` does more.

The forms are the modules of the command's own folder, each offering `command`. A form goes before an
argument of the same name; after `--` the word is an argument.
"""

from __future__ import annotations

from typing import Any

import click

from toolcrib import plugins
from toolcrib.cli.declare import Command

FOLDER = "toolcrib.cli.commands"


class FormedCommand(Command):
    """A command that hands over when its first word names a form."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse as the form that is meant, else as the command itself."""
        form = self._form(args[0]) if args else None
        if form is None:
            return super().make_context(info_name, args, parent, **extra)
        return form.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def forms(self) -> tuple[str, ...]:
        """The names of the forms; nothing is imported."""
        return plugins.names(self._folder)

    def _form(self, word: str) -> click.Command | None:
        if word not in self.forms():
            return None
        command = plugins.find(self._folder, word).command
        return command if isinstance(command, click.Command) else None

    @property
    def _folder(self) -> str:
        return f"{FOLDER}.{(self.name or '').replace('-', '_')}"
