"""Whether a shell command is known to bring nothing from outside: an allow-list, all else counts as outside.

Programs that build and test are on it although they run the project's code: whoever lets them run knows that
code. A command that is not understood counts as outside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolcrib.serverkit.shell.words import listed

_LOCAL = listed("""
    : [ [[ alias awk base64 basename bash bat black bunzip2 bzip2 c++ cal cat cc cd chgrp chmod chown
    cksum clang clang-format clear cmake cmp column comm cp ctest cut dash date dd df diff dir dirname
    dos2unix du echo eslint exit expand export expr factor false file find flake8 fmt fold free g++ gcc
    getconf gofmt grep groups gunzip gzip head hexdump hostname iconv id install isort jest jobs join jq
    kill killall ld less link ln local ls lsblk lscpu lsof make md5sum mkdir mkfifo mktemp more mv mypy
    ninja nl nproc od paste patch pathchk pgrep pkill pr prettier printenv printf ps pwd pylint pyright
    pytest readelf readlink realpath return rev rg rm rmdir ruff rustc rustfmt sed seq set sh sha1sum
    sha256sum sha512sum shasum shellcheck shopt shuf sleep sort split stat strings stty sum sync tac tail
    tar tee test touch tox tr tree true truncate tsc tsort tty type ulimit umask uname unexpand uniq
    unlink unset unzip uptime vitest vmstat w wait wc which whoami xxd xz yes zcat zip zsh
    """)
_PARTS = {
    "cargo": listed("build check clippy doc fmt test"),
    "git": listed("""
        add am apply blame branch cat-file check-ignore checkout cherry-pick clean commit config describe
        diff grep init log ls-files ls-tree merge mv notes rebase reflog reset restore rev-list rev-parse
        revert rm shortlog show stash status switch tag worktree
        """),
    "go": listed("build fmt test vet"),
    "npm": listed("run run-script t test"),
    "pip": listed("check freeze list show"),
    "pnpm": listed("run test"),
    "yarn": listed("run test"),
}
"""Programs that reach the network with some of their commands only."""
_MODULES = listed("black compileall doctest flake8 isort mypy pyflakes pylint pytest ruff tokenize unittest")
_PYTHON = re.compile(r"python[0-9.]*")
_STARTING = re.compile(
    r"-(exec|execdir|ok|okdir)|--(checkpoint-action|to-command|use-compress-program|pre)\b.*"
)
_NETWORK = re.compile(r"dev/(tcp|udp)|<\s*[^\s<>&|;]*\$|\bsystem\s*\(|\bgetline\b|/inet")
"""What reaches the network without a program for it: the sockets of a shell and of AWK."""


def stays_local(command: str) -> bool:
    """Whether every program in the command is known to work on this machine only."""
    from toolcrib.serverkit.shell import judge, rough_commands

    if _NETWORK.search(command):
        return False
    if judge(command).kind == "harmless":
        return True
    found = rough_commands(command)
    return bool(found) and all(_is_local(words) for words in found)


def _is_local(words: Sequence[str]) -> bool:
    name, *rest = words
    if name.startswith("-"):
        return True  # an option of a shell, which is looked at with what it runs
    if any(_STARTING.fullmatch(word) for word in rest):
        return False
    if name in _PARTS:
        return _part(rest) in _PARTS[name]
    if _PYTHON.fullmatch(name):
        return rest[:1] == ["-m"] and rest[1:2] != [] and rest[1] in _MODULES
    return name in _LOCAL


def _part(words: Sequence[str]) -> str:
    """The command of a program with several, such as `pull` of `git -C folder pull`."""
    left = list(words)
    while left and left[0].startswith("-"):
        left = left[2:] if left[0] in ("-C", "-c", "--git-dir", "--work-tree", "--prefix") else left[1:]
    return left[0] if left else ""
