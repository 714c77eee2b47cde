"""`toolcrib desktop`: offer the desktop to other programs over gRPC, record macros, and export them as
workflows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli.declare import Seconds, declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, print_json, say
from toolcrib.cli.surface import Surface

if TYPE_CHECKING:
    from types import ModuleType

    from toolcrib.serverkit.context import ToolContext

BUNDLED = "toolcrib.bundled.desktop"
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@declare()
@click.option("--grpc", is_flag=True, help="Serve over gRPC, the only protocol so far.")
@click.option("--address", metavar="HOST:PORT", help="Where to listen; 127.0.0.1:50051 by default.")
@click.option("--socket", type=click.Path(path_type=Path), help="A Unix socket instead of an address.")
@click.option("--headless", metavar="WIDTHxHEIGHT", help="Use a display of its own instead of yours.")
@click.option(
    "--allow-scripts", "scripts", metavar="FOLDER", help="Let clients run shell commands, in this folder."
)
@click.option("--stop-key", metavar="KEYS", help='Stops all input; ctrl+alt+escape by default, "" for none.')
@click.option(
    "--no-token", is_flag=True, help="Accept calls of every program on this machine, for other clients."
)
@click.option("--tls-cert", "certificate", type=_FILE, help="A certificate (PEM); other addresses need it.")
@click.option("--tls-key", "key", type=_FILE, help="The certificate's private key (PEM).")
def serve(
    surface: Surface, grpc: bool, no_token: bool, headless: str | None, scripts: str | None, **given: Any
) -> int:
    """Offer the desktop over gRPC (macosusesdk.v1.MacosUse), until Ctrl-C.

    It prints its address; with --json, one line {"address", "token_file", "pid"}.

    Clients send the token in the metadata as `authorization: Bearer TOKEN`. A Unix socket needs none: only
    you can connect to it.
    """
    if not grpc:
        raise click.UsageError("Add --grpc. As an MCP server: toolcrib add desktop, toolcrib serve.")
    if given["address"] and given["socket"]:
        raise click.UsageError("Give either --address or --socket.")
    import asyncio

    from toolcrib import plugins

    module = plugins.find(BUNDLED, "grpc")
    size = plugins.find(BUNDLED, "headless").parse_size(headless) if headless else None
    folder = plugins.find(BUNDLED, "scripts").scripts_folder(scripts)
    chosen = {name: value for name, value in given.items() if value is not None}
    options = module.ServeOptions(**chosen, headless=size, scripts=folder, token=not no_token)
    asyncio.run(_serve(surface, module, options))
    return 0


async def _serve(surface: Surface, module: ModuleType, options: Any) -> None:
    from toolcrib.cli.foreground import ended_by_signals

    token_file = module.token_file(surface.home) if options.needs_token else None
    with ended_by_signals() as ending:
        await module.serve(
            options,
            surface.home,
            ready=lambda address: _announce(surface, address, token_file),
            ended=ending.wait,
            context=_context(),
        )


def _context() -> ToolContext:
    """Shows what is installed first."""
    from toolcrib.serverkit.context import ToolContext

    def installing(done: float, total: float | None, message: str | None) -> None:
        if message:
            note(message)

    return ToolContext(on_progress=installing)


def _announce(surface: Surface, address: str, token_file: Path | None) -> None:
    import os
    import sys

    if surface.json:
        print_json({"address": address, "token_file": token_file and str(token_file), "pid": os.getpid()})
    else:
        say(address)
        note(f"The token is in {token_file}." if token_file else "No token is needed.")
        note("Ctrl-C stops it.")
    sys.stdout.flush()


@declare()
@click.argument("name")
@click.option("--title", default="", help="What the macro is called; default: its name.")
@click.option("--all-text", is_flag=True, help="Store text typed into programs without accessibility too.")
@click.option("--seconds", type=Seconds(min=1, max=1800), default=1800, help="The longest duration.")
def record(surface: Surface, name: str, title: str, **given: Any) -> int:
    """Record what you type and click into a macro, until Ctrl-Alt-End or Ctrl-C.

    Clicks are stored as the elements that you clicked. Passwords are not stored: the macro has a parameter
    for each.
    """
    import asyncio

    from toolcrib import plugins

    module = plugins.find(BUNDLED, "recording")
    options = module.RecordOptions(macro_id=name, display_name=title, **given)
    asyncio.run(_record(surface, module, options))
    return 0


async def _record(surface: Surface, module: ModuleType, options: Any) -> None:
    from toolcrib.cli.foreground import ended_by_signals

    with ended_by_signals() as ending:
        made = await module.record_to_store(
            options,
            surface.home,
            ready=lambda: note(f"Recording. {module.STOP_KEYS} or Ctrl-C ends it."),
            ended=ending.wait,
            context=_context(),
        )
    asked = [parameter.key for parameter in made.parameters if parameter.required]
    if surface.json:
        print_json({"name": made.name, "actions": len(made.actions), "required_parameters": asked})
    else:
        say(f"Stored {made.name} with {len(made.actions)} actions.")
        note(f"As a workflow: toolcrib desktop export {options.macro_id}")
        if asked:
            note(f"Not recorded, because it may be a password: {', '.join(asked)}.")


@declare()
@click.argument("name")
def export(surface: Surface, name: str) -> int:
    """Print the recorded macro NAME as a workflow, for `toolcrib workflow import` and the page's editor.

    Its clicks on elements call the server `desktop`: add that with `toolcrib add desktop`.
    """
    from toolcrib import plugins

    text = plugins.find(f"{BUNDLED}.recording", "workflow").export_workflow(name, surface.home)
    if not surface.answer({"name": name, "text": text}):
        say(text.rstrip("\n"))
    return 0


command = command_of("desktop", "Host", "Offer and record the desktop.", serve, record, export)
