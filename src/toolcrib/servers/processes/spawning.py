"""Starts the process of a server, and says why one cannot be started."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from toolcrib.errors import SpawnFailed, ToolcribError
from toolcrib.servers.processes.child import restore_limit, shortage_of
from toolcrib.servers.processes.orphans import MARKER
from toolcrib.servers.transport import LinkContext


class StartCommand(Protocol):
    """The part of a stdio server's entry that says what to run."""

    @property
    def command(self) -> str: ...

    @property
    def args(self) -> tuple[str, ...]: ...

    @property
    def env(self) -> dict[str, str]: ...

    @property
    def cwd(self) -> str | None: ...


def start(spec: StartCommand, context: LinkContext) -> subprocess.Popen[bytes]:
    """Start the server's process; raises `SpawnFailed`."""
    environment = environment_of(spec, context)
    program = find_program(spec.command, environment, spec.cwd)
    return spawn(spec, [program, *spec.args], environment, cwd=spec.cwd)


def environment_of(spec: StartCommand, context: LinkContext) -> dict[str, str]:
    return {**context.environment, **spec.env, MARKER: context.marker}


def spawn(
    spec: StartCommand,
    argv: list[str],
    environment: Mapping[str, str],
    *,
    cwd: str | None,
    descriptors: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a process in its own session with three pipes; errors are about `spec`."""
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            cwd=cwd,
            pass_fds=descriptors,
            start_new_session=True,
        )
    except OSError as error:
        raise _start_error(spec, error) from None
    except ValueError as error:  # a null byte, or a variable with "=" in its name
        raise SpawnFailed(
            f"The command {spec.command!r} cannot be run: {error}.",
            hint="Fix `command`, `args`, `env` or `cwd`.",
        ) from None
    restore_limit(process.pid)
    return process


def find_program(command: str, environment: Mapping[str, str], cwd: str | None) -> str:
    """The executable's full path; raises `SpawnFailed`."""
    if os.sep in command:
        return str(Path(cwd or ".", command).absolute()) if not command.startswith("/") and cwd else command
    path = environment.get("PATH", os.defpath)
    found = shutil.which(command, path=path)
    if found is None:
        raise SpawnFailed(
            f"The command {command!r} was not found on the PATH ({path}).", hint=_install_hint(command)
        )
    return found


def _install_hint(command: str) -> str:
    if " " in command:
        return "`command` is only the program; put its arguments into `args`."
    known = {
        "npx": "Install Node.js, which includes npx.",
        "node": "Install Node.js.",
        "uvx": "Install uv, which includes uvx: `pip install uv`.",
        "uv": "Install uv: `pip install uv`.",
        "docker": "Install Docker.",
        "python": "Use python3 as the command.",
    }
    return known.get(command, f"Install {command}, or use its full path as the command.")


def _start_error(spec: StartCommand, error: OSError) -> ToolcribError:
    shortage = shortage_of(error)
    if shortage is not None:
        return shortage
    if spec.cwd and not Path(spec.cwd).is_dir():
        return SpawnFailed(f"The working folder {spec.cwd!r} does not exist.", hint="Fix `cwd`.")
    if spec.cwd and not os.access(spec.cwd, os.X_OK):
        return SpawnFailed(f"The working folder {spec.cwd!r} is not accessible.", hint="Fix `cwd`.")
    why, hint = _why_not(Path(spec.cwd or ".", spec.command), error)
    return SpawnFailed(f"The command {spec.command!r} {why}.", hint=hint)


def _why_not(program: Path, error: OSError) -> tuple[str, str]:
    if error.errno == errno.ENOEXEC:
        return "cannot run on this machine", "Is it for another architecture, or a script without #!?"
    if error.errno == errno.EACCES:
        return "is not executable", "Make it executable: chmod +x."
    if error.errno == errno.ENOENT and program.exists():
        return "needs an interpreter that is missing", "Fix its first line, or reinstall it."
    if error.errno == errno.ENOENT:
        return "was not found", "Fix `command`, or install the program."
    return f"cannot be run ({error.strerror})", "Fix `command`."
