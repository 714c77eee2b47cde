"""`toolcrib completion install`: write the completion script where the shell reads it, and a line into the
shell's start file; `--remove` takes both away."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from toolcrib.cli.commands.completion import SHELLS, own_shell, script_for
from toolcrib.cli.declare import declare
from toolcrib.cli.output import say
from toolcrib.cli.surface import Surface

MARK = "# Added by: toolcrib completion install"
_ZSH_START = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }\n"
"""The script registers itself with zsh's completion, which a start file may not have switched on."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a shell finds a completion script."""

    script: Path
    start: Path | None
    """The file that a new shell reads; None if the shell looks for the script by itself."""

    @property
    def line(self) -> str:
        """Reads the script, unless it was deleted."""
        script = shlex.quote(str(self.script))
        return f"[ ! -f {script} ] || . {script}  {MARK}"


@declare()
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.option("--remove", is_flag=True, help="Remove it again.")
def command(surface: Surface, shell: str | None, remove: bool) -> None:
    """Complete commands, servers and tools with Tab in your shell, from its next start on.

    Writes the script to the folder of your shell's completions. For bash and zsh, one line in ~/.bashrc or
    ~/.zshrc reads it.
    """
    from toolcrib.config.safe_files import write_atomic

    chosen = shell or own_shell()
    place = find_place(chosen)
    if remove:
        place.script.unlink(missing_ok=True)
    else:
        place.script.parent.mkdir(parents=True, exist_ok=True)
        start = _ZSH_START if chosen == "zsh" else ""
        write_atomic(place.script, f"{start}{script_for(chosen)}".encode())
    if place.start is not None:
        _set_line(place.start, "" if remove else place.line)
    files = [str(path) for path in (place.script, place.start) if path is not None]
    if surface.answer({"shell": chosen, "installed": not remove, "files": files}):
        return
    if remove:
        say(f"{chosen} no longer completes toolcrib, from its next start on.")
    else:
        say(f"{chosen} completes toolcrib from its next start on. Files: {', '.join(files)}")


def find_place(shell: str) -> Place:
    """Where this shell looks, or where its start file can point."""
    home = Path.home()
    if shell == "fish":
        config = _folder("XDG_CONFIG_HOME", home / ".config")
        return Place(script=config / "fish" / "completions" / "toolcrib.fish", start=None)
    data = _folder("XDG_DATA_HOME", home / ".local" / "share")
    if shell == "zsh":
        start = _folder("ZDOTDIR", home) / ".zshrc"
        return Place(script=data / "zsh" / "site-functions" / "_toolcrib", start=start)
    # A terminal on macOS starts login shells, which do not read ~/.bashrc.
    start = home / (".bash_profile" if sys.platform == "darwin" else ".bashrc")
    return Place(script=data / "bash-completion" / "completions" / "toolcrib", start=start)


def _folder(variable: str, default: Path) -> Path:
    named = Path(os.environ.get(variable, ""))
    return named if named.is_absolute() else default


def _set_line(start: Path, line: str) -> None:
    """Replace our line of the file by this one; the file is written in place, since it may be a link."""
    text = start.read_text(encoding="utf-8", errors="surrogateescape") if start.exists() else ""
    kept = [one for one in text.splitlines(keepends=True) if not one.rstrip().endswith(MARK)]
    wanted = "".join(kept)
    if line:
        wanted += ("" if not wanted or wanted.endswith("\n") else "\n") + f"{line}\n"
    if wanted != text:
        start.write_text(wanted, encoding="utf-8", errors="surrogateescape")
