"""Programs that search in files and folders: grep, rg, diff, find, and xargs behind find; the options and
expressions that are accepted.

A search through a folder leaves out private places and links: the terminal runs these programs with options
that do so (`bundled.terminal.workplace`). They come last, so that a `--` before them is not accepted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

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
    -print -print0 -ls -prune -empty -true -false -readable -writable -executable -xdev -mount -depth
    -follow -daystart -nouser -nogroup -quit
    """)
_FIND_OPERATORS = listed("-not -and -or -a -o ( ) ! ,")
_FIND_PRINTING = listed("-print -print0 -printf -ls")
_FIND_LINKS = ("-H", "-L", "-P")
_FIND_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class _Test:
    """A primary of find with its value, or a group of them: `and`, `or`, `not`."""

    name: str
    value: str = ""
    parts: tuple[_Test, ...] = ()


@dataclass(frozen=True, slots=True)
class _Find:
    links: frozenset[str]
    roots: tuple[Word, ...]
    tests: _Test


def find(command: Simple) -> Uses | None:
    """Names and properties of files, and no action besides printing them."""
    parsed = _parse_find(command.words)
    return None if parsed is None else [Use(word, "name") for word in parsed.roots]


def _parse_find(words: Sequence[Word]) -> _Find | None:
    """Options, then folders, then one expression; None for anything else, such as the operator `,`."""
    left = list(words)
    links = frozenset(left.pop(0).text for _ in range(_leading(left, _FIND_LINKS)))
    roots = list[Word]()
    while left and not left[0].option_possible and left[0].text not in _FIND_OPERATORS:
        roots.append(left.pop(0))
    if not all(word.literal for word in left):
        return None
    texts = [word.text for word in left]
    tests = _alternatives(texts, 0) if texts else _Test("and")
    return None if tests is None or texts else _Find(links, tuple(roots) or (_HERE,), tests)


def _leading(words: Sequence[Word], known: Sequence[str]) -> int:
    return next((at for at, word in enumerate(words) if word.text not in known), len(words))


def _alternatives(left: list[str], depth: int) -> _Test | None:
    """What `-o` separates; takes the words that belong to it. None if they are no expression."""
    parts = list[_Test]()
    while depth <= _FIND_DEEPEST:
        together = _conjunction(left, depth)
        if together is None:
            return None
        parts.append(together)
        if left[:1] not in (["-o"], ["-or"]):
            return _Test("or", parts=tuple(parts))
        left.pop(0)
    return None


def _conjunction(left: list[str], depth: int) -> _Test | None:
    parts = list[_Test]()
    while True:
        one = _primary(left, depth)
        if one is None:
            return None
        parts.append(one)
        if left[:1] in (["-a"], ["-and"]):
            left.pop(0)
        elif not left or left[0] in (")", "-o", "-or"):
            return _Test("and", parts=tuple(parts))


def _primary(left: list[str], depth: int) -> _Test | None:
    word = left.pop(0) if left else ""
    if word in ("!", "-not"):
        negated = _primary(left, depth + 1) if depth <= _FIND_DEEPEST else None
        return None if negated is None else _Test("not", parts=(negated,))
    if word == "(":
        group = _alternatives(left, depth + 1)
        closed = left.pop(0) if left else ""
        return group if closed == ")" else None
    if word in _FIND_ALONE:
        return _Test(word)
    if word not in _FIND_VALUES or not left or left[0] in _FIND_WORDS:
        return None
    return _Test(word, left.pop(0))


_FIND_WORDS = _FIND_VALUES | _FIND_ALONE | _FIND_OPERATORS


def _words_of(test: _Test) -> set[str]:
    return {test.name}.union(*map(_words_of, test.parts))


def _names_source(test: _Test) -> bool:
    """Whether only files that hold no keys pass this."""
    if test.name == "and":
        return any(map(_names_source, test.parts))
    if test.name == "or":
        return all(map(_names_source, test.parts))
    return test.name in ("-name", "-iname") and _SOURCE_FILES.fullmatch(test.value) is not None


def _prints_source(test: _Test, *, known: bool = False) -> bool:
    """Whether every action that prints is reached only by files that hold no keys."""
    if test.name in _FIND_PRINTING:
        return known
    for part in test.parts:
        if not _prints_source(part, known=known):
            return False
        known = known or (test.name == "and" and _names_source(part))
    return True


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
    parsed = _parse_find(source.words)
    if parsed is None or _words_of(parsed.tests) & _FIND_PRINTING != {"-print0"}:
        return None
    return list(parsed.roots)


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
    parsed = None if source is None else _parse_find(source.words)
    if parsed is None or parsed.links - {"-P"} or "-follow" in _words_of(parsed.tests):
        return False
    return _prints_source(parsed.tests)
