"""Groups of commands: found by folder, loaded when they are used, guessed at when misspelt."""

from __future__ import annotations

import keyword
from typing import Any

import click

from toolcrib import plugins
from toolcrib.cli.declare import SECTIONS, shared_options
from toolcrib.cli.outline import Outline, read_outline
from toolcrib.errors import NotFound
from toolcrib.suggestions import did_you_mean

LONGEST_SUMMARY = 300
"""Characters; far more than a first sentence has."""


class Group(click.Group):
    """A group that says what was meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command and what is left for it."""
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing and not name.startswith("-"):
            raise _unknown(ctx, name, self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with their whole first sentence, on several lines where it is long."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [(name, summary(one)) for name, one in commands.items() if one and not one.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def summary(command: click.Command) -> str:
    """The first sentence of a command's help, uncut."""
    return command.get_short_help_str(LONGEST_SUMMARY)


def _unknown(ctx: click.Context, name: str, known: list[str]) -> click.UsageError:
    error = click.UsageError(f"There is no command {name!r}.", ctx)
    error.hint = did_you_mean(name, known, otherwise=f"See: {ctx.command_path} --help")  # type: ignore[attr-defined]
    return error


def command_of(name: str, section: str, summary: str, *commands: click.Command) -> Group:
    """A command of commands; alone it does what `list` of them does."""

    @click.pass_context
    def begin(context: click.Context, /, **values: Any) -> Any:
        above = context.find_root().obj or {}
        context.find_root().obj = {
            key: values.get(key) or above.get(key) for key in ("json", "home", "debug")
        }
        return context.invoke(group.commands["list"]) if context.invoked_subcommand is None else None

    group = Group(name, help=summary, callback=begin, invoke_without_command=True)
    group.section = section  # type: ignore[attr-defined]
    group.params.extend(shared_options())
    for command in commands:
        group.add_command(command)
    return group


class FolderGroup(Group):
    """The commands are the modules of a folder, each offering `command`."""

    def __init__(self, *args: Any, folder: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self._folder = folder

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names; nothing is imported."""
        return [name.rstrip("_").replace("_", "-") for name in plugins.names(self._folder)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one; None when there is no such module."""
        module_name = _module_name(cmd_name)
        if not module_name.isidentifier():
            return None
        try:
            command = plugins.find(self._folder, module_name).command
        except NotFound:
            return None
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands under their sections."""
        sections: dict[str, list[tuple[str, str]]] = {section: [] for section in SECTIONS}
        for name in self.list_commands(ctx):
            outline = self._outline(ctx, name)
            if outline is not None:
                sections.setdefault(outline.section or "More", []).append((name, outline.summary))
        for section, rows in sections.items():
            if rows:
                with formatter.section(section):
                    formatter.write_dl(rows)

    def _outline(self, ctx: click.Context, name: str) -> Outline | None:
        """Ours are read from their source; a command of another package is imported."""
        read = read_outline(f"{self._folder}.{_module_name(name)}")
        if read is not None:
            return read
        command = self.get_command(ctx, name)
        if command is None or command.hidden:
            return None
        return Outline(getattr(command, "section", ""), command.help or command.short_help or "")


def _module_name(command: str) -> str:
    name = command.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name  # No module can be called `import`.
