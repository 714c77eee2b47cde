"""The verdict on a shell command: harmless, destructive, or for the user to decide. What counts as
destructive (disks, home folders, shutdown, fork bomb), wrappers such as sudo, and the reasons that are shown.

Harmless means that every part was understood and is known to only read. Nothing else is ever called so.

Destructive commands wipe a disk, a system or a home folder, or stop the machine. They are searched in every
command anywhere in the text. A way around this list still needs approval, because only commands that are
known to only read run without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from toolcrib.serverkit.shell.syntax import SyntaxNode, parse
from toolcrib.serverkit.shell.words import MAX_LENGTH, NotUnderstood, listed

if TYPE_CHECKING:
    from toolcrib.serverkit.shell.script import Simple

_DEEPEST = 4
"""How far shells within shells are followed."""
_WRAPPERS = listed("""
    sudo doas env command exec nohup nice ionice time timeout setsid stdbuf busybox builtin xargs coproc eval
    """)
_SHELLS = listed("sh bash dash zsh ksh ash eval")
_STOPPING = listed("shutdown reboot halt poweroff")
_WIPING = re.compile(r"mkfs(\.\w+)?|wipefs|blkdiscard|sgdisk|fdisk|sfdisk|parted|mkswap")
_DISK = re.compile(r"/dev/(sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|disk\d|mapper/|md\d)")
_VITAL = re.compile(
    r"/?|/(\.{1,2}/)*(\.{1,2}|\*)?"
    r"|/(bin|boot|dev|etc|home|lib|lib64|opt|proc|root|run|sbin|srv|sys|usr|var|Users|System|Library|Applications)(/\*?)?"
    r"|~[\w-]*(/\*?)?|\$\{?HOME\}?(/\*?)?|/home/[^/]+(/\*?)?|/root(/\*?)?|/Users/[^/]+(/\*?)?"
)
_FORK_BOMB = re.compile(
    r"(?:^|(?<=[\s;&|(]))(\S{1,40}?)\s{0,9}\(\s{0,9}\)\s{0,9}\{\s{0,9}\1\s{0,9}\|\s{0,9}\1\s{0,9}&\s{0,9}\}"
)
"""Every repetition is bounded: the text is untrusted."""

_LONGEST = 128 * 1024
"""The kernel takes no longer argument, so that nothing longer can run."""
Kind = Literal["harmless", "destructive", "unknown"]


def destruction(text: str, depth: int = 0) -> str:
    """What would be destroyed, for people; empty when nothing was found."""
    if _FORK_BOMB.search(text):
        return "it starts processes until the machine stops responding"
    for node in _every(parse(text)):
        if node.type == "file_redirect" and _DISK.search(node.text):
            return "it overwrites a disk"
        if node.type != "command":
            continue
        found = _of_command(_rough_words(node), depth)
        if found:
            return found
    return ""


def commands_within(text: str, depth: int = 0) -> Iterator[tuple[str, ...]]:
    """The words of every command, also of those that shells are given as text."""
    for node in _every(parse(text)):
        if node.type != "command":
            continue
        words = _unwrapped(_rough_words(node))
        if not words:
            continue
        yield (words[0].rpartition("/")[2], *words[1:])
        if words[0].rpartition("/")[2] in _SHELLS and depth < _DEEPEST:
            for inner in words[1:]:
                yield from commands_within(inner, depth + 1)


def _of_command(words: Sequence[str], depth: int) -> str:
    words = _unwrapped(words)
    if not words:
        return ""
    name, rest = words[0].rpartition("/")[2], words[1:]
    if name in _SHELLS and depth < _DEEPEST:
        for inner in rest:
            found = "" if inner.startswith("-") else destruction(inner, depth + 1)
            if found:
                return found
    if _WIPING.fullmatch(name) and any(word.startswith("/dev/") for word in rest):
        return "it wipes a disk"
    if name in _STOPPING or (name == "systemctl" and set(rest) & (_STOPPING | {"kexec", "rescue"})):
        return "it stops the machine"
    check = _CHECKS.get(name)
    return check(rest) if check else ""


def _rm(words: Sequence[str]) -> str:
    if "--no-preserve-root" in words or (_recursive(words) and any(map(_vital, words))):
        return "it removes a system or home folder"
    return ""


def _change_mode(words: Sequence[str]) -> str:
    if _recursive(words) and any(map(_vital, words)):
        return "it changes the permissions of a system or home folder"
    return ""


def _dd(words: Sequence[str]) -> str:
    return "it overwrites a disk" if any(_DISK.match(word[3:]) for word in words if word[:3] == "of=") else ""


def _shred(words: Sequence[str]) -> str:
    return "it overwrites a disk" if any(map(_DISK.match, words)) else ""


def _mv(words: Sequence[str]) -> str:
    return "it moves a system or home folder" if any(map(_vital, words[:-1])) else ""


def _find(words: Sequence[str]) -> str:
    if "-delete" in words and words and _vital(words[0]) and len(words) <= 2:
        return "it removes everything"
    return ""


def _kill(words: Sequence[str]) -> str:
    return "it ends every process" if "-1" in words[1:] or list(words) == ["-1"] else ""


def _recursive(words: Sequence[str]) -> bool:
    return any(re.fullmatch(r"--recursive|-[A-Za-z]*[rR][A-Za-z]*", word) for word in words)


def _vital(word: str) -> bool:
    plain = re.sub(r"/(\./)+", "/", re.sub(r"/{2,}", "/", word))
    return bool(plain) and not plain.startswith("-") and _VITAL.fullmatch(plain) is not None


def _unwrapped(words: Sequence[str]) -> Sequence[str]:
    """Without the programs that only start another one, and their options and variables."""
    while words and words[0].rpartition("/")[2] in _WRAPPERS - _SHELLS:
        words = words[1:]
        while words and (
            words[0].startswith("-") or "=" in words[0] or re.fullmatch(r"[\d.]+[smhd]?", words[0])
        ):
            words = words[1:]
    return words


def _rough_words(node: SyntaxNode) -> list[str]:
    """The words as they would most likely come out; good enough to look for harm, not to find none."""
    words = [
        _rough(child.text)
        for child in node.children
        if child.type not in ("variable_assignment", "herestring_redirect", "file_redirect")
    ]
    return [word for word in words if word]


def _rough(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", re.sub(r"""\$?(['"])((?:(?!\1).)*)\1""", r"\2", text, flags=re.DOTALL))


def _every(node: SyntaxNode) -> Iterator[SyntaxNode]:
    left = [node]
    while left:
        one = left.pop()
        yield one
        left.extend(reversed(one.children))


_CHECKS: dict[str, Callable[[Sequence[str]], str]] = {
    "chmod": _change_mode,
    "chown": _change_mode,
    "dd": _dd,
    "find": _find,
    "kill": _kill,
    "mv": _mv,
    "rm": _rm,
    "shred": _shred,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of a command before it runs."""

    kind: Kind
    reason: str
    names: tuple[str, ...] = ()
    """Files and folders that it only tells about."""
    paths: tuple[str, ...] = ()
    """Files that a harmless one shows: absolute, from the home folder (`~/…`), or from the
    project (`./…`). With `..` as it is written, and with wildcards as for `glob`."""
    trees: tuple[str, ...] = ()
    """Folders that it searches through."""
    once: bool = False
    """What it runs comes from the internet or is hidden, so that a yes is for this one call."""


def judge(command: str, cwd: str = "", project: str = "") -> Verdict:
    """Say what a command is; never raises and never runs anything.

    It runs in `cwd`, which is relative to the project or absolute, and by default the project. `project` is
    the absolute path of that, if it is known.
    """
    if len(command) > _LONGEST:
        return Verdict("unknown", "It is too long for any shell.", once=True)
    known = _judge if len(command) <= MAX_LENGTH else _judge.__wrapped__
    return known(command, cwd, project)


@lru_cache(maxsize=256)
def _judge(command: str, cwd: str, project: str) -> Verdict:
    from toolcrib.serverkit.shell.readers import only_reads

    found = destruction(command)
    if found:
        return Verdict("destructive", f"This command is refused: {found}.")
    try:
        commands = _commands(command, cwd, project)
    except NotUnderstood as error:
        return _doubtful(command, f"It cannot be fully checked before it runs: {error.what}.")
    for one in commands:
        doubt = only_reads(one)
        if doubt:
            return _doubtful(command, "" if doubt.endswith("change something") else f"{doubt}.")
    names, paths, trees = (_routes(commands, kind) for kind in ("name", "content", "search"))
    return Verdict("harmless", "Every part of it only reads.", names, paths, trees)


def _doubtful(command: str, doubt: str) -> Verdict:
    """A command to ask about, with what it does."""
    from toolcrib.serverkit.shell.effects import effects_of, told

    if len(command) > MAX_LENGTH:
        return Verdict("unknown", doubt, once=True)
    effects = effects_of(command)
    reason = " ".join(filter(None, [told(effects), doubt])) or "Toolcrib cannot be sure that this only reads."
    return Verdict("unknown", reason, once=any(effect.once for effect in effects))


def _commands(command: str, cwd: str, project: str) -> tuple[Simple, ...]:
    from toolcrib.serverkit.shell.paths import place_of
    from toolcrib.serverkit.shell.script import read_script

    folder = place_of(cwd, project)
    if folder is None or folder.secret:
        raise NotUnderstood(f"the folder {cwd}")
    return read_script(command, folder)


def _routes(commands: Sequence[Simple], kind: str) -> tuple[str, ...]:
    from toolcrib.serverkit.shell.paths import route
    from toolcrib.serverkit.shell.readers import uses_of

    routes = (
        route(use.word, folder)
        for command in commands
        for use in uses_of(command) or ()
        if use.kind == kind and not (kind == "name" and use.word.glob)
        for folder in command.folders
    )
    return tuple(filter(None, dict.fromkeys(routes)))


def simple_commands(command: str, cwd: str = "", project: str = "") -> tuple[tuple[str, ...], ...] | None:
    """The exact words of each simple command that is not harmless by itself; None when not all are known.

    A rule for `npm run *` must match each of these. A command whose input is chosen by another command, or
    that runs outside of the project, is not what the rule was written for.
    """
    from toolcrib.serverkit.shell.readers import needs_rule

    try:
        commands = _commands(command, cwd, project)
    except NotUnderstood:
        return None
    wanted = needs_rule(commands)
    if any(simple.fed or not all(word.literal for word in simple.words) for simple in wanted):
        return None
    if any(folder.anchor != "." for simple in wanted for folder in simple.folders):
        return None
    return tuple((simple.name, *(word.text for word in simple.words)) for simple in wanted)


def rough_commands(command: str) -> tuple[tuple[str, ...], ...]:
    """Every command anywhere in the text, as its words would most likely come out, wrappers taken off.

    For rules that forbid: good enough to find something, never to find nothing.
    """

    return tuple(commands_within(command[:_LONGEST]))
