"""Where keys, passwords, histories and other private data are usually kept, and whether a path leads there.

A path is given by its parts. A part is a sequence of characters and wildcards, so that `.en?` and `*.pe*` are
found as well as `.env` and `server.pem`. Case is ignored, because some file systems ignore it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from fnmatch import translate
from functools import lru_cache
from typing import Literal


class Wild(Enum):
    """A character of a pattern that stands for others; neither stands for a slash."""

    MANY = "*"
    ONE = "?"


Part = tuple[str | Wild, ...]


def part(pattern: str) -> Part:
    """The part that a pattern with `*` and `?` describes."""
    signs = {"*": Wild.MANY, "?": Wild.ONE}
    return tuple(signs.get(character, character.casefold()) for character in pattern)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NAMES = _listed("""
    .env* *.env .dev.vars .netrc _netrc .pgpass .my.cnf .mylogin.cnf .npmrc .pypirc .git-credentials .htpasswd
    .vault-token .dockercfg .boto .s3cfg .lesshst .credentials .credentials.json .databrickscfg .kaggle .fly
    .ssh .gnupg .aws .azure .gcloud .kube .oci .snowflake .terraform.d .password-store .secrets .toolcrib
    .codex .claude* .gemini .mozilla .thunderbird .railway .supabase .subversion .mcp-auth .aider* .continue
    .qwen .copilot .pulumi .modal.toml .sentryclirc .rclone.conf rclone.conf .ngrok2 .minikube .pki .vnc
    .yarnrc.yml .bunfig.toml .condarc .curlrc .wgetrc .msmtprc .mbsyncrc .authinfo* .xauthority .iceauthority
    .rhosts .smbcredentials .viminfo .zhistory .histfile .terraformrc .vault_pass* .mycli.cnf
    *_history keyrings kwalletd authorized_keys
    *.pem *.key *.p12 *.pfx *.pkcs12 *.jks *.keystore *.ppk *.kdb *.kdbx *.ovpn *.keychain *.keychain-db
    secret.json secrets.json secrets.yaml secrets.yml secrets.toml secrets.env
    .mcp.json mcp.json claude_desktop_config.json credentials.json credentials.toml credentials.db
    service-account.json application_default_credentials.json auth.json oauth_creds.json token.json
    *.tfstate *.tfstate.backup *.tfvars *.tfvars.json kubeconfig *.kubeconfig local.settings.json
    wp-config.php logins.json key3.db key4.db wallet.dat *.p8 *.agekey ssh_host_*_key pgpass.conf
    """)
"""Names of files and folders that are private wherever they are; a folder includes all that is in it."""
BEGINNINGS = (
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "client_secret", "vault_pass", "krb5cc_"),
    *("cookies.sqlite", "login data", "toolcrib.db"),
)
"""Private whatever follows: `id_rsa_work`, `id_ed25519.old`."""
SAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist")
"""Files that show which settings there are, without their values."""
PLACES = _listed("""
    .config/gh .config/hub .config/glab-cli .config/gcloud .config/op .config/rclone .config/doctl
    .config/heroku .config/stripe .config/containers .config/pip .config/configstore .config/netlify
    .config/vercel .config/github-copilot .config/composer .config/nuget .config/sops .config/age
    .config/google-chrome* .config/chromium .config/bravesoftware .config/microsoft-edge* .config/vivaldi
    .config/opera .config/toolcrib .config/git/credentials .config/codex .config/claude* .config/anthropic
    .config/openai .config/huggingface .config/wrangler .config/ngrok .config/filezilla .config/remmina
    .local/share/keyrings .local/share/kwalletd .local/share/toolcrib .local/state/toolcrib
    .local/share/com.vercel.cli .local/share/opencode
    .docker/config.json .cargo/credentials .cargo/credentials.toml .gem/credentials
    .bundle/config .gradle/gradle.properties
    .m2/settings*.xml .composer/auth.json .nuget/nuget.config .huggingface/token .cache/huggingface/token
    .git/config .git/credentials
    library/keychains library/cookies library/application?support library/messages library/mail
    etc/shadow etc/shadow- etc/gshadow etc/gshadow- etc/sudoers etc/sudoers.d etc/ssh etc/ssl/private
    run/secrets run/credentials
    proc/*/environ proc/*/cmdline proc/*/mem proc/*/maps proc/*/fd proc/*/cwd proc/*/root proc/*/task
    proc/*/fdinfo proc/*/map_files proc/*/smaps proc/self proc/thread-self proc/kcore
    """)
"""Several parts in this order, private wherever they are."""
TOP = {
    "dev": ("null",),
    "proc": _listed("cpuinfo meminfo version loadavg uptime stat filesystems devices partitions vmstat sys"),
    "inet": (),
    "inet4": (),
    "inet6": (),
}
"""Folders of the root that hold devices, processes or connections, with the entries that are harmless."""

LONGEST_NAME = 255
"""No file system has longer ones."""

_NAMES = tuple(map(part, NAMES))
_PLAIN_NAME = re.compile("|".join(map(translate, (*NAMES, *(f"{beginning}*" for beginning in BEGINNINGS)))))
_BEGINNINGS = tuple(map(part, BEGINNINGS))
_PLACES = tuple(tuple(map(part, place.split("/"))) for place in PLACES)
_TOP = tuple((part(name), tuple(map(part, harmless))) for name, harmless in TOP.items())
_SAMPLES = tuple(map(part, SAMPLES))


def is_secret(
    parts: Sequence[Part], *, root: Literal["first", "any", "none"], hidden: bool = False, below: int = 0
) -> bool:
    """Whether a path could lead to, or below, a place where private data is kept.

    `root` says which part lies in the root folder. `hidden` says that a wildcard at the beginning of a name
    also stands for a dot, which it does not in a shell. A place that ends in the first `below` parts is
    ignored: these are the folder that the user chose to work in. A `*` for a folder counts only together with
    what follows.
    """
    parts = [_folded(segment) for segment in parts]
    for at, segment in enumerate(parts):
        any_folder = set(segment) == {Wild.MANY} and at + 1 < len(parts)
        if at >= below and not any_folder and _is_secret_name(segment, hidden):
            return True
        if any(
            at + len(place) > below and _leads_to(parts[at:], place, hidden) for place in _places_at(segment)
        ):
            return True
        if (root == "any" or (root == "first" and at == 0)) and _is_special(parts[at:], hidden):
            return True
    return False


def is_secret_path(path: str, below: int = 0) -> bool:
    """The same for the absolute path of a file."""
    return is_secret([tuple(name) for name in path.split("/") if name], root="first", below=below)


def _folded(segment: Part) -> Part:
    return tuple(sign.casefold() if isinstance(sign, str) else sign for sign in segment)


@lru_cache(maxsize=4096)
def could_match(one: Part, other: Part, *, hidden: bool = False) -> bool:
    """Whether there is a name that fits both; `one` is a shell's pattern."""
    if not hidden and other[:1] == (".",) and isinstance(one[0] if one else ".", Wild):
        return False
    left, seen = [(0, 0)], set[tuple[int, int]]()
    while left:
        i, j = left.pop()
        if (i, j) in seen:
            continue
        seen.add((i, j))
        if i == len(one) and j == len(other):
            return True
        left += _steps(one, other, i, j)
    return False


def _steps(one: Part, other: Part, i: int, j: int) -> Iterator[tuple[int, int]]:
    """What can come after the first `i` signs of one and the first `j` of the other stood for the same."""
    more, further = i < len(one), j < len(other)
    if more and one[i] is Wild.MANY:
        yield i + 1, j
    if further and other[j] is Wild.MANY:
        yield i, j + 1
    if not more or not further:
        return
    if one[i] is Wild.MANY:
        yield i, j + 1
    elif other[j] is Wild.MANY:
        yield i + 1, j
    elif isinstance(one[i], Wild) or isinstance(other[j], Wild) or one[i] == other[j]:
        yield i + 1, j + 1


@lru_cache(maxsize=1024)
def _is_secret_name(segment: Part, hidden: bool) -> bool:
    if segment in _SAMPLES:
        return False
    if _is_plain(segment):
        return _PLAIN_NAME.match("".join(map(str, segment))) is not None
    return (
        len(segment) > LONGEST_NAME
        or any(could_match(segment, name, hidden=hidden) for name in _NAMES)
        or any(_begins(segment, beginning) for beginning in _BEGINNINGS)
    )


_SOLID = 3
"""Characters of a beginning that a pattern must have, unless it matches the beginning itself."""


def _begins(segment: Part, beginning: Part) -> bool:
    """Whether a name that fits begins so, and not only because a `*` stands for nearly all of it."""
    left, seen = [(0, 0, 0)], set[tuple[int, int, int]]()
    while left:
        state = i, j, solid = left.pop()
        if state in seen:
            continue
        seen.add(state)
        if j == len(beginning):
            if solid >= _SOLID:
                return True
        elif i < len(segment) and segment[i] is Wild.MANY:
            left += [(i + 1, j, solid), (i, j + 1, solid)]
        elif i < len(segment) and segment[i] in (Wild.ONE, beginning[j]):
            left.append((i + 1, j + 1, min(solid + 1, _SOLID)))
    return could_match(segment, beginning)


@lru_cache(maxsize=1024)
def _places_at(segment: Part) -> Sequence[Sequence[Part]]:
    """The places that may begin with this part; none of them begins with a wildcard."""
    if not _is_plain(segment):
        return _PLACES
    return [place for place in _PLACES if place[0] == segment]


def _is_plain(segment: Part) -> bool:
    return all(isinstance(sign, str) for sign in segment)


def _leads_to(parts: Sequence[Part], place: Sequence[Part], hidden: bool) -> bool:
    return len(parts) >= len(place) and all(
        could_match(segment, other, hidden=hidden) for segment, other in zip(parts, place, strict=False)
    )


def _is_special(parts: Sequence[Part], hidden: bool) -> bool:
    for name, harmless in _TOP:
        if could_match(parts[0], name, hidden=hidden):
            return len(parts) > 1 and parts[1] not in harmless
    return False
