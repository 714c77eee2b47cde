"""Reads the arguments of `toolcrib add`: which is the name, what is to be added (command, file, package,
address), which options belong to the server, and where `--` can be left out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolcrib.cli.install_view import ARCHIVES, is_reference
from toolcrib.cli.output import label
from toolcrib.cli.proposal import make_entry, read_pairs
from toolcrib.errors import UsageError

if TYPE_CHECKING:
    from toolcrib.config.paste.pasted import Entries, Install, Pasted, PastedDocument

DOCUMENTS = (".json", ".jsonc", ".toml", ".yaml", ".yml", *ARCHIVES, ".gz", ".zip")
DRY_RUN = "--dry-run"
_DASHES = "toolcrib.arguments_after_dashes"


@dataclass(frozen=True, kw_only=True)
class AddOptions:
    """The options of `toolcrib add`."""

    target: tuple[str, ...]
    env: tuple[str, ...]
    headers: tuple[str, ...]
    cwd: str | None
    kind: str | None
    transport: str | None
    env_allow: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    isolation: str | None
    start_timeout: float | None
    call_timeout: float | None
    lazy: bool
    sandbox: bool
    disabled: bool
    replace: bool
    as_is: bool
    program: str | None
    python: str | None
    also: tuple[str, ...]
    answers: tuple[str, ...]
    allow_scripts: tuple[str, ...]
    allow_build: tuple[str, ...]
    offline: bool
    dry_run: bool

    def entry_keys(self) -> dict[str, Any]:
        """The keys that any entry may have."""
        timeouts = {"start": self.start_timeout, "call": self.call_timeout}
        filters = {"include": list(self.include), "exclude": list(self.exclude)}
        keys = {
            "envAllow": list(self.env_allow),
            "isolation": self.isolation,
            "timeouts": {key: value for key, value in timeouts.items() if value is not None},
            "tools": {key: value for key, value in filters.items() if value},
            "lazy": self.lazy,
            "sandbox": self.sandbox,
        }
        switched = {"enabled": False} if self.disabled else {}
        return {**{key: value for key, value in keys.items() if value}, **switched}


def insert_dashes(command: click.Command, args: list[str]) -> list[str]:
    """The arguments with `--` before a pasted command line: its options are not options of `add`."""
    from toolcrib.config.paste.parser import begins_command

    if "--" in args:
        return args
    position, arguments = 0, 0
    options = {
        name: param
        for param in command.params
        if isinstance(param, click.Option)
        for name in (*param.opts, *param.secondary_opts)
    }
    while position < len(args) and arguments < 2:
        word = args[position]
        if word.startswith("-") and len(word) > 1:
            option = options.get(word)
            if option is None and arguments and _is_bundled(args[position - 1]):
                return [*args[:position], *_options_last(args[position:], options)]
            if option is None and "=" not in word:
                return args
            position += 2 if option is not None and not option.is_flag else 1
            continue
        if position + 1 < len(args) and begins_command(word, args[position + 1]):
            return _with_dashes(args, position)
        position, arguments = position + 1, arguments + 1
    return args


def _with_dashes(args: list[str], position: int) -> list[str]:
    """`--` before the command line; a `--dry-run` in it is ours, because nothing may be installed then."""
    command = [word for word in args[position:] if word != DRY_RUN]
    dry = [DRY_RUN] if len(command) < len(args) - position else []
    return [*args[:position], *dry, "--", *command]


def _options_last(args: list[str], options: Mapping[str, click.Option]) -> list[str]:
    """The options of `add`, then `--` and the others, which are the server's."""
    own: list[str] = []
    others: list[str] = []
    position = 0
    while position < len(args):
        option = options.get(args[position].partition("=")[0])
        values = 0 if option is None or option.is_flag or "=" in args[position] else 1
        (others if option is None else own).extend(args[position : position + 1 + values])
        position += 1 + values
    return [*own, "--", *others]


def _is_bundled(name: str) -> bool:
    """True if a server of this name comes with Toolcrib; what follows are then its own options."""
    from toolcrib.catalog.listing import by_name

    listed = by_name(name)
    return listed is not None and bool(listed.module)


def remember_dashes(context: click.Context, args: list[str]) -> None:
    """Remember how many arguments follow the `--`, which click removes."""
    if "--" in args:
        context.meta[_DASHES] = len(args) - args.index("--") - 1


def read_target(first: str, options: AddOptions) -> tuple[str, Install | PastedDocument | dict[str, Any]]:
    """The name, which may be empty for a package or a document, and what is to be added."""
    from toolcrib.config.paste.pasted import Entries, PastedAddress

    if options.kind:
        return first, _entry(options, options.target, options.kind)
    bundled = _bundled_entry(first, options)
    if bundled is not None:
        return bundled
    name, words = _split_name(first, options.target)
    if options.transport and name:
        return name, _entry(options, words, options.transport)
    found = _read_pasted(name, words, as_is=options.as_is)
    if isinstance(found, PastedAddress):
        headers = (*(f"{key}: {value}" for key, value in found.headers.items()), *options.headers)
        entry = _entry(replace(options, headers=headers), (found.url,), options.transport or found.transport)
        return name or found.name, entry
    if found is None:
        return name or words[0], _entry(options, words, None)
    if isinstance(found, Entries):
        return _single(name, found, words, options)
    return name, found


def _bundled_entry(first: str, options: AddOptions) -> tuple[str, dict[str, Any]] | None:
    """The server for `toolcrib add [NAME] websearch [-- --searxng URL]`."""
    from toolcrib.catalog.listing import by_name

    words = (first, *options.target)
    own_options = len(words) == 1 or words[1].startswith("-")
    after_dashes = click.get_current_context().meta.get(_DASHES)
    if not own_options and after_dashes != len(options.target):
        words = words[1:]
    listed = by_name(words[0])
    if listed is None or not listed.module or not all(word.startswith("-") for word in words[1:2]):
        return None
    _refuse_process_options(listed.name, options)
    args = {"args": [*listed.args, *words[1:]]} if words[1:] else {}
    return first, {**listed.entry, **args, **options.entry_keys()}


def _refuse_process_options(server: str, options: AddOptions) -> None:
    """A bundled server runs inside the host, which has one environment and one working directory."""
    given = {"--env": options.env, "--header": options.headers, "--cwd": options.cwd}
    wrong = [option for option, value in given.items() if value]
    if wrong:
        raise UsageError(
            f"{server} runs inside Toolcrib, so {wrong[0]} has no effect on it.",
            hint=f"Set environment variables for Toolcrib itself. Options of {server} follow `--`.",
        )


def _split_name(first: str, rest: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The name, or '', and what is to be added."""
    from toolcrib.config.paste.parser import is_beginning

    after_dashes = click.get_current_context().meta.get(_DASHES)
    words = (first, *rest)
    if after_dashes is not None:
        # `npm:PACKAGE -- --flag`: a package or an archive is never a server's name.
        return ("", words) if after_dashes >= len(words) or is_reference(first) else (first, rest)
    if not rest or is_beginning(first):
        return "", words
    return first, rest


def _read_pasted(name: str, words: Sequence[str], *, as_is: bool) -> Pasted | None:
    """The pasted text as it was understood; None for a plain command, which is used unchanged."""
    from toolcrib.config.paste.parser import as_command, understand
    from toolcrib.config.paste.pasted import Entries, Install

    here = Path.cwd()
    if name and len(words) == 1 and _is_program(words[0], here, as_is=as_is):
        return None
    found = understand(words, here)
    if as_is and isinstance(found, Install):
        found = as_command(words, here)
    plain = isinstance(found, Entries) and len(words) > 1 and name and not found.notes
    return None if plain and _is_verbatim(found, words) else found


def _is_program(word: str, here: Path, *, as_is: bool) -> bool:
    """True if one argument after a name is a command, rather than a file, a package or an address."""
    from toolcrib.config.paste.parser import is_beginning

    path = here / Path(word).expanduser()
    if path.is_dir():
        return False
    if path.is_file():
        return os.access(path, os.X_OK) and path.suffix not in DOCUMENTS
    begins_path = word.startswith(("/", "./", "../", "~"))
    if is_beginning(word) and not begins_path:
        return False
    # A missing file or an unknown word is refused later, with a reason.
    return as_is or not (begins_path or "/" in word or "." in word)


def _is_verbatim(found: Any, words: Sequence[str]) -> bool:
    ((_, entry),) = found.servers.items()
    return (entry["command"], *entry.get("args", ())) == tuple(words) and not entry.get("env")


def _single(
    name: str, found: Entries, words: tuple[str, ...], options: AddOptions
) -> tuple[str, dict[str, Any]]:
    """The only server of what was pasted; its folder is this one if an argument names a file in it."""
    from toolcrib.config.paste.parser import needed_folder

    for remark in found.notes:
        label("warning:", "yellow", remark)
    ((guessed, entry),) = found.servers.items()
    env = {**entry.get("env", {}), **read_pairs(options.env, "=", "--env")}
    folder = options.cwd or entry.get("cwd") or needed_folder(words)
    made = {**entry, **({"env": env} if env else {}), **({"cwd": folder} if folder else {})}
    return name or guessed, {**made, **options.entry_keys()}


def _entry(options: AddOptions, target: tuple[str, ...], kind: str | None) -> dict[str, Any]:
    env = read_pairs(options.env, "=", "--env")
    headers = read_pairs(options.headers, ":", "--header")
    return {**make_entry(target, kind, env, headers, options.cwd), **options.entry_keys()}


def check_here(entry: Mapping[str, Any], *, as_is: bool) -> None:
    """Refuse an entry that cannot work on this machine; `as_is` allows a program that is missing so far."""
    from toolcrib.config.paste.checks import check_address, check_local, is_on_path
    from toolcrib.config.paste.parser import is_launcher

    if isinstance(entry.get("url"), str):
        check_address(entry["url"])
    command = str(entry.get("command", ""))
    if as_is or not is_launcher(command):
        local = {key: value for key, value in entry.items() if not (as_is and key == "command")}
        check_local(local, os.environ, Path.cwd())
    elif not is_on_path(command, os.environ.get("PATH", os.defpath)):
        label("warning:", "yellow", f"There is no program {command!r} on your PATH yet.")
