"""`toolcrib service`: install, show and remove the service that runs the host."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import click

from toolcrib.cli.declare import declare
from toolcrib.cli.group import command_of
from toolcrib.cli.output import note, say, say_exactly
from toolcrib.cli.surface import Surface
from toolcrib.errors import HostRunning, SystemFailure

if TYPE_CHECKING:
    from toolcrib.features.service.service import Manager, Service

PORT = click.IntRange(1, 65535)


@declare()
@click.option("--port", type=PORT, help="The port of the page; default 4180 or the next free one.")
@click.option("--print", "show", is_flag=True, help="Print the service file and change nothing.")
def install(surface: Surface, port: int | None, show: bool) -> None:
    """Start the host now, at each login, and again if it crashes.

    Writes a systemd user unit, or a launch agent on macOS. The service gets your PATH and TOOLCRIB_HOME as
    they are now; install it again after you changed them. Keys of models belong in: toolcrib secret set
    """
    from toolcrib.config.safe_files import write_atomic
    from toolcrib.features.service.service import plan_service

    manager, service = _manager(), plan_service(surface.paths, port)
    file, text = manager.place(), manager.describe(service)
    if show:
        if not surface.answer({"manager": manager.TITLE, "file": str(file), "text": text}):
            say_exactly(text.rstrip("\n"))
        return
    _check(surface, manager)
    same = file.is_file() and file.read_text() == text
    if not (same and manager.state().running):
        surface.paths.ensure()
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, text.encode())
        manager.start(file)
    _show(surface, manager, service)


def _check(surface: Surface, manager: Manager) -> None:
    """Refuse before anything is written: no service manager, or a host that was started by hand."""
    from toolcrib.host.lock import running_host

    if obstacle := manager.obstacle():
        raise SystemFailure(
            f"{obstacle} Nothing was changed.",
            hint="Let your system start `toolcrib up --no-browser` instead, such as with @reboot in crontab. "
            "The file for a service: toolcrib service install --print",
        )
    running = running_host(surface.paths.lock_file)
    if running is not None and running.get("pid") != manager.state().pid:
        raise HostRunning(
            f"A host already runs as process {running.get('pid', '?')}, and not as a service.",
            hint="Stop it with Ctrl-C, then: toolcrib service install",
        )


@declare()
def status(surface: Surface) -> None:
    """Show whether the service is installed and runs."""
    from toolcrib.features.service.service import plan_service

    manager = _manager()
    if not manager.place().exists() and not surface.json:
        say("There is no service. Install it with: toolcrib service install")
        return
    _show(surface, manager, plan_service(surface.paths, None))


@declare()
def remove(surface: Surface) -> None:
    """Stop the service and delete its file; the home stays."""
    manager = _manager()
    file = manager.place()
    existed = file.exists()
    manager.stop(file)
    if surface.answer({"removed": existed, "file": str(file)}):
        return
    say(f"Stopped the service and deleted {file}." if existed else "There is no service.")


def _show(surface: Surface, manager: Manager, service: Service) -> None:
    file, found = manager.place(), manager.state()
    notes = manager.notes() if found.running else []
    shown: dict[str, Any] = {"manager": manager.TITLE, "file": str(file), "installed": file.exists()}
    shown |= {"enabled": found.enabled, "running": found.running, "pid": found.pid}
    if surface.answer({**shown, "logs": manager.logs(service), "notes": notes}):
        return
    if found.running:
        say(f"The service runs as process {found.pid}. Open its page with: toolcrib open")
    else:
        say(f"The service is installed, but does not run. Start it with: {_AGAIN}")
    if not found.enabled:
        say(f"It does not start at login. Change that with: {_AGAIN}")
    say(f"File: {file}\nIts log: {manager.logs(service)}")
    for text in notes:
        note(text)


_AGAIN = "toolcrib service install"


def _manager() -> Manager:
    name = "launchd" if sys.platform == "darwin" else "systemd"
    return cast("Manager", import_module(f"{__package__}.managers.{name}"))


command = command_of(
    "service",
    "Host",
    "Run the host in the background: start it at each login, and again if it crashes.",
    install,
    status,
    remove,
)
