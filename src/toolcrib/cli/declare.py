"""Makes commands from functions: the sections of `--help` in their order, options that all share (`--json`,
`--yes`, `--home`), `--wait`, `--model` and `--effort`; runs coroutines until a signal."""

from __future__ import annotations

import inspect
import math
import signal
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from toolcrib.cli.surface import Surface

SECTIONS = ("Models", "Host", "Servers", "Tools", "Housekeeping")
"""In the order of the help; others follow."""
SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""They end a command; SIGINT is handled by asyncio's runner."""
repeatable = partial(click.option, multiple=True)
"""An option that may be given several times."""


class CliCommand(click.Command):
    """A command with its section in the help, and a hint for unknown options."""

    section = ""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            error.hint = self.advise(error.option_name, given)  # type: ignore[attr-defined]
            raise

    def advise(self, option: str, args: list[str]) -> str:
        """A hint about an unknown option, besides similar ones."""
        return ""


class Seconds(click.FloatRange):
    """A number of seconds within bounds, neither `nan` nor `inf`."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return number


class FolderPath(click.Path):
    """The path of a folder; an empty one is refused instead of meaning the current folder."""

    name = "folder"

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("it is empty; give the path of a folder.", param, ctx)
        return super().convert(value, param, ctx)


def declare(
    section: str = "", *, asks: bool = False, cls: type[CliCommand] = CliCommand
) -> Callable[[Callable[..., Any]], CliCommand]:
    """Make a function a command; it is called with a `Surface` and the options and may return an exit code.

    A function called `command` gets the name of its module. `asks` adds `--yes`.
    """

    def decorate(function: Callable[..., Any]) -> CliCommand:
        name = function.__module__.rpartition(".")[2] if function.__name__ == "command" else function.__name__
        own = list(reversed(getattr(function, "__click_params__", [])))
        help_text = inspect.getdoc(function) or ""
        return make_cli_command(
            name, function, section=section, parameters=own, help=help_text, asks=asks, cls=cls
        )

    return decorate


def make_cli_command(
    name: str,
    function: Callable[..., Any],
    *,
    section: str,
    parameters: Sequence[click.Parameter],
    help: str,  # noqa: A002 - as click calls it
    asks: bool = False,
    cls: type[CliCommand] = CliCommand,
) -> CliCommand:
    """A command of these parameters and the shared ones."""
    command = cls(
        name.rstrip("_").replace("_", "-"),
        callback=_callback(function),
        params=[*parameters, *_shared(asks)],
        help=help,
    )
    command.section = section
    return command


def wait_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--wait`, whose default `Surface.start_wait` computes."""
    option = click.option("--wait", type=Seconds(0, 3600), help="Seconds to wait for servers to start.")
    return option(command)


def model_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--model`."""
    from toolcrib.cli.completion import models

    text = "The model; demo needs no account."
    option = click.option("--model", "-m", metavar="VENDOR:MODEL", shell_complete=models, help=text)
    return option(command)


def effort_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--effort`."""
    levels = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]
    option = click.option("--effort", type=click.Choice(levels), help="How much the model thinks, if it can.")
    return option(command)


def _callback(function: Callable[..., Any]) -> Callable[..., Any]:
    @click.pass_context
    def call(context: click.Context, /, **values: Any) -> Any:
        given = {key: values.pop(key, None) for key in ("json", "yes", "debug", "home")}
        above: dict[str, Any] = context.find_root().obj or {}
        surface = Surface(
            **{key: given[key] or above.get(key) or default for key, default in _DEFAULTS.items()}
        )
        result = function(surface, **values)
        return _finish(result) if inspect.iscoroutine(result) else result

    return call


def _finish(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of the coroutine; a signal cancels it, so that everything it opened is closed."""
    # Help and completion need no event loop, which takes a third of their time to import.
    import asyncio

    with asyncio.Runner() as runner:
        return runner.run(_until_signal(work))


async def _until_signal(work: Coroutine[Any, Any, Any]) -> Any:
    import asyncio

    from toolcrib.cli.error_report import Interrupted

    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    received: list[int] = []

    def end(number: int) -> None:
        received.append(number)
        task.cancel()

    for number in SIGNALS:
        loop.add_signal_handler(number, end, number)
    try:
        return await task
    except asyncio.CancelledError:
        if received:
            raise Interrupted(received[0]) from None
        raise
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)


_DEFAULTS: dict[str, Any] = {"json": False, "yes": False, "debug": False, "home": None}


def shared_options() -> list[click.Option]:
    """The options that may be given before and after a command."""
    return [
        click.Option(["--json", "json"], is_flag=True, help="Print JSON."),
        click.Option(
            ["--home", "home"],
            type=FolderPath(),
            metavar="FOLDER",
            help="Use this home instead of TOOLCRIB_HOME or the default folders.",
        ),
        click.Option(["--debug", "debug"], is_flag=True, help="Show tracebacks and the log."),
    ]


def _shared(asks: bool) -> list[click.Option]:
    if not asks:
        return shared_options()
    yes = click.Option(["--yes", "-y", "yes"], is_flag=True, help="Answer all questions with yes.")
    return [yes, *shared_options()]
