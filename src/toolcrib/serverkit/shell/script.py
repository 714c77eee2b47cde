"""A command line as the simple commands that it is made of; what is not plain syntax is not understood. Which
loops, redirections, variables and tests are accepted, and the reasons for the others.

On top of the parser stands a list of the syntax that is taken, so that whatever the parser and the shell may
see differently (line ends, odd blanks, encodings) is left to the user.

A parser that follows a grammar is more lenient than a shell: to it `[a]#b` is a test and a comment, to the
shell one word. So that nothing is lost between the two, every word must stand between blanks and operators.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from toolcrib.serverkit.shell.paths import PROJECT, ShellPath, entered, resolve
from toolcrib.serverkit.shell.syntax import SyntaxNode, parse
from toolcrib.serverkit.shell.words import (
    MAX_LENGTH,
    NotUnderstood,
    StartFolder,
    Variables,
    Word,
    excerpt,
    listed,
    read_word,
)

MAX_DEPTH = 50
_OPERATOR = frozenset(b";&|<>()\n")
_WORDS = (
    "word",
    "number",
    "raw_string",
    "string",
    "concatenation",
    "simple_expansion",
    "variable_assignment",
)

MAX_COMMANDS = 1000
_LOOP_VARIABLES = frozenset(string.ascii_lowercase) | listed("""
    branch commit dir entry ext file filename folder item line module name number package path pattern pkg
    src target test word
    """)
"""Names that mean nothing to any program; others (`PATH`, `http_proxy`) would change what runs next."""
_LOCALE = re.compile(r"(C|POSIX|[A-Za-z_]+\.(UTF-8|utf-?8))?")
"""In other encodings a character may contain the byte of a sign that ends a pattern or a word."""
_PLAIN_SETTINGS = {
    "LC_ALL": _LOCALE,
    "LANG": _LOCALE,
    "NO_COLOR": re.compile(r"\w*"),
    "COLUMNS": re.compile(r"\d*"),
}
_WRITING = (">", ">>", ">|", "&>", "&>>")
_SEPARATORS = frozenset({";", "&&", "||", "|", "|&", "\n", "(", ")", "{", "}", "!"})
_ARITHMETIC = re.compile(r"-(eq|ne|lt|le|gt|ge|v|R)\b|=~", re.ASCII)
_TEST_OPERATORS = listed(
    "-f -d -e -r -w -x -s -L -h -z -n -nt -ot -ef = == != -eq -ne -lt -le -gt -ge ! ( ) -a -o"
)


def parse_plain(text: str) -> SyntaxNode:
    """The syntax tree of a command line in which each word is separate; raises `NotUnderstood`."""
    _check_characters(text)
    root = parse(text)
    if root.has_error:
        raise NotUnderstood("the syntax")
    _check_depth(root)
    _check_borders(root, text.encode())
    return root


def _check_characters(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise NotUnderstood(f"more than {MAX_LENGTH} characters")
    for character in text:
        if character in " \n\t" or " " < character <= "~":
            continue
        if character.isascii() or unicodedata.category(character)[0] in "CZ":
            raise NotUnderstood(f"an invisible character (U+{ord(character):04X})")


def _check_depth(root: SyntaxNode) -> None:
    """What follows goes down the tree by calling itself."""
    left = [(root, 0)]
    while left:
        node, depth = left.pop()
        if depth > MAX_DEPTH:
            raise NotUnderstood(f"more than {MAX_DEPTH} levels")
        left += [(child, depth + 1) for child in node.children]


def _check_borders(root: SyntaxNode, source: bytes) -> None:
    """Between two words there must be blanks and nothing else, or an operator."""
    end, operator = 0, True
    for part in _descendants(root):
        gap = source[end : part.start_byte]
        begins, ends = _operators_at(part)
        if gap.strip(b" \t\n") or not (gap or operator or begins or not part.raw):
            raise NotUnderstood("the syntax")
        end, operator = max(end, part.end_byte), ends
    if source[end:].strip(b" \t\n"):
        raise NotUnderstood("the syntax")


def _operators_at(part: SyntaxNode) -> tuple[bool, bool]:
    """Whether it is an operator at its beginning and at its end, which separates words without a blank."""
    raw = part.raw
    if part.is_named or not raw:
        return False, False
    return raw[0] in _OPERATOR, raw[-1] in _OPERATOR


def _descendants(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """Words, operators, keywords and comments."""
    if not node.children or node.type in _WORDS:
        yield node
        return
    for child in node.children:
        yield from _descendants(child)


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command: its name and its words, and the circumstances that it runs in."""

    name: str
    words: tuple[Word, ...] = ()
    folders: frozenset[ShellPath] = frozenset({PROJECT})
    """Where it may run; more than one, because a `cd` before it may fail."""
    fed: bool = False
    """Its input comes from another command or from a file."""
    source: Simple | None = None
    """The command whose output is its input, where that is a single one."""

    @property
    def text(self) -> str:
        """For people."""
        return " ".join((self.name, *(word.text for word in self.words)))


@dataclass(slots=True)
class _Reading:
    folders: frozenset[ShellPath]
    writes: bool = False
    """Redirections to files are accepted too."""
    commands: list[Simple] = field(default_factory=list)

    def add(self, name: str, words: Sequence[Word] = ()) -> None:
        if len(self.commands) >= MAX_COMMANDS:
            raise NotUnderstood(f"more than {MAX_COMMANDS} commands")
        self.commands.append(Simple(name, tuple(words), self.folders))

    def feed(self, since: int, source: Simple | None = None) -> None:
        """Note that the commands from there on get input."""
        self.commands[since:] = [
            replace(command, fed=True, source=source or command.source) for command in self.commands[since:]
        ]


def read_script(text: str, folder: ShellPath = PROJECT, *, writes: bool = False) -> tuple[Simple, ...]:
    """Every simple command of a fully understood script, in order; raises `NotUnderstood`.

    The body of a loop is there once for each of its words. A file that is read by a redirection is there as
    a `cat` of it. `writes` accepts redirections that write to files.
    """
    root = parse_plain(text)
    reading = _Reading(frozenset({folder}), writes)
    _statement(root, reading, {})
    if not reading.commands:
        raise NotUnderstood("a line without a command")
    return tuple(reading.commands)


def _statement(node: SyntaxNode, reading: _Reading, variables: Variables) -> None:
    take = _STATEMENTS.get(node.type)
    if take is None:
        raise NotUnderstood(f"{node.type.replace('_', ' ')}: {excerpt(node)}")
    take(node, reading, variables)


def _parts(node: SyntaxNode, reading: _Reading, variables: Variables) -> None:
    for child in node.children:
        if child.is_named:
            _statement(child, reading, variables)
        elif child.type not in _SEPARATORS and child.type not in _KEYWORDS[node.type]:
            raise NotUnderstood(f"{child.type!r}")


def _nothing(node: SyntaxNode, reading: _Reading, variables: Variables) -> None:
    return


def _pipeline(node: SyntaxNode, reading: _Reading, variables: Variables) -> None:
    source: Simple | None = None
    for position, child in enumerate(node.named_children):
        since = len(reading.commands)
        _statement(child, reading, variables)
        if position:
            reading.feed(since, source)
        source = reading.commands[since] if len(reading.commands) == since + 1 else None
    if any(not child.is_named and child.type not in ("|", "|&") for child in node.children):
        raise NotUnderstood("the syntax")


def _command(node: SyntaxNode, reading: _Reading, variables: Variables) -> None:
    name, words, since = "", list[Word](), len(reading.commands)
    for child in node.children:
        if child.type == "variable_assignment":
            _setting(child)
        elif child.type == "command_name":
            name = _name(child)
        elif child.type == "herestring_redirect":
            _redirect(child, reading, variables)
            continue
        else:
            words.append(read_word(child, variables))
    reading.add(name, words)
    if any(child.type == "herestring_redirect" for child in node.children):
        reading.feed(since)
    if name == "cd":
        reading.folders = entered(reading.folders, words[-1] if words else Word((StartFolder.HOME,)))


def _name(node: SyntaxNode) -> str:
    inner = node.children[0] if len(node.children) == 1 else None
    text = node.text
    if inner is None or inner.type != "word" or not re.fullmatch(r"[A-Za-z0-9_.+-]+|\[", text):
        raise NotUnderstood(f"which program {excerpt(node)} is")
    return text


def _setting(node: SyntaxNode) -> None:
    name, _, value = node.text.partition("=")
    if name not in _PLAIN_SETTINGS or not _PLAIN_SETTINGS[name].fullmatch(value):
        raise NotUnderstood(f"the variable {name}")


def _redirected(node: SyntaxNode, reading: _Reading, variables: Variables) -> None:
    since, fed = len(reading.commands), False
    for child in node.named_children:
        if child.type in _REDIRECTS:
            fed = _redirect(child, reading, variables) or fed
        else:
            _statement(child, reading, variables)
    if fed:
        reading.feed(since)


def _redirect(node: SyntaxNode, reading: _Reading, variables: Variables) -> bool:
    """Accept what reads a file or writes nowhere; whether it is input."""
    operator, target = _redirection(node, variables)
    if operator == "<<<":
        return True
    if not target.literal or any(character.isspace() for character in target.text):
        raise NotUnderstood(f"the file of a redirection: {excerpt(node)}")
    if operator in (">&", "<&") and target.text in ("0", "1", "2", "-"):
        return False
    if target.text == "/dev/null":
        return operator == "<"
    if any(_is_device(target, folder) for folder in reading.folders):
        raise NotUnderstood(f"a device or a connection: {excerpt(node)}")
    if operator == "<":
        reading.add("cat", [target])
        return True
    if operator in _WRITING and reading.writes:
        return False
    raise NotUnderstood(f"writing to a file: {excerpt(node)}")


def _redirection(node: SyntaxNode, variables: Variables) -> tuple[str, Word]:
    """The operator and the target; the parser also takes words of the command that follow for targets."""
    operators = [child.type for child in node.children if not child.is_named]
    targets = [child for child in node.named_children if child.type != "file_descriptor"]
    if len(operators) != 1 or len(targets) != 1:
        raise NotUnderstood(f"a redirection between the words of a command: {excerpt(node)}")
    return operators[0], read_word(targets[0], variables)


def _is_device(target: Word, folder: ShellPath) -> bool:
    """Bash itself takes `/dev/tcp/…` for a connection, in this spelling; others are refused too."""
    place = resolve(target, folder)
    return place is None or (place.anchor == "/" and place.secret)


def _for(node: SyntaxNode, reading: _Reading, variables: Variables) -> None:
    name, words, body = "", list[Word](), None
    for child in node.children:
        if child.type == "variable_name":
            name = child.text
        elif child.type == "do_group":
            body = child
        elif child.is_named:
            words.append(read_word(child, variables))
        elif child.type not in ("for", "in", ";", "\n"):
            raise NotUnderstood(f"{child.type!r}")
    if name not in _LOOP_VARIABLES or not words or body is None:
        raise NotUnderstood(f"a loop over {name}")
    reading.add("true", words)
    before, different = reading.folders, tuple(dict.fromkeys(words))
    for word in different:
        _statement(body, reading, {**variables, name: word})
    repeated = len(different) < len(words) or any(word.glob for word in words)
    if repeated and reading.folders != before:
        raise NotUnderstood("a loop that changes the folder")


def _test(node: SyntaxNode, reading: _Reading, variables: Variables) -> None:
    for leaf in _operands(node):
        text = leaf.text
        if leaf.type in ("[", "]", "[[", "]]") or text in _TEST_OPERATORS:
            continue
        if read_word(leaf, variables).option_possible:
            raise NotUnderstood(f"an operator of a test: {excerpt(leaf)}")
    # In double brackets, numbers are arithmetic, which can run commands; nor do names have a value here.
    if node.children[0].type == "[[" and _ARITHMETIC.search(node.text):
        raise NotUnderstood(f"arithmetic in a test: {excerpt(node)}")
    reading.add("true")


def _operands(node: SyntaxNode) -> Iterator[SyntaxNode]:
    for child in node.children:
        if child.type in (
            "unary_expression",
            "binary_expression",
            "negated_command",
            "parenthesized_expression",
        ):
            yield from _operands(child)
        else:
            yield child


_REDIRECTS = ("file_redirect", "herestring_redirect")
_STATEMENTS: dict[str, Callable[[SyntaxNode, _Reading, Variables], None]] = {
    "program": _parts,
    "list": _parts,
    "pipeline": _pipeline,
    "subshell": _parts,
    "compound_statement": _parts,
    "negated_command": _parts,
    "do_group": _parts,
    "if_statement": _parts,
    "elif_clause": _parts,
    "else_clause": _parts,
    "comment": _nothing,
    "command": _command,
    "redirected_statement": _redirected,
    "for_statement": _for,
    "test_command": _test,
}
_KEYWORDS: dict[str, frozenset[str]] = {
    name: frozenset({"if", "then", "fi", "elif", "else", "do", "done"}) for name in _STATEMENTS
}
