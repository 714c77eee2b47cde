"""Where keys, passwords, histories and other private data are usually kept (`.env`, `.ssh`), the samples that
are not private (`.env.example`), and whether a path leads there.

A path is given by its parts. A part is a sequence of characters and wildcards, so that `.en?` and `*.pe*` are
found as well as `.env` and `server.pem`. Case is ignored, because some file systems ignore it.

A file may also be a private file under another name: a hard link, which no path shows. Only files with
several names are looked at. Their other names are searched for in the project and among the private files of
the home folder, up to a limit. Package managers link the files of their stores into projects by the thousand;
those folders are left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from fnmatch import translate
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Literal

from toolcrib.serverkit.own_places import is_linked

MOST_ENTRIES = 20_000
_STORES = frozenset({"node_modules", ".venv", "venv", "site-packages", ".pnpm-store", "target", "objects"})


def any_private_link(paths: Iterable[str], project: str) -> bool:
    """Whether one of these files has a private name too, or that would take too long to find out."""
    inodes = {inode for path in paths if (inode := _linked_inode(path)) is not None}
    if not inodes:
        return False
    at_home, left = _private_at_home(), MOST_ENTRIES
    for entry in chain(at_home, _entries([project, *(entry.path for entry in at_home)])):
        left -= 1
        if left < 0 or (entry.inode() in inodes and is_secret_path(entry.path, below=_depth(project, entry))):
            return True
    return False


def has_linked_private(folder: str) -> bool:
    """Whether a private file directly in this folder has further names, which a search could come across."""
    return any(
        is_secret_path(entry.path, below=_depth(folder, entry)) and _linked_inode(entry.path) is not None
        for entry in _entries_of(folder)[:MOST_ENTRIES]
    )


def _depth(folder: str, entry: os.DirEntry[str]) -> int:
    """How many parts of the entry's path are the folder that the user works in."""
    inside = entry.path.startswith(f"{folder.rstrip('/')}/")
    return len(Path(folder).parts) - 1 if inside else 0


def _linked_inode(path: str) -> int | None:
    if not _STORES.isdisjoint(path.split("/")):
        return None
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return status.st_ino if is_linked(status) else None


def _private_at_home() -> list[os.DirEntry[str]]:
    home = str(Path.home())
    return [entry for entry in _entries_of(home) if is_secret_path(entry.path, below=_depth(home, entry))]


def _entries(roots: Iterable[str]) -> Iterator[os.DirEntry[str]]:
    left = list(roots)
    while left:
        for entry in _entries_of(left.pop()):
            yield entry
            if entry.name not in _STORES and entry.is_dir(follow_symlinks=False):
                left.append(entry.path)


def _entries_of(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


class Wild(Enum):
    """A character of a pattern that stands for others; neither stands for a slash."""

    MANY = "*"
    ONE = "?"


Part = tuple[str | Wild, ...]


def part(pattern: str) -> Part:
    """The part that a pattern with `*` and `?` describes."""
    signs = {"*": Wild.MANY, "?": Wild.ONE}
    return tuple(signs.get(character, character.casefold()) for character in pattern)


def places(paths: Iterable[str]) -> tuple[tuple[Part, ...], ...]:
    """The parts of each path."""
    return tuple(tuple(map(part, path.split("/"))) for path in paths)


def listed(text: str) -> tuple[str, ...]:
    """The words of a list that is written out over several lines."""
    return tuple(text.split())


NAMES = listed("""
    .env* *.env .flaskenv .dev.vars* .netrc* _netrc .pgpass* .pg_service.conf .my.cnf .mylogin.cnf
    .mycli.cnf .npmrc .yarnrc.yml .bunfig.toml .condarc .pypirc* .renviron .pause .meteorsession .clasprc*
    .sentryclirc .git-credentials* .htpasswd* .htdigest .cvspass .p4tickets .curlrc .wgetrc .cookies .rhosts
    .smbcredentials .vault-token .vault_pass* .vault-pass* .token .*_token .*-token .*api_key* .*apikey*
    .password* .passwd* .secret .secrets .credentials .credentials.json .ftpconfig .ftppass .sftp.json
    .remote-sync.json .dockercfg .dockerconfigjson .boto .s3cfg .passwd-s3fs .gsutil .databrickscfg .dogrc
    .modal.toml .wakatime.cfg .comet.config .cdsapirc .terraformrc .rclone.conf .ovh.conf .civo.json
    .vultr-cli.yaml .ssh .gnupg .aws .azure .gcloud .kube .oci .snowflake .snowsql .terraform.d
    .password-store .toolcrib .aliyun .ibmcloud .bluemix .scw .linode-cli .rancher .tsh .cloudflared .jfrog
    .pulumi .fly .railway .supabase .kaggle .minikube .ngrok2 .dbt .sfdx .sf .twilio-cli .acme.sh .lego
    .minisign .signify .ethereum .bitcoin .electrum .monero .lastpass .pki .vnc .putty .openvpn .mozilla
    .thunderbird .subversion .codex .claude* .gemini .mcp-auth .aider* .continue .qwen .copilot .codeium
    .muttrc .mutt .fetchmailrc .offlineimaprc .getmail .mailrc .msmtprc .mbsyncrc .isyncrc .authinfo*
    .xauthority .iceauthority .lesshst .viminfo .zhistory .histfile .bash_sessions .zsh_sessions *_history
    keyrings kwalletd authorized_keys *.pem *.key *.p12 *.pfx *.pkcs12 *.jks *.jceks *.bks *.keystore *.ppk
    *.kdb *.kdbx *.psafe3 *.1pux *.opvault *.agilekeychain *.enpassdb *.ovpn *.nmconnection *.keychain
    *.keychain-db *.p8 *.pk8 *.pvk *.agekey *.asc *.gpg *.pgp *.kbx *.keytab *.jwk *.mobileprovision
    *.provisionprofile *.publishsettings *.pubxml.user *.secret *.secrets *.token *.wallet *.rdp *.rdg
    *.remmina *_rsa *_dsa *_ecdsa *_ed25519 ssh_host_*_key secret.json secrets.json secrets.yaml secrets.yml
    secrets.toml secrets.env .mcp.json mcp.json claude_desktop_config.json credentials.json credentials.toml
    credentials.db kaggle.json service-account.json application_default_credentials.json auth.json
    oauth_creds.json token.json acme.json *.tfstate *.tfstate.backup *.tfvars *.tfvars.json *.pkrvars.hcl
    kubeconfig *.kubeconfig talosconfig local.settings.json wp-config.php logins.json key3.db key4.db
    wallet.dat rclone.conf pgpass.conf
    """)
"""Names of files and folders that are private wherever they are; a folder includes all that is in it."""
FILES = tuple(
    f"*{name}*.{ending}"
    for name in ("secret", "credential", "passw*d", "api?key", "apikey")
    for ending in listed("json y*ml toml ini cfg conf properties xml txt csv")
) + listed("""
    *passw*d*.docx *passw*d*.xlsx *passw*d*.odt *passw*d*.ods *passw*d*.rtf *passw*d*.md
    *serviceaccount*.json *service-account*.json *service_account*.json *adminsdk*.json *gcp*key*.json
    *-sa-key.json sa-key*.json *private*key*.json *private*key*.txt *private*key*.der *_key.txt *-key.txt
    *_token.txt *-token.txt token.txt tokens.txt *access_token*.json *refresh_token*.json *auth_token*.json
    *mnemonic*.txt *seed-phrase*.txt *seed_phrase*.txt *recovery-codes*.txt *recovery_codes*.txt
    *backup-codes*.txt *backup_codes*.txt logins.txt logins.csv cookies.txt cookiejar*.txt utc--*
    passw*rter.* kennw*rter.* contrase*.txt senhas.txt mots?de?passe.* bitwarden*.json bitwarden*.csv
    lastpass*.csv 1password*.csv vault.yml vault.yaml *_vault.yml *-vault.yml *vault_pass* *vault-pass*
    *.tfstate.* *.tfvars.* kubeconfig.yaml kubeconfig.yml kubeconfig.json kubeconfig-* k3s.yaml rke2.yaml
    clouds.yaml secure.yaml *openrc.sh dockerconfig.json sftp.json sftp-config.json ftp-sync.json
    ftp-simple.json datasources.xml datasources.local.xml webservers.xml sshconfigs.xml winscp.ini
    sitemanager.xml recentservers.xml ws_ftp.ini wg?.conf wpa_supplicant.conf chap-secrets pap-secrets
    unattend.xml autounattend.xml http-client.private.env.json http-client.env.json
    *.postman_environment.json insomnia*.json pip.conf pip.ini settings-security.xml key.properties
    keystore.properties signing.properties local.properties sentry.properties newrelic.ini newrelic.yml
    *.env.local *.env.bak *.env.dev *.env.prod *.env.production *.env.staging *.env.old *.env.sw?
    *.secret.exs local_settings.py config.worktree wp-config.php.* consolehost_history.txt shadow
    master.passwd profiles.yml
    """)
"""Names of files that are private, but that a wildcard is not taken for: `*.txt` matches `passwords.txt`, and
is an everyday pattern. What it matches on the disk is compared with these."""
_KEYWORDS = ("secr", "cred", "pass", "api_", "api-", "apik")
"""A pattern with one of these may stand for such a file."""
BACKUPS = (".bak", ".old", ".orig", ".save", ".backup", ".copy", ".swp", ".1", "~")
"""Endings of copies, which are as private as the file."""
BEGINNINGS = (
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "client_secret", "vault_pass", "krb5cc_"),
    *("cookies.sqlite", "login data", "toolcrib.db"),
)
"""Private whatever follows: `id_rsa_work`, `id_ed25519.old`."""
SAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist")
"""Files that show which settings there are, without their values."""
PLACES = listed("""
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
    .git/config .git/credentials .git/modules .hg/hgrc .dvc/config.local .wrangler/config
    .config/solana .config/pypoetry .config/hcloud .config/tea .config/borg .config/keepassxc
    .config/bitwarden* .config/mutt .config/neomutt .config/aerc .config/scw .config/linode-cli
    .config/argocd .config/jfrog .config/helm/registry
    library/keychains library/cookies library/application?support library/messages library/mail
    etc/shadow etc/shadow- etc/gshadow etc/gshadow- etc/sudoers etc/sudoers.d etc/ssh etc/ssl/private
    run/secrets run/credentials
    proc/*/environ proc/*/cmdline proc/*/mem proc/*/maps proc/*/fd proc/*/cwd proc/*/root proc/*/task
    proc/*/fdinfo proc/*/map_files proc/*/smaps proc/self proc/thread-self proc/kcore
    """)
"""Several parts in this order, private wherever they are."""
PROJECT_PLACES = listed(
    "*.git/config sites/*/settings.php app/etc/env.php config/secrets secrets/*.txt secrets/*.env"
)
"""The same in projects, where a wildcard is not taken for them."""
TOP = {
    "dev": ("null",),
    "proc": listed("cpuinfo meminfo version loadavg uptime stat filesystems devices partitions vmstat sys"),
    "inet": (),
    "inet4": (),
    "inet6": (),
}
"""Folders of the root that hold devices, processes or connections, with the entries that are harmless."""

LONGEST_NAME = 255
"""No file system has longer ones."""

_NAMES = tuple(map(part, NAMES))
_PLAIN_NAME = re.compile(
    "|".join(map(translate, (*NAMES, *FILES, *(f"{beginning}*" for beginning in BEGINNINGS))))
)
_FILES = tuple(map(part, FILES))
_BEGINNINGS = tuple(map(part, BEGINNINGS))
_PLACES = places(PLACES)
_PROJECT_PLACES = places(PROJECT_PLACES)
_HIDDEN_PLACES = tuple(place for place in _PLACES if place[0][0] == ".")
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
    parts = [folded(segment) for segment in parts]
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
    return is_secret(split(path), root="first", below=below)


def holds_secret(parts: Sequence[Part]) -> bool:
    """Whether a folder is the upper part of a private place, as `.git` is of `.git/config`.

    A search through a folder above leaves such a folder out by its name; a search that begins in it does not.
    """
    folder = [folded(segment) for segment in parts]
    return any(
        could_match(folder[-size], place[0]) and _leads_to(folder[-size:], place[:size], hidden=False)
        for place in (*_HIDDEN_PLACES, *_PROJECT_PLACES)
        for size in range(1, min(len(place), len(folder) + 1))
    )


def holds_secret_path(path: str) -> bool:
    """The same for the absolute path of a folder."""
    return holds_secret(split(path))


def split(path: str) -> list[Part]:
    """The parts of a path without wildcards."""
    return [tuple(name) for name in path.split("/") if name]


def folded(segment: Part) -> Part:
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
        return _is_plain_secret("".join(map(str, segment)))
    return (
        len(segment) > LONGEST_NAME
        or any(could_match(segment, name, hidden=hidden) for name in _NAMES)
        or any(_begins(segment, beginning) for beginning in _BEGINNINGS)
        or (_has_keyword(segment) and any(could_match(segment, name, hidden=hidden) for name in _FILES))
    )


def _is_plain_secret(name: str) -> bool:
    """Whether a name, or that of which it is a copy, is on the list."""
    copied = next((name[: -len(ending)] for ending in BACKUPS if name.endswith(ending)), name)
    return any(_PLAIN_NAME.match(spelling) for spelling in {name, copied})


def _has_keyword(segment: Part) -> bool:
    text = "".join(sign if isinstance(sign, str) else "*" for sign in segment)
    return any(word in text for word in _KEYWORDS)


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
    """The places that may begin with this part; none of the first list begins with a wildcard."""
    if not _is_plain(segment):
        return _PLACES
    in_project = [place for place in _PROJECT_PLACES if could_match(segment, place[0])]
    return [*(place for place in _PLACES if place[0] == segment), *in_project]


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
