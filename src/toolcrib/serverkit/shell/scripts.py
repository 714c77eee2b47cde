"""Programs whose operands are small languages: formats, tests, and scripts of sed, awk and jq.

Only simple forms are accepted. In their full form these languages can write files, run programs, set
variables or read the environment.
"""

from __future__ import annotations

import re

from toolcrib.serverkit.shell.options import Parsed, Syntax, Use, Uses, parse
from toolcrib.serverkit.shell.script import Simple
from toolcrib.serverkit.shell.words import Word, listed, plain

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


_SED = Syntax(flags="nErsuz", values="e", long="quiet silent regexp-extended expression=")
_SED_PATTERN = r"(?:[^/\n\\;\[\]]|\[[^/\n\\;\[\]]+\])*"
"""No slash in brackets: not all versions of sed agree on where such a pattern ends."""
_SED_ADDRESS = rf"(?:\d+|\$|/{_SED_PATTERN}/)"
_SED_PART = (
    rf"(?:{_SED_ADDRESS}(?:,(?:{_SED_ADDRESS}|\+\d+))?!?)?"
    rf"(?:[pdq=]|s/{_SED_PATTERN}/(?:[^/\n\\;]|\\[tn])*/[gpI0-9]*)"
)
_SED_SCRIPT = re.compile(rf"{_SED_PART}(?:\s*;\s*{_SED_PART})*\s*;?")


def sed(command: Simple) -> Uses | None:
    """Printing and deleting lines, and replacing without a special flag."""
    parsed = parse(command.words, _SED)
    if parsed is None:
        return None
    given = [plain(value) for name, value in parsed.options if name in ("e", "expression")]
    scripts, files = (given, parsed.operands) if given else (parsed.operands[:1], parsed.operands[1:])
    return _files(files) if scripts and all(_accepts(_SED_SCRIPT, script) for script in scripts) else None


_AWK = Syntax(values="F")
_AWK_VALUE = r'(?:\$\d+|\$NF|\$0|NR|NF|FNR|"[^"\\|]*")'
_AWK_CONDITION = (
    r"(?:/[\w .:=^$*-]+/|(?:F?NR|NF|length)\s*[<>=!]=?\s*\d+"
    r"|\$\d+\s*(?:==|!=|~|>=?|<=?)\s*(?:\"[\w .-]*\"|\d+|/[\w .:=^$*-]+/))"
)
_AWK_NAME = r"(?:sum|total|count|n|s|t|c)"
_AWK_PRINT = rf"\{{\s*print(?:\s*{_AWK_VALUE}(?:[\s,]+{_AWK_VALUE})*)?\s*;?\s*\}}"
_AWK_SCRIPT = re.compile(
    rf"(?:END|{_AWK_CONDITION}(?:\s*(?:&&|\|\|)\s*{_AWK_CONDITION})*)?\s*(?:{_AWK_PRINT})?"
    rf"|\{{\s*{_AWK_NAME}\s*\+=\s*(?:\$\d+|\d+)\s*\}}\s*END\s*\{{\s*print\s+{_AWK_NAME}\s*\}}"
)


def awk(command: Simple) -> Uses | None:
    """Only `{print …}` of fields and fixed text, for all lines or for those that match something simple."""
    parsed = parse(command.words, _AWK)
    if parsed is None or not parsed.operands or not _accepts(_AWK_SCRIPT, parsed.operands[0]):
        return None
    files = parsed.operands[1:]
    return None if any("=" in word.text for word in files) else _files(files)  # an assignment


_JQ = Syntax(
    flags="rcnSesMCajR",
    long="raw-output compact-output null-input sort-keys exit-status slurp monochrome-output color-output "
    "ascii-output join-output raw-input tab indent=",
)
_JQ_WORDS = listed("""
    add all and any arrays as ascii_downcase ascii_upcase base64 booleans capture ceil contains csv del elif
    else empty end endswith error false first flatten floor from_entries fromjson group_by has html if
    implode in index indices inside iterables join json keys keys_unsorted last length limit ltrimstr map
    map_values match max max_by min min_by not null nulls numbers objects or path paths range reduce reverse
    round rtrimstr scalars scan select sort sort_by split sqrt startswith strings sub sum test text then
    to_entries tojson tonumber tostring transpose true tsv type unique unique_by uri values with_entries
    """)
_JQ_STRING = re.compile(r'"(?:[^"\\]|\\[^(])*"')
_JQ_FREE = re.compile(
    r"\.\s*[A-Za-z_]\w*"
    r"|\$(?!ENV\b|__)[A-Za-z_]\w*"
    r"|\{\s*[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*\s*\}"
    r"|[{,]\s*[A-Za-z_]\w*\s*:"
)
"""Names of fields, of keys, and of variables other than those that hold the environment."""


def jq(command: Simple) -> Uses | None:
    """Filters with functions that only compute: none that reads the environment or another file."""
    parsed = parse(command.words, _JQ)
    if parsed is None or not parsed.operands or not _is_jq_filter(parsed):
        return None
    return _files(parsed.operands[1:])


def _is_jq_filter(parsed: Parsed) -> bool:
    script = parsed.operands[0]
    if not script.literal or len(script.text) > _LONGEST or "\\(" in script.text:
        return False
    bare = _JQ_FREE.sub(" ", _JQ_STRING.sub(' "" ', script.text))
    if "$" in bare or "#" in bare or '"' in bare.replace('""', ""):
        return False
    return _JQ_WORDS.issuperset(re.findall(r"[A-Za-z_]\w*", bare))
