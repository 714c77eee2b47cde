"""Files and folders that make other programs do things, and so may not be written: shell start files,
autostart, config of agents and editors, credentials, `.git`. An agent that may write them may run whatever it
likes.

Names are compared without regard to case, because file systems may do the same. Only the part of a path below
its root counts: someone who makes `.ssh` itself a root has said so.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


SHELL_START = _words(
    ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin",
    ".zlogout .cshrc .tcshrc .login .kshrc .inputrc .xprofile .xinitrc .xsessionrc .pam_environment .envrc",
    "config.fish",
)
"""Run or read when a shell or a session starts."""
AGENT_CONFIG = _words("mcp.json .mcp.json claude_desktop_config.json .cursor .claude .vscode")
"""Name programs that an editor or an agent starts by itself."""
CREDENTIALS = _words(
    ".ssh authorized_keys .gnupg .aws .env .netrc .npmrc .pypirc .git-credentials .gitconfig"
)
"""Open doors, or name the programs that do."""
REPOSITORY = _words(".git")
"""Hooks and config of a repository run programs; a file of this name can point to another repository."""
NAMES = SHELL_START | AGENT_CONFIG | CREDENTIALS | REPOSITORY
SAMPLE_ENDINGS = (".example", ".sample", ".template")
FOLDERS = (
    (".config", "autostart"),
    (".config", "systemd"),
    (".config", "fish"),
    ("library", "launchagents"),
)
"""Names that count only in this order."""


def protected_part(names: Sequence[str]) -> str | None:
    """The part of a path below its root that makes it protected; None when nothing does."""
    folded = [name.casefold() for name in names]
    for name, plain in zip(names, folded, strict=True):
        if plain in NAMES or (plain.startswith(".env.") and not plain.endswith(SAMPLE_ENDINGS)):
            return name
    for index, pair in enumerate(pairwise(folded)):
        if pair in FOLDERS:
            return "/".join(names[index : index + 2])
    return None
