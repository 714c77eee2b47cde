"""Which simple commands only read: a program is on the list, and so is every option that it is given.

A word that is not known before the command runs (a glob, a loop variable) may turn out to be an option, so
that it is taken only where no option of the program does more than read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from toolcrib.serverkit.shell.git import git_reads
from toolcrib.serverkit.shell.options import Options, operands
from toolcrib.serverkit.shell.script import Simple
from toolcrib.serverkit.shell.words import Word, listed

READERS = listed("""
    arch b2sum basename cat cksum cmp column comm cut df diff dir dirname du echo egrep expand false
    fgrep fold free getconf grep groups head hexdump id join jq locale ls lscpu lsblk md5sum nl nproc numfmt
    od paste printenv ps pwd readlink realpath rev seq sha1sum sha224sum sha256sum sha384sum sha512sum stat
    strings sum tac tail tr true tsort tty uname unexpand uptime vdir wc which who whoami
    """)
"""Whatever they are given, they write nothing but their output and start nothing."""
_VERSIONED = listed("""
    bash cargo clang cmake docker gcc g++ git go java kubectl make node npm npx perl php pip pip3 pnpm psql
    python python3 ruby ruff rustc sqlite3 tar terraform uv yarn
    """)
_SECRET = re.compile(
    r"""\.ssh(/|$)|\.gnupg|\.aws(/|$)|\.azure|gcloud|\.kube(/|$)|\.netrc|\.pgpass|\.pypirc|\.npmrc|\.env(\.|$)
    |/etc/g?shadow|git-credentials|id_(rsa|dsa|ecdsa|ed25519)|secrets?\.json|keyrings?(/|$)|/proc/.*environ
    |\.docker/config|^/dev/(?!null$)""",
    re.VERBOSE,
)


def only_reads(command: Simple) -> str:
    """Empty when it is known to only read; else what is not known."""
    for word in command.words:
        if _SECRET.search(word.text):
            return f"{word.text} is a place where secrets are kept"
    if command.name in READERS or _asks_version(command):
        return ""
    check = _CHECKS.get(command.name)
    if check is None:
        return f"{command.name} is not known to only read"
    return "" if check(command.words) else f"{command.text} is not known to only read"


def _asks_version(command: Simple) -> bool:
    words = [word.text for word in command.words]
    if command.name in ("go", "git", "terraform", "kubectl") and words == ["version"]:
        return True
    if words == ["-V"]:
        return command.name in ("python", "python3", "pip", "pip3")
    return words == ["--version"] and command.name in _VERSIONED


def _date(words: Sequence[Word]) -> bool:
    options = Options(flags="uR", values="dr", long=("utc", "universal"), long_values=("date", "reference"))
    found = operands(words, options, optional=("-I", "--iso-8601", "--rfc-3339"))
    return found is not None and all(word.literal and word.text.startswith("+") for word in found)


def _hostname(words: Sequence[Word]) -> bool:
    return all(word.literal and word.text in ("-f", "-i", "-I", "-s", "-d") for word in words)


def _file(words: Sequence[Word]) -> bool:
    long = ("brief", "mime", "mime-type", "mime-encoding", "dereference", "no-dereference")
    return operands(words, Options(flags="bihLN0", long=long)) is not None


def _tree(words: Sequence[Word]) -> bool:
    long = ("dirsfirst", "noreport", "gitignore", "prune", "du")
    options = Options(flags="adflhspDCnFi", values="LIP", long=long, long_values=("charset", "filelimit"))
    return operands(words, options) is not None


def _sort(words: Sequence[Word]) -> bool:
    long = ("reverse", "unique", "numeric-sort", "human-numeric-sort", "version-sort", "ignore-case")
    return (
        operands(words, Options(flags="bdfghiMnRrVuzcs", values="kt", long=long, long_values=("key",)))
        is not None
    )


def _uniq(words: Sequence[Word]) -> bool:
    found = operands(words, Options(flags="cdDiuz", values="fsw", long=("count", "repeated", "unique")))
    return found is not None and len(found) <= 1 and all(word.literal for word in found)


def _xxd(words: Sequence[Word]) -> bool:
    found = operands(words, Options(flags="pbuei", values="lcsg"))
    return found is not None and len(found) <= 1 and all(word.literal for word in found)


def _env(words: Sequence[Word]) -> bool:
    return not words


def _cd(words: Sequence[Word]) -> bool:
    return len(words) == 1 and not words[0].option_possible


def _command(words: Sequence[Word]) -> bool:
    return len(words) >= 2 and words[0].literal and words[0].text in ("-v", "-V")


def _printf(words: Sequence[Word]) -> bool:
    """The conversion `%n` and the option `-v` assign to a name, and a name can hold a command."""
    first = words[0] if words else None
    if first is None or not first.literal or first.option_possible:
        return False
    return re.search(r"%[^%A-Za-z]*n", first.text) is None


def _test(words: Sequence[Word]) -> bool:
    return all(word.literal and word.text not in ("-v", "-R") for word in words)


_LONGEST_SCRIPT = 500


def _sed(words: Sequence[Word]) -> bool:
    found = operands(words, Options(flags="nErsu", long=("quiet", "silent", "regexp-extended")))
    if not found or any(word.option_possible for word in found) or not found[0].literal:
        return False
    if len(found[0].text) > _LONGEST_SCRIPT:
        return False
    parts = re.split(r"\s*;\s*", found[0].text.strip())
    return all(_SED_PRINT.fullmatch(part) or _SED_SUBSTITUTE.fullmatch(part) for part in parts)


_SED_PRINT = re.compile(r"(\d+|\$)?(,(\d+|\$|\+\d+))?[pdq]|/[\w .:=^$*-]*/(,/[\w .:=^$*-]*/)?p")
_SED_SUBSTITUTE = re.compile(r"s/[^/\n\\;]*/[^/\n\\;]*/[gpI0-9]*")


def _awk(words: Sequence[Word]) -> bool:
    """Only `{print …}` of fields and fixed text, perhaps for lines that match a plain pattern."""
    rest = list(words)
    if rest and rest[0].literal and rest[0].text.startswith("-F"):
        rest = rest[1:] if len(rest[0].text) > 2 else rest[2:]
    if not rest or not rest[0].literal or len(rest[0].text) > _LONGEST_SCRIPT:
        return False
    return _AWK.fullmatch(rest[0].text.strip()) is not None


_AWK_VALUE = r'(\$\d+|\$NF|NR|NF|FNR|"[^"\\|]*")'
_AWK = re.compile(
    rf"(/[\w .:=^$*-]+/|N?R\s*[<>=!]=?\s*\d+|\$\d+\s*(==|!=)\s*(\"[\w .-]*\"|\d+))?\s*"
    rf"(\{{\s*print(\s*{_AWK_VALUE}([\s,]+{_AWK_VALUE})*)?\s*;?\s*\}})?"
)


def _find(words: Sequence[Word]) -> bool:
    value = False
    for word in words:
        if value:
            value = False
        elif not word.literal:
            if word.option_possible:
                return False
        elif word.text in _FIND_WITH_VALUE:
            value = True
        elif word.text.startswith("-") and word.text not in _FIND_ALONE:
            return False
    return not value


_FIND_WITH_VALUE = listed("""
    -name -iname -path -ipath -wholename -regex -iregex -type -size -mtime -mmin -atime -amin -ctime -cmin
    -newer -maxdepth -mindepth -perm -user -group -links -printf -fstype -regextype -newermt -xtype -lname
    """)
_FIND_ALONE = listed("""
    -not -and -or -a -o -print -print0 -ls -prune -empty -true -false -readable -writable -executable -xdev
    -mount -depth -follow -L -P -H -daystart -nouser -nogroup -quit
    """)


def _rg(words: Sequence[Word]) -> bool:
    long = listed("""
    files hidden no-ignore ignore-case smart-case case-sensitive word-regexp line-number no-line-number count
    files-with-matches files-without-match only-matching fixed-strings multiline no-heading heading stats json
    invert-match column vimgrep pcre2 no-filename with-filename trim type-list null count-matches follow
    """)
    values = listed("""
    glob iglob type type-not max-count context after-context before-context color sort sortr max-depth regexp
    max-columns max-filesize replace
    """)
    options = Options(flags="nilLcovwFSsUuxPHINhq0p.a", values="gtTmABCerdM", long=long, long_values=values)
    return operands(words, options) is not None


def _xargs(words: Sequence[Word]) -> bool:
    """What comes from the pipe may be any word, options included: the program must be a plain reader."""
    rest = list(words)
    while rest and rest[0].literal and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option in ("-n", "-L", "-P"):
            if not rest or not rest.pop(0).text.isdigit():
                return False
        elif not re.fullmatch(r"-0|-r|-0r|-r0|--null|--no-run-if-empty|-[nLP]\d+", option):
            return False
    if not rest or not rest[0].literal:
        return False
    return rest[0].text in READERS


def _pip(words: Sequence[Word]) -> bool:
    if not words or not all(word.literal for word in words):
        return False
    allowed = {"list": (), "show": ("-f", "--files"), "freeze": ()}
    options = allowed.get(words[0].text)
    return options is not None and all(
        not word.text.startswith("-") or word.text in options for word in words[1:]
    )


_CHECKS: dict[str, Callable[[Sequence[Word]], bool]] = {
    "[": _test,
    "awk": _awk,
    "cd": _cd,
    "command": _command,
    "date": _date,
    "env": _env,
    "file": _file,
    "find": _find,
    "git": git_reads,
    "hostname": _hostname,
    "pip": _pip,
    "pip3": _pip,
    "printf": _printf,
    "rg": _rg,
    "sed": _sed,
    "sort": _sort,
    "test": _test,
    "tree": _tree,
    "type": lambda words: all(not word.option_possible for word in words),
    "uniq": _uniq,
    "xargs": _xargs,
    "xxd": _xxd,
}
