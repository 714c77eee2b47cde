"""Which git commands only read: a list of commands, each with the options that keep it so.

Options of git itself, which can run programs, are not accepted. That the config of a repository runs nothing
either is ensured where the command is run (`toolcrib.bundled.terminal.safe_git`). What cannot be switched
off there (submodules, other repositories) is not on the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from toolcrib.serverkit.shell.options import Kind, Parsed, Syntax, Use, Uses, parse
from toolcrib.serverkit.shell.script import Simple
from toolcrib.serverkit.shell.searches import SOURCE_ENDING
from toolcrib.serverkit.shell.words import Word, listed, plain

_DIFF_LONG = """
    abbrev[=] binary cached cc check color[=] color-moved[=] color-words[=] compact-summary diff-algorithm=
    diff-filter= dirstat[=] exit-code find-copies[=] find-renames[=] full-index function-context histogram
    ignore-all-space ignore-blank-lines ignore-cr-at-eol ignore-space-at-eol ignore-space-change
    inter-hunk-context= merge-base minimal name-only name-status no-color no-ext-diff no-patch no-prefix
    no-renames no-textconv numstat patch patch-with-stat patience pickaxe-all pickaxe-regex quiet raw
    relative[=] shortstat staged stat[=] stat-count= stat-name-width= stat-width= summary text unified=
    word-diff[=] word-diff-regex= ws-error-highlight= no-indent-heuristic indent-heuristic dst-prefix=
    src-prefix=
    """
_DIFF = Syntax(flags="puswbazRWr", values="SGU", endings="MCBDXl", number=True, long=_DIFF_LONG)
_LOG_LONG = """
    abbrev-commit after= all all-match ancestry-path[=] author-date-order author= basic-regexp before=
    boundary branches[=] cherry cherry-mark cherry-pick children committer= count date-order date=
    decorate-refs= decorate[=] dense exclude= extended-regexp first-parent fixed-strings follow format=
    full-history glob= graph grep-reflog= grep= invert-grep left-only left-right log-size mailmap max-count=
    max-parents= merge merges min-parents= no-abbrev-commit no-decorate no-max-parents no-merges
    no-min-parents no-notes no-walk[=] not objects oneline parents perl-regexp pretty[=] regexp-ignore-case
    relative-date remotes[=] remove-empty reverse right-only show-notes[=] show-pulls simplify-by-decoration
    simplify-merges since-as-filter= since= skip= source sparse tags[=] timestamp topo-order until=
    use-mailmap walk-reflogs
    """
_LOG = Syntax(
    flags="puswbazRWrigEFPmct", values="nSGUL", endings="MCB", number=True, long=f"{_DIFF_LONG} {_LOG_LONG}"
)
_STATUS = Syntax(
    flags="sbz",
    endings="u",
    long="short branch show-stash porcelain[=] long ignored[=] null no-renames find-renames[=] "
    "untracked-files[=] ahead-behind no-ahead-behind column[=] no-column",
)
_SHORTLOG = Syntax(
    flags="nsec", endings="w", long=f"numbered summary email group= committer {_LOG_LONG}", number=True
)
_BLAME = Syntax(
    flags="bceflnpstw",
    values="L",
    endings="MC",
    long="root porcelain line-porcelain date= show-name show-number show-email abbrev= since= first-parent "
    "ignore-rev= color-lines color-by-age reverse",
)
_GREP = Syntax(
    flags="EFGPIachilLnopqvwzH",
    values="eABCm",
    long="and or not all-match cached ignore-case word-regexp invert-match extended-regexp basic-regexp "
    "perl-regexp fixed-strings line-number column files-with-matches files-without-match name-only null "
    "only-matching count color[=] no-color break heading show-function context= after-context= "
    "before-context= function-context max-depth= max-count= threads= text quiet full-name",
    number=True,
)
_REV_PARSE = Syntax(
    flags="q",
    long="abbrev-ref[=] short[=] verify quiet all branches[=] tags[=] remotes[=] symbolic symbolic-full-name "
    "show-toplevel show-prefix show-cdup git-dir absolute-git-dir git-common-dir is-inside-git-dir "
    "is-inside-work-tree is-bare-repository is-shallow-repository show-object-format default= since= until= "
    "show-superproject-working-tree revs-only no-revs flags no-flags",
)
_LS_FILES = Syntax(
    flags="cdmoikstuvz",
    values="x",
    long="cached deleted modified others ignored stage unmerged killed exclude= exclude-standard "
    "error-unmatch full-name abbrev[=] deduplicate eol debug format= directory no-empty-directory",
)
_LS_TREE = Syntax(
    flags="drtlz", long="name-only name-status long full-name full-tree abbrev[=] object-only format="
)
_REFS_LONG = "sort= format= contains= no-contains= merged= no-merged= points-at= count= ignore-case"
_READING: dict[str, Syntax] = {
    "blame": _BLAME,
    "cat-file": Syntax(flags="tsep", most=2),
    "check-ignore": Syntax(flags="qvnz", long="quiet verbose non-matching no-index"),
    "count-objects": Syntax(flags="vH", long="verbose human-readable", most=0),
    "describe": Syntax(
        long="all tags contains abbrev= candidates= exact-match long match= exclude= always first-parent"
    ),
    "diff": _DIFF,
    "diff-tree": _LOG,
    "for-each-ref": Syntax(long=_REFS_LONG),
    "grep": _GREP,
    "log": _LOG,
    "ls-files": _LS_FILES,
    "ls-tree": _LS_TREE,
    "merge-base": Syntax(flags="a", long="all octopus independent is-ancestor fork-point"),
    "name-rev": Syntax(long="tags refs= exclude= all name-only always"),
    "rev-list": _LOG,
    "rev-parse": _REV_PARSE,
    "shortlog": _SHORTLOG,
    "show": _LOG,
    "show-ref": Syntax(
        flags="dhqs", long="head heads tags branches dereference hash[=] verify quiet abbrev[=]"
    ),
    "status": _STATUS,
    "whatchanged": _LOG,
}


def git(command: Simple) -> Uses | None:
    """What a git command reads; None if it may change something."""
    words = command.words
    while words and words[0].literal and words[0].text in ("--no-pager", "-P"):
        words = words[1:]
    if not words or not words[0].literal:
        return None
    name, rest = words[0].text, words[1:]
    if name in _READING:
        return _reading(name, rest, _READING[name])
    check = _LISTING.get(name)
    return [] if check is not None and all(word.literal for word in rest) and check(_texts(rest)) else None


def _texts(words: tuple[Word, ...]) -> list[str]:
    return [word.text for word in words]


def _reading(name: str, words: tuple[Word, ...], syntax: Syntax) -> Uses | None:
    parsed = parse(words, syntax)
    if parsed is None or len(parsed.operands) > syntax.most or not _plain_formats(name, parsed):
        return None
    operands = _without_pattern(parsed) if name == "grep" else parsed.operands
    kind: Kind = "search" if name in ("diff", "grep") else "content"
    found = [
        *map(_path, operands),
        *(_path_of_lines(value) for option, value in parsed.options if option == "L"),
    ]
    if name == "blame":
        found = [_path(word) for word in operands]  # its -L names no file
    return None if None in found else [Use(path, kind) for path in found if path is not None]


_PRETTY_NAMES = listed("oneline short medium full fuller reference email mboxrd raw")
_PRETTY = re.compile(
    r"""(?:t?format:)?(?:[^%]|%(?:[%nHhTtPpdDSesfbBNm]|[ac][nNeElLdDrtiIsh]|g[DdnNeEs]|x[0-9A-Fa-f]{2}|w\([\d,]*\)
    |C(?:red|green|blue|reset|\([\w ,#-]+\))|[<>]{1,2}\|?\(\s*-?\d+(?:,\w+)?\s*\)|><\|?\(\s*\d+(?:,\w+)?\s*\)
    |[-+ ][HhTtPpdDSesfbBN]|\(trailers(?::[\w=,;:%-]*)?\)|\(decorate(?::[^()%]*)?\)))*""",
    re.VERBOSE | re.DOTALL,
)
"""Formats of commits. None that checks a signature (`%G?`) or runs another git (`%(describe)`)."""
_REF_FIELD = (
    r"[*]?(?:refname|objecttype|objectsize|objectname|deltabase|upstream|push|HEAD|color|align|if|then|else|end"
    r"|contents|subject|body|trailers|symref|worktreepath|numparent|parent|tree|tag|type|object|taggername"
    r"|tagger|creator|creatordate|author|authorname|authoremail|authordate|committer|committername"
    r"|committeremail|committerdate|taggerdate|taggeremail|version|ahead-behind|objectmode|path|stage|eolattr"
    r"|eolinfo)(?::[^()%]*)?"
)
_REF_FORMAT = re.compile(rf"(?:[^%]|%(?:%|[0-9A-Fa-f]{{2}}|x[0-9A-Fa-f]{{2}}|\({_REF_FIELD}\)))*", re.DOTALL)
_REF_ORDER = re.compile(rf"-?(?:version:|v:)?{_REF_FIELD}")


def _plain_formats(name: str, parsed: Parsed) -> bool:
    """Whether the formats and orders of a command are made of known parts."""
    of_commits = _READING[name] in (_LOG, _SHORTLOG)
    for option, value in parsed.options:
        if value.startswith("-") and option != "sort":
            return False  # where the options end must be plain to the terminal's guard too
        if option == "sort" and not _REF_ORDER.fullmatch(value):
            return False
        if option in ("format", "pretty") and not (_is_pretty if of_commits else _is_ref_format)(value):
            return False
    return True


def _is_pretty(value: str) -> bool:
    """A format, or the name of one that git has; another name would be a setting of the repository."""
    if value in ("", *_PRETTY_NAMES):
        return True
    return ("%" in value or value.startswith(("format:", "tformat:"))) and _PRETTY.fullmatch(
        value
    ) is not None


def _is_ref_format(value: str) -> bool:
    return _REF_FORMAT.fullmatch(value) is not None


def _without_pattern(parsed: Parsed) -> tuple[Word, ...]:
    return parsed.operands if parsed.has("e") else parsed.operands[1:]


_REVISION = r"[\w./~^@{}+-]*"
_PLAIN_OPERAND = re.compile(rf"{_REVISION}|[^:*?\[\\]*")
_FILE_OF_REVISION = re.compile(rf"{_REVISION}:(?!/)(?:\./)?(?P<path>[^:*?\[\\(!^]*)")
_FILE_OF_INDEX = re.compile(r":[0-3]:(?P<path>[^:]*)")
_FILE_FROM_TOP = re.compile(r":/(?P<path>[^:*?\[\\(!^]*)")
_LEFT_OUT = re.compile(r":[!^](?![!^/(:]).*")
_SOURCE_FILES = re.compile(r"(?P<path>(?:[\w-]+/)*)(?:\*\*/)?\*" + SOURCE_ENDING)


def _path(word: Word) -> Word | None:
    """The path in an operand, which may be a revision, a path, both (`HEAD:src/a.py`), or a pattern of git's.

    None when it is another kind of pattern: those of git also match hidden files, and `/`.
    """
    text = word.text
    if _PLAIN_OPERAND.fullmatch(text):
        return word
    if _LEFT_OUT.fullmatch(text):
        return plain(".")
    forms = (_FILE_OF_INDEX, _FILE_OF_REVISION, _FILE_FROM_TOP, _SOURCE_FILES)
    found = next(filter(None, (form.fullmatch(text) for form in forms)), None)
    return plain(found["path"] or ".") if found is not None else None


def _path_of_lines(value: str) -> Word | None:
    """The file in `-L 10,20:FILE` and `-L :FUNCTION:FILE`."""
    before, sign, path = value.rpartition(":")
    return plain(path) if sign and before else None


def _listing(options: str, with_operands: str = "") -> re.Pattern[str]:
    """Options that list, and after one of the second kind also names; names alone would create something."""
    free = rf"(?:(?:{with_operands})(?:=\S*)?(?: [^-\s]\S*)*)" if with_operands else "(?!)"
    return re.compile(rf"(?: (?:{options})(?:=\S*)?| {free})*")


_BRANCH = _listing(
    "-a|-r|-v|-vv|-av|-avv|-rv|--all|--remotes|--verbose|--show-current|--color|--no-color"
    "|--ignore-case|--column|--no-column",
    "-l|--list|--contains|--no-contains|--merged|--no-merged|--points-at",
)
_TAG = _listing(
    r"-n\d*|--color|--column|--no-column|-i|--ignore-case",
    "-l|--list|--contains|--no-contains|--merged|--no-merged|--points-at",
)
_PLAIN_KEY = re.compile(
    r"(user\.(name|email)|init\.\w+|core\.(autocrlf|eol|filemode|bare|ignorecase|editor|excludesfile|quotepath)"
    r"|branch\.[\w./-]+|remote\.[\w.-]+\.(url|fetch)|pull\.\w+|push\.\w+|fetch\.\w+|merge\.\w+|rebase\.\w+"
    r"|commit\.gpgsign|color\.\w+|submodule\.\w+)",
    re.IGNORECASE,
)
"""Settings that hold no password and no key."""


def _lists(pattern: re.Pattern[str], words: list[str]) -> bool:
    """Formats may have blanks, and are looked at apart."""
    left = list[str]()
    for word in words:
        option, sign, value = word.partition("=")
        if option not in ("--format", "--sort"):
            left.append(word)
        elif not sign or not (_REF_FORMAT if option == "--format" else _REF_ORDER).fullmatch(value):
            return False
    words = left
    spaced = any(re.search(r"\s", word) for word in words)
    return not spaced and pattern.fullmatch("".join(f" {word}" for word in words)) is not None


def _remote(words: list[str]) -> bool:
    return words in ([], ["-v"], ["--verbose"]) or (
        len(words) == 2 and words[0] == "get-url" and not words[1].startswith("-")
    )


def _config(words: list[str]) -> bool:
    scopes = ("--global", "--local", "--system", "--show-origin", "--show-scope")
    left = [word for word in words if word not in scopes]
    reads = len(left) == 1 or (len(left) == 2 and left[0] in ("--get", "--get-all", "get"))
    return reads and _PLAIN_KEY.fullmatch(left[-1]) is not None


_ENTRY = re.compile(r"[A-Za-z0-9][\w/-]*(@\{\d+\})?")
"""An entry of a log, and no path to a hidden file."""


def _stash(words: list[str]) -> bool:
    return words[:1] in (["list"], ["show"]) and _names_entry(words[1:])


def _names_entry(words: list[str]) -> bool:
    parsed = parse([plain(word) for word in words], _LOG)
    if parsed is None or parsed.ended or parsed.has("L") or not _plain_formats("log", parsed):
        return False
    return len(parsed.operands) <= 1 and all(_ENTRY.fullmatch(word.text) for word in parsed.operands)


def _reflog(words: list[str]) -> bool:
    left = words[1:] if words[:1] == ["show"] else words
    begins = not left or left[0].startswith("-") or words != left
    return begins and _names_entry(left)


_LISTING: dict[str, Callable[[list[str]], bool]] = {
    "branch": lambda words: _lists(_BRANCH, words),
    "config": _config,
    "reflog": _reflog,
    "remote": _remote,
    "stash": _stash,
    "tag": lambda words: _lists(_TAG, words),
    "worktree": lambda words: words in (["list"], ["list", "--porcelain"], ["list", "-v"]),
}
