"""Groups of commands: found by folder or made from operations, imported when used, guessed if misspelt ("Did
you mean"). Also prints the list of commands in `--help`."""

from __future__ import annotations

import keyword
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from toolcrib import plugins
from toolcrib.cli.declare import SECTIONS, CliCommand, shared_options
from toolcrib.operations.index import COMMANDS, FEATURE_COMMANDS, SUBCOMMANDS

if TYPE_CHECKING:
    from toolcrib.cli.outline import Outline
    from toolcrib.feature import Feature

FOLDER = "toolcrib.cli.commands"
MAX_SUMMARY = 300
"""Characters; far more than a first sentence has."""


class Group(click.Group):
    """A group that suggests the command that was probably meant."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing and not name.startswith("-"):
            raise _unknown(ctx, name, self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their whole first sentence; click would cut it."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [
            (name, command.get_short_help_str(MAX_SUMMARY))
            for name, command in commands.items()
            if command and not command.hidden
        ]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _unknown(ctx: click.Context, name: str, known: list[str]) -> click.UsageError:
    from toolcrib.suggestions import did_you_mean

    error = click.UsageError(f"There is no command {name!r}.", ctx)
    error.hint = did_you_mean(name, known, otherwise=f"See: {ctx.command_path} --help")  # type: ignore[attr-defined]
    return error


def command_of(name: str, section: str, summary: str, *commands: click.Command) -> Group:
    """A command with these subcommands and those of operations; without one it runs `list` if it has it."""

    @click.pass_context
    def begin(context: click.Context, /, **values: Any) -> Any:
        above = context.find_root().obj or {}
        context.find_root().obj = {
            key: values.get(key) or above.get(key) for key in ("json", "home", "debug")
        }
        if context.invoked_subcommand is not None:
            return None
        if "list" not in group.commands:
            return click.echo(context.get_help())
        return context.invoke(group.commands["list"])

    group = Group(name, help=summary, callback=begin, invoke_without_command=True)
    group.section = section  # type: ignore[attr-defined]
    group.params.extend(shared_options())
    for command in (*commands, *_made_from_operations(name)):
        group.add_command(command)
    return group


def _made_from_operations(group: str) -> list[CliCommand]:
    from toolcrib.cli.operation_command import make_command

    return [
        make_command(operation, command)
        for operation, command in SUBCOMMANDS.items()
        if command.name.startswith(f"{group} ")
    ]


class ProgramGroup(Group):
    """All commands: the modules of `cli/commands` and of features, and those made from operations."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        modules = [name.rstrip("_") for name in plugins.names(FOLDER)]
        found = {*modules, *COMMANDS, *FEATURE_COMMANDS, *_commands_of_others()}
        return sorted(name.replace("_", "-") for name in found)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _module_name(cmd_name)
        if module in COMMANDS:
            from toolcrib.cli.operation_command import make_command

            return make_command(module, COMMANDS[module])
        if cmd_name in FEATURE_COMMANDS:
            return _of_feature(cmd_name, FEATURE_COMMANDS[cmd_name])
        return _imported(FOLDER, module) or _of_other_feature(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section."""
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
        from toolcrib.cli.outline import Outline, read_outline

        module = _module_name(name)
        if module in COMMANDS:
            return Outline(COMMANDS[module].section, COMMANDS[module].help)
        if outline := read_outline(FEATURE_COMMANDS.get(name, f"{FOLDER}.{module}")):
            return outline
        command = self.get_command(ctx, name)
        if command is None or command.hidden:
            return None
        return Outline(getattr(command, "section", ""), command.help or command.short_help or "")


class FormedCommand(CliCommand):
    """A command with subcommands beside its own arguments: `tools [SERVER]` and `tools search …`.

    The subcommands are the modules of the command's folder. After `--`, their names are arguments.
    """

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        form = _imported(self._folder, args[0]) if args and args[0] in self.forms() else None
        if form is None:
            return super().make_context(info_name, args, parent, **extra)
        return form.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def forms(self) -> tuple[str, ...]:
        """The names of the subcommands; nothing is imported."""
        return plugins.names(self._folder)

    @property
    def _folder(self) -> str:
        return f"{FOLDER}.{_module_name(self.name or '')}"


def _imported(folder: str, module: str) -> click.Command | None:
    """The command of a module of this folder, or of another package; None if there is none."""
    if not module.isidentifier() or module.startswith("_"):
        return None
    try:
        command = import_module(f"{folder}.{module}").command
    except ModuleNotFoundError as error:
        if error.name != f"{folder}.{module}":
            raise
        command = _found_elsewhere(folder, module)
    return command if isinstance(command, click.Command) else None


def _of_feature(name: str, module: str) -> click.Command:
    """The command of a feature of ours; one that says so if the feature is not installed."""
    from toolcrib.feature import FEATURES

    feature = module.removeprefix(f"{FEATURES}.").partition(".")[0]
    if feature in plugins.names(FEATURES):
        command: click.Command = import_module(module).command
        return command
    return _missing_command(name, feature)


def _missing_command(name: str, feature: str) -> click.Command:
    def refuse(**_: Any) -> None:
        from toolcrib.feature import missing

        raise missing(feature)

    words = click.Argument(["words"], nargs=-1, type=click.UNPROCESSED)
    settings = {"ignore_unknown_options": True, "help_option_names": []}
    return click.Command(name, callback=refuse, params=[words], hidden=True, context_settings=settings)


def _commands_of_others() -> dict[str, Feature]:
    """The commands of features that other packages bring."""
    from toolcrib.feature import FEATURES, features

    elsewhere = plugins.names_elsewhere(FEATURES)
    theirs = [feature for feature in features() if feature.name in elsewhere] if elsewhere else []
    return {name: feature for feature in theirs for name in feature.commands}


def _of_other_feature(name: str) -> click.Command | None:
    feature = _commands_of_others().get(name)
    command = feature.module(feature.commands[name]).command if feature else None
    return command if isinstance(command, click.Command) else None


def _found_elsewhere(folder: str, module: str) -> object:
    from toolcrib.errors import NotFound

    try:
        return plugins.find(folder, module).command
    except NotFound:
        return None


def _module_name(command: str) -> str:
    name = command.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name  # No module can be called `import`.
