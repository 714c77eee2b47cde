"""Which commands only read, and which of them need a guard when they run. Accepted forms of awk, jq, echo,
printf and test; `commands.py` lists the plain programs.

A command only reads if its program and options are on the list and its files are not private. Some programs
only read because the terminal runs them with a guard: git without the programs that a repository names,
searches without private files. A guard applies to a program as a whole, so it is used only if every use of
the program in a command only reads.

Of programs whose operands are small languages (formats, tests, scripts of sed, awk and jq), only simple forms
are accepted. In their full form these languages can write files, run programs, set variables or read the
environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolcrib.serverkit.shell import git, searches
from toolcrib.serverkit.shell.commands import COMMANDS, VERSIONED
from toolcrib.serverkit.shell.options import Syntax, Use, Uses, parse, understand
from toolcrib.serverkit.shell.paths import ShellPath, place_of, resolve
from toolcrib.serverkit.shell.script import Simple, read_script
from toolcrib.serverkit.shell.sed import only_prints
from toolcrib.serverkit.shell.words import NotUnderstood, Word, listed

_LONGEST = 500
"""Characters of a script."""


def _accepts(pattern: re.Pattern[str], word: Word) -> bool:
    text = word.text
    return word.literal and len(text) <= _LONGEST and pattern.fullmatch(text.strip()) is not None


def _files(words: tuple[Word, ...]) -> Uses:
    return [Use(word, "content") for word in words]


def echo(command: Simple) -> Uses | None:
    """Every word is printed, whatever it is."""
    return []


_FORMAT = re.compile(r"(?:%%|%[-+ #0]*\d*(?:\.\d+)?[sdiouxXcbqeEfgG]|[^%])*", re.DOTALL)
"""No `%n` and no length modifier: both assign to a variable. No `*`, no `%(…)T`."""


def printf(command: Simple) -> Uses | None:
    """The option `-v` assigns to a variable too."""
    first = command.words[0] if command.words else None
    if first is None or not first.literal or first.option_possible:
        return None
    return [] if _FORMAT.fullmatch(first.text) else None


def test(command: Simple) -> Uses | None:
    """`-v` and `-R` evaluate the name of a variable, which can run commands."""
    words = command.words
    known = all(word.literal and word.text not in ("-v", "-R") for word in words)
    return [] if known else None


def named(command: Simple) -> Uses | None:
    """`type NAME …`."""
    return None if any(not word.literal or word.option_possible for word in command.words) else []


def where(command: Simple) -> Uses | None:
    """`command -v NAME …`."""
    words = [word.text for word in command.words if word.literal]
    known = len(words) == len(command.words) >= 2 and words[0] in ("-v", "-V")
    return [] if known and not any(word.startswith("-") for word in words[1:]) else None


_SED = Syntax(
    flags="nErsuz",
    values="e",
    long="quiet silent regexp-extended separate unbuffered null-data zero-terminated expression=",
)


def sed(command: Simple) -> Uses | None:
    """A script that only prints. Several are joined by line ends, as sed does."""
    parsed = parse(command.words, _SED)
    if parsed is None or parsed.late:
        return None
    given = [value for name, value in parsed.options if name in ("e", "expression")]
    if not given and not (parsed.operands and parsed.operands[0].literal):
        return None
    script = "\n".join(given) if given else parsed.operands[0].text
    if len(script) > _LONGEST or not only_prints(script):
        return None
    return _files(parsed.operands if given else parsed.operands[1:])


_AWK = Syntax(values="F")
_AWK_VALUE = r'(?:\$\d+|\$NF|\$\(NF-\d+\)|\$0|NR|NF|FNR|"[^"\\|]*")'
_AWK_CONDITION = (
    r"(?:/[\w .:=^$*-]+/|(?:F?NR|NF|length)\s*[<>=!]=?\s*\d+|NR\s*%\s*\d+\s*==\s*\d+|NF"
    r"|\$\d+\s*(?:==|!=|~|>=?|<=?)\s*(?:\"[\w .-]*\"|\d+|/[\w .:=^$*-]+/))"
)
_AWK_NAME = r"(?:sum|total|count|n|s|t|c)"
_AWK_PRINT = rf"\{{\s*print(?:\s*{_AWK_VALUE}(?:[\s,]+{_AWK_VALUE})*)?\s*;?\s*\}}"
_AWK_SCRIPT = re.compile(
    rf"(?:END|{_AWK_CONDITION}(?:\s*(?:&&|\|\|)\s*{_AWK_CONDITION})*)?\s*(?:{_AWK_PRINT})?"
    r"|!seen\[\$\d+\]\+\+"
    rf"|\{{\s*{_AWK_NAME}\s*\+=\s*(?:\$\d+|\d+)\s*\}}\s*END\s*\{{\s*print\s+{_AWK_NAME}\s*\}}"
)


def awk(command: Simple) -> Uses | None:
    """Only `{print …}` of fields and fixed text, for all lines or for those that match something simple."""
    parsed = parse(command.words, _AWK)
    if parsed is None or parsed.late or not parsed.operands:
        return None
    if not _accepts(_AWK_SCRIPT, parsed.operands[0]):
        return None
    files = parsed.operands[1:]
    return None if any("=" in word.text for word in files) else _files(files)  # an assignment


_JQ = Syntax(
    flags="rcnSesMCajR",
    long="raw-output compact-output null-input sort-keys exit-status slurp monochrome-output color-output "
    "ascii-output join-output raw-input tab",
)
_JQ_WORDS = listed("""
    add all and any arrays as ascii_downcase ascii_upcase booleans capture ceil contains del elif else empty
    end endswith error false first flatten floor foreach from_entries fromdate fromjson getpath group_by gsub
    has if implode in index indices inside iterables join keys keys_unsorted last length limit ltrimstr map
    map_values match max max_by min min_by not nth null nulls numbers objects or path paths range reduce
    reverse rindex round rtrimstr scalars scan select sort sort_by split sqrt startswith strings sub test then
    to_entries todate tojson tonumber tostring transpose true type unique unique_by values walk with_entries
    """)
_JQ_CONTROL = listed("if foreach reduce")
"""In their parts a comma does not begin the next key of an object."""
_JQ_FORMATS = listed("@base64 @base64d @csv @html @json @sh @text @tsv @uri")
_JQ_TOKEN = re.compile(
    r"""(?P<blank>[ \t\n]+)
    | (?P<string>"(?:[^"\\]|\\["\\/bfnrtu])*")
    | (?P<field>\.[A-Za-z_][A-Za-z0-9_]*)
    | (?P<variable>\$[A-Za-z_][A-Za-z0-9_]*)
    | (?P<format>@[A-Za-z0-9_]+)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<sign>\?//|[|+*/%-]?=|==|!=|<=|>=|//=?|\.\.|[][(){}.,:;|?<>+*/%-])""",
    re.VERBOSE,
)
"""The tokens of jq. No `\\(` in a string, which would be a filter of its own; no comment."""


def jq(command: Simple) -> Uses | None:
    """Filters with functions that only compute: none that reads the environment or another file."""
    parsed = parse(command.words, _JQ)
    if parsed is None or parsed.ended or not parsed.operands or not parsed.operands[0].literal:
        return None
    script = parsed.operands[0].text
    if len(script) > _LONGEST or not _is_jq_filter(script):
        return None
    return _files(parsed.operands[1:])


def _is_jq_filter(script: str) -> bool:
    """Whether every token is known and every name is a key, a variable of the filter, or on the list."""
    tokens, at = list[tuple[str, str]](), 0
    while at < len(script):
        found = _JQ_TOKEN.match(script, at)
        if found is None:
            return False
        at = found.end()
        if found.lastgroup != "blank":
            tokens.append((found.lastgroup or "", found[0]))
    open_ones, keys = list[str](), _JQ_CONTROL.isdisjoint(text for _, text in tokens)
    for place, (_, text) in enumerate(tokens):
        if text in ("(", "[", "{"):
            open_ones.append(text)
        elif text in (")", "]", "}") and open_ones:
            open_ones.pop()
        elif not _is_jq_name(tokens, place, keys=keys and open_ones[-1:] == ["{"]):
            return False
    return True


def _is_jq_name(tokens: Sequence[tuple[str, str]], place: int, *, keys: bool) -> bool:
    """Whether a name reads nothing from outside; the keys of `{name, id: 1}` may be any."""
    kind, text = tokens[place]
    if kind == "variable":
        return text != "$ENV" and not text.startswith("$__")
    if kind == "format":
        return text in _JQ_FORMATS
    if kind != "word" or text in _JQ_WORDS:
        return True
    before = tokens[place - 1][1] if place else ""
    after = tokens[place + 1][1] if place + 1 < len(tokens) else ""
    return keys and before in ("{", ",") and after in (":", ",", "}")


READERS: dict[str, Callable[[Simple], Uses | None]] = {
    "[": test,
    "awk": awk,
    "command": where,
    "diff": searches.diff,
    "echo": echo,
    "egrep": searches.grep,
    "fgrep": searches.grep,
    "find": searches.find,
    "git": git.git,
    "grep": searches.grep,
    "jq": jq,
    "printf": printf,
    "rg": searches.rg,
    "sed": sed,
    "test": test,
    "type": named,
    "xargs": searches.xargs,
}


def only_reads(command: Simple) -> str:
    """Empty when it is known to only read; else what is not known."""
    if asks_version(command):
        return ""
    uses = uses_of(command)
    if uses is None:
        known = command.name in COMMANDS or command.name in READERS
        return f"{command.text if known else command.name} may change something"
    for use in uses:
        if any(_is_private(use, folder) for folder in command.folders):
            return f"{use.word.text} may contain secrets"
    return ""


def uses_of(command: Simple) -> Uses | None:
    """The files that a command looks at; None if it may change something."""
    special = READERS.get(command.name)
    if special is not None:
        return special(command)
    syntax = COMMANDS.get(command.name)
    return None if syntax is None else understand(command, syntax)


def asks_version(command: Simple) -> bool:
    """Whether it only asks a program for its version."""
    words = [word.text for word in command.words]
    if command.name not in VERSIONED:
        return False
    if words == ["-V"]:
        return command.name in ("python", "python3")
    if words == ["-v"]:
        return command.name == "node"
    return words == ["--version"] or (command.name == "git" and words == ["version"])


def _is_private(use: Use, folder: ShellPath) -> bool:
    """A program that only tells about files may be given a pattern; names are no secret."""
    if use.kind == "text" or (use.kind == "name" and use.word.glob) or use.word.text == "-":
        return False
    place = resolve(use.word, folder)
    if place is None:
        return True
    if use.kind == "search":
        return place.tree_secret
    return place.content_secret if use.kind == "content" else place.secret


@dataclass(frozen=True, slots=True)
class Guards:
    """What a command does only to read."""

    programs: frozenset[str] = frozenset()
    """The programs that it uses for nothing else."""
    versions: frozenset[str] = frozenset()
    """Those of them that it only asks for their version."""
    patterns: bool = False
    """Its patterns are for reading."""


def guards_for(command: str, cwd: str = "", project: str = "") -> Guards:
    """The guards that a command needs; none when it is not understood, and so was asked about."""
    folders = {place_of(cwd, project), place_of(cwd)}  # the decision may have been made without the project
    found = [_guards(command, folder) for folder in folders if folder is not None]
    return Guards(
        frozenset[str]().union(*(guards.programs for guards in found)),
        frozenset[str]().union(*(guards.versions for guards in found)),
        patterns=any(guards.patterns for guards in found),
    )


def _guards(command: str, folder: ShellPath) -> Guards:
    try:
        commands = read_script(command, folder)
    except NotUnderstood:
        return Guards()
    other = [simple for simple in commands if only_reads(simple)]
    programs = frozenset(simple.name for simple in commands) - {simple.name for simple in other}
    versions = programs - {simple.name for simple in commands if not asks_version(simple)}
    return Guards(
        programs, versions, patterns=not any(word.glob for simple in other for word in simple.words)
    )


def needs_rule(commands: Sequence[Simple]) -> list[Simple]:
    """The commands that do not run unasked: those that do more than read, and those that lose their guard."""
    names = {command.name for command in commands if only_reads(command)}
    return [command for command in commands if command.name in names]
