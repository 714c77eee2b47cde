"""The program: parses the arguments, runs the command, and returns an exit code. The introduction of
`toolcrib --help`, and the log that `--debug` shows.

0  done                          4  denied
1  something is broken           5  a server or the host is not available
2  usage error                   6  the tool failed
3  not found                   130  interrupted
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from toolcrib.cli.declare import shared_options
from toolcrib.cli.error_report import report
from toolcrib.cli.group import ProgramGroup
from toolcrib.cli.streams import OutputFailed, mute, prepare_streams
from toolcrib.version import __version__

PROGRAM = "toolcrib"
HELP = """Runs and monitors MCP servers, and offers their tools to AI agents.

Start with `toolcrib up`; in another terminal, `toolcrib tools` and `toolcrib call demo__add a=1 b=2`.
"""


def run(args: Sequence[str]) -> int:
    """Run the program with these arguments; returns the exit code."""
    prepare_streams()
    as_data, debug = _has_flag(args, "--json"), _has_flag(args, "--debug")
    _set_up_logging(debug)
    try:
        code = program().main(list(args), prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the edge of the surface
        return _fail(error, as_data=as_data, debug=debug)
    return code if isinstance(code, int) else 0


def _fail(error: BaseException, *, as_data: bool, debug: bool) -> int:
    """Report the error, on stderr if stdout cannot be written."""
    if not isinstance(error, OutputFailed):
        try:
            return report(error, as_data=as_data, debug=debug)
        except OutputFailed as failed:
            error = failed
    mute()
    return report(error, as_data=False, debug=debug)


def program() -> ProgramGroup:
    """The click group of all commands."""
    group = ProgramGroup(
        PROGRAM,
        help=HELP,
        callback=_begin,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    group.params.extend(
        [
            *shared_options(),
            click.Option(["--version", "-V", "version"], is_flag=True, help="Print the version."),
        ]
    )
    return group


@click.pass_context
def _begin(context: click.Context, /, json: bool, home: Path | None, debug: bool, version: bool) -> None:
    context.obj = {"json": json, "home": home, "debug": debug}
    if version:
        click.echo(f"{PROGRAM} {__version__}")
        context.exit(0)
    if context.invoked_subcommand is None:
        from toolcrib.cli.commands.status import command as status

        context.invoke(status)


def _has_flag(args: Sequence[str], option: str) -> bool:
    """True if a flag is given; parsing may fail, and its error must respect the flag."""
    own = list(args)[: list(args).index("--")] if "--" in args else args
    return option in own


def _set_up_logging(debug: bool) -> None:
    if debug:
        # Libraries log addresses and headers at lower levels, with the keys in them.
        logging.basicConfig(
            level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s"
        )
        logging.getLogger("toolcrib").setLevel(logging.DEBUG)
        return
    # Commands print what matters to the user themselves.
    logging.getLogger().addHandler(logging.NullHandler())
