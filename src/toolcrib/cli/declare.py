"""Makes a command out of a function: the options that all commands share, and a way to run coroutines."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import click

from toolcrib.cli.error_report import OutputClosed
from toolcrib.cli.surface import Surface

SECTIONS = ("Models", "Host", "Servers", "Tools", "Housekeeping")
"""In this order in the help; a command of another section comes after them."""


class Command(click.Command):
    """A command that knows its section of the help, and what an option it does not know may have meant."""

    section = ""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; an unknown option gets a hint of this command's own."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            error.hint = self.advise(error.option_name, given)  # type: ignore[attr-defined]
            raise

    def advise(self, option: str, args: list[str]) -> str:
        """What to do about an unknown option, besides looking at those that are near."""
        return ""


class Seconds(click.FloatRange):
    """A number of seconds within bounds; `nan` and `inf` are no numbers here."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return number


class Folder(click.Path):
    """The path of a folder; an empty one is a mistake, not the folder one happens to be in."""

    name = "folder"

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if value == "":
            self.fail("it is empty; name a folder.", param, ctx)
        return super().convert(value, param, ctx)


def declare(
    section: str = "", *, asks: bool = False, cls: type[Command] = Command
) -> Callable[[Callable[..., Any]], Command]:
    """Decorator: the function, called with a `Surface` and the options, as the command of its module's name.

    `asks` adds `--yes`. What the function returns is the exit code, if it returns anything.
    """

    def decorate(function: Callable[..., Any]) -> Command:
        name = function.__module__.rpartition(".")[2] if function.__name__ == "command" else function.__name__
        own = list(reversed(getattr(function, "__click_params__", [])))
        command = cls(
            name.rstrip("_").replace("_", "-"),
            callback=_callback(function),
            params=[*own, *_shared(asks)],
            help=inspect.getdoc(function),
        )
        command.section = section
        return command

    return decorate


def _callback(function: Callable[..., Any]) -> Callable[..., Any]:
    @click.pass_context
    def call(context: click.Context, /, **values: Any) -> Any:
        given = {key: values.pop(key, None) for key in ("json", "yes", "debug", "home")}
        above: dict[str, Any] = context.find_root().obj or {}
        surface = Surface(
            **{key: given[key] or above.get(key) or default for key, default in _DEFAULTS.items()}
        )
        try:
            result = function(surface, **values)
            return _finish(result) if inspect.iscoroutine(result) else result
        except BrokenPipeError:
            raise OutputClosed from None

    return call


def _finish(work: Coroutine[Any, Any, Any]) -> Any:
    # The help and the completion of words need no event loop, which takes a third of their time to load.
    from toolcrib.cli.runner import run_to_end

    return run_to_end(work)


_DEFAULTS: dict[str, Any] = {"json": False, "yes": False, "debug": False, "home": None}


def shared_options() -> list[click.Option]:
    """The options that stand before a command as well as after it."""
    return [
        click.Option(["--json", "json"], is_flag=True, help="Print JSON."),
        click.Option(
            ["--home", "home"],
            type=Folder(),
            metavar="FOLDER",
            help="The home to work on, instead of TOOLCRIB_HOME or the usual folders.",
        ),
        click.Option(["--debug", "debug"], is_flag=True, help="Show tracebacks and a log."),
    ]


def _shared(asks: bool) -> list[click.Option]:
    if not asks:
        return shared_options()
    yes = click.Option(["--yes", "-y", "yes"], is_flag=True, help="Answer questions with yes.")
    return [yes, *shared_options()]
