"""Programs that search in files and folders: grep, rg, diff, find, and xargs behind find.

A search through a folder leaves out private places and links: the terminal runs these programs with options
that do so (`toolcrib.bundled.terminal.guards`). They come last, so that a `--` before them is not accepted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolcrib.serverkit.shell.commands import COMMANDS
from toolcrib.serverkit.shell.options import Parsed, Syntax, Use, Uses, parse, understand
from toolcrib.serverkit.shell.script import Simple
from toolcrib.serverkit.shell.words import Word, listed, plain

_HERE = plain(".")
_GREP = Syntax(
    flags="EFGPciILlnovwxhHrsqazyZT",
    values="eABCm",
    number=True,
    globs=True,
    long="extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case count "
    "invert-match "
    "files-with-matches files-without-match line-number only-matching word-regexp line-regexp no-filename "
    "with-filename recursive no-messages quiet silent text null initial-tab byte-offset color[=] colour[=] "
    "regexp= after-context= before-context= context= max-count= include= exclude= exclude-dir=",
)
_RG = Syntax(
    flags="nilcovwFSsUxPHINhq0pab",
    values="gtTmABCerdMj",
    long="files ignore-case smart-case case-sensitive word-regexp line-regexp line-number "
    "no-line-number count "
    "count-matches files-with-matches files-without-match only-matching fixed-strings multiline no-heading "
    "heading stats json invert-match column vimgrep pcre2 no-filename with-filename trim "
    "type-list null pretty "
    "glob= iglob= type= type-not= max-count= context= after-context= before-context= color= sort= sortr= "
    "max-depth= regexp= max-columns= max-filesize= replace= threads=",
)
_DIFF = Syntax(
    flags="uacqrswbBiyNETpdt",
    values="UCxIW",
    long="unified[=] context[=] brief report-identical-files side-by-side suppress-common-lines width= "
    "recursive new-file ignore-case ignore-all-space ignore-space-change ignore-blank-lines "
    "ignore-trailing-space strip-trailing-cr text minimal color[=] exclude= ignore-matching-lines= label= "
    "show-c-function expand-tabs",
)


def grep(command: Simple) -> Uses | None:
    """The first operand is the pattern, unless that is given by an option."""
    parsed = parse(command.words, _GREP)
    if parsed is None or parsed.ended:
        return None
    files = _after_pattern(parsed, "e", "regexp")
    if files is None:
        return None
    if not parsed.has("r", "recursive"):
        return [Use(word, "content") for word in files]
    return [Use(word, "search") for word in files or (_HERE,)]


def rg(command: Simple) -> Uses | None:
    """Hidden and ignored files are not searched unless an option says so, which is not accepted."""
    parsed = parse(command.words, _RG)
    if parsed is None or parsed.ended:
        return None
    if parsed.has("type-list"):
        return []
    files = parsed.operands if parsed.has("files") else _after_pattern(parsed, "e", "regexp")
    if files is None:
        return None
    searched = files or (() if command.fed else (_HERE,))
    return [Use(word, "search") for word in searched]


def diff(command: Simple) -> Uses | None:
    """Two folders are compared file by file, even without an option."""
    parsed = parse(command.words, _DIFF)
    if parsed is None or parsed.ended or len(parsed.operands) != 2:
        return None
    if any(word.glob for word in parsed.operands):
        return None
    return [Use(word, "search") for word in parsed.operands if word != plain("-")]


def _after_pattern(parsed: Parsed, *options: str) -> tuple[Word, ...] | None:
    if parsed.has(*options):
        return parsed.operands
    if not parsed.operands or not parsed.operands[0].literal:
        return None
    return parsed.operands[1:]


_FIND_VALUES = listed("""
    -name -iname -path -ipath -wholename -regex -iregex -type -size -mtime -mmin -atime -amin -ctime -cmin
    -newer -maxdepth -mindepth -perm -user -group -links -printf -fstype -regextype -newermt -xtype -lname
    """)
_FIND_ALONE = listed("""
    -not -and -or -a -o -print -print0 -ls -prune -empty -true -false -readable -writable -executable -xdev
    -mount -depth -follow -L -P -H -daystart -nouser -nogroup -quit
    """)


_FIND_SIGNS = ("(", ")", "!")


def find(command: Simple) -> Uses | None:
    """Names and properties of files, and no action besides printing them."""
    roots, left = list[Word](), list(command.words)
    while left:
        word = left.pop(0)
        if word.glob and word.option_possible:
            return None
        if word.text in _FIND_VALUES:
            if not left or not left.pop(0).literal:
                return None
        elif word.option_possible and word.text not in _FIND_ALONE:
            return None
        elif not word.option_possible and word.text not in _FIND_SIGNS:
            roots.append(word)
    return [Use(word, "name") for word in roots or (_HERE,)]


_XARGS = Syntax(flags="0rt", values="nLP", long="null no-run-if-empty max-args= max-procs=")
_ANY_WORDS = listed("basename dirname echo")
"""Harmless with whatever words, options included."""
SOURCE_ENDING = (
    r"\.(?:py|pyi|js|jsx|mjs|ts|tsx|css|scss|html|md|rst|c|h|cc|cpp|hpp|rs|go|java|kt|rb|php|sh|swift|vue"
    r"|svelte)"
)
"""Of files that hold no keys."""
_SOURCE_FILES = re.compile(rf"\*{SOURCE_ENDING}")


def xargs(command: Simple) -> Uses | None:
    """The words come from a pipe: from `find -print0` they are paths, from elsewhere they can be anything."""
    at = _program(command.words)
    parsed = parse(command.words[:at], _XARGS)
    if parsed is None or parsed.operands or at == len(command.words) or not command.words[at].literal:
        return None
    name, words = command.words[at].text, command.words[at + 1 :]
    if name in _ANY_WORDS:
        return []
    roots = _found_by(command.source) if parsed.has("0", "null") else None
    if roots is None or (name != "grep" and not _takes_paths(name)):
        return None
    return _applied(Simple(name, words, command.folders), roots, command.source)


def _takes_paths(name: str) -> bool:
    syntax = COMMANDS.get(name)
    return syntax is not None and syntax.operands in ("name", "content")


def _program(words: Sequence[Word]) -> int:
    """Where the program that xargs starts is named."""
    at = 0
    while at < len(words) and words[at].option_possible:
        at += 2 if words[at].text in ("-n", "-L", "-P", "--max-args", "--max-procs") else 1
    return min(at, len(words))


def _found_by(source: Simple | None) -> list[Word] | None:
    """The folders that `find` looks in, where it prints paths that end with a null character."""
    if source is None or source.name != "find":
        return None
    uses = find(source)
    printed = [word.text for word in source.words if word.text in ("-print", "-print0", "-printf", "-ls")]
    return [use.word for use in uses] if uses is not None and printed == ["-print0"] else None


def _applied(program: Simple, roots: Sequence[Word], source: Simple | None) -> Uses | None:
    """The program with paths below each root; what it shows must be files that hold no keys."""
    paths = [Word((*root.signs, *name)) for root in roots for name in ("/x", "/y")]
    given = Simple(program.name, (*program.words, *paths), program.folders)
    uses = grep(given) if program.name == "grep" else understand(given, COMMANDS[program.name])
    if uses is None or any(use.kind == "search" for use in uses):
        return None
    if all(use.kind in ("name", "text") for use in uses):
        return uses
    if not _only_source_files(source):
        return None
    return [*uses, *(Use(root, "search") for root in roots)]


def _only_source_files(source: Simple | None) -> bool:
    words = [word.text for word in source.words] if source else []
    if words.count("-name") != 1 or {"-o", "-or", "-not", "!", "-L", "-follow"} & set(words):
        return False
    return _SOURCE_FILES.fullmatch(words[words.index("-name") + 1]) is not None
