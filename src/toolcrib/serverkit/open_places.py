"""Which files outside of a project hold nothing private, so that their content may be shown without asking:
lists of files in `/etc` and of the home folder.

A list of what is known, because no list of private places is complete: every tool keeps its tokens in a
hidden folder of its own. Inside a project, `secret_places` decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.serverkit.secret_places import Part, could_match, folded, listed, part, places, split

_HOMES = places(("home/*", "Users/*", "root"))
_SYSTEM = tuple(
    map(part, ("bin", "lib", "lib32", "lib64", "opt", "proc", "dev", "sbin", "sys", "tmp", "usr"))
)
"""Folders of the root that are open as a whole, or that `secret_places` knows in full."""
_CLOSED_AT_HOME = tuple(map(part, ("appdata", "library", "snap")))
"""Where programs keep their data, besides hidden folders."""


_IN_ROOT = places(
    listed("""
    etc/os-release etc/lsb-release etc/debian_version etc/redhat-release etc/alpine-release etc/issue
    etc/hosts etc/hostname etc/resolv.conf etc/nsswitch.conf etc/services etc/protocols etc/passwd etc/group
    etc/shells etc/timezone etc/localtime etc/locale.conf etc/locale.gen etc/default/locale etc/fstab
    etc/mtab etc/ld.so.conf etc/ld.so.conf.d etc/apt/sources.list etc/apt/sources.list.d etc/manpath.config
    etc/profile etc/bash.bashrc etc/inputrc etc/login.defs etc/machine-info etc/alternatives
    var/log var/lib/dpkg/status
    """)
)
_AT_HOME = places(
    listed("""
    .editorconfig .gitignore .gitignore_global .gitattributes .inputrc .nvmrc .python-version .node-version
    .tmux.conf .tool-versions .vimrc .config/git/ignore .config/git/attributes .config/nvim
    .config/user-dirs.dirs .cargo/registry .rustup/toolchains .pyenv/versions .nvm/versions .rbenv/versions
    .local/lib .local/share/uv .m2/repository .gradle/caches .vim .oh-my-zsh
    """)
)


def is_open_at_home(parts: Sequence[Part]) -> bool:
    """Whether a path, from a home folder, leads to something that may be shown."""
    if not parts or _is_one_of(parts, _AT_HOME):
        return True
    first = parts[0]
    hidden = first[:1] == (".",)
    return not hidden and not any(could_match(first, name) for name in _CLOSED_AT_HOME)


def is_open_in_root(parts: Sequence[Part], project: Sequence[Part] = ()) -> bool:
    """Whether an absolute path leads to something that may be shown; neighbours of the project may be."""
    if not parts:
        return True
    for home in _HOMES:
        if _could_lead_to(parts, home):
            return is_open_at_home(parts[len(home) :])
    beside = bool(project) and parts[0] == project[0]
    return beside or parts[0] in _SYSTEM or _is_one_of(parts, _IN_ROOT)


def is_open_path(path: str, home: str, project: str = "") -> bool:
    """The same for the absolute path of a file, where the home folder is known."""
    if path == home or path.startswith(f"{home.rstrip('/')}/"):
        return is_open_at_home(split(path[len(home) :]))
    return is_open_in_root(split(path), split(project))


def is_home(parts: Sequence[Part]) -> bool:
    """Whether an absolute path is a home folder, as these are usually named."""
    return any(len(parts) == len(home) and _could_lead_to(parts, home) for home in _HOMES)


def _could_lead_to(parts: Sequence[Part], place: Sequence[Part]) -> bool:
    return len(parts) >= len(place) and all(map(could_match, map(folded, parts), place))


def _is_one_of(parts: Sequence[Part], places: Sequence[Sequence[Part]]) -> bool:
    return any(tuple(parts[: len(place)]) == tuple(place) for place in places)
