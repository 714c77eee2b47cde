"""Follows a command roughly: words with their variables and substitutions, pipes, redirections, functions,
loops, and which text and which files come from a download.

For telling people what a command does, so nothing raises: what cannot be known is a `Value` that says so.
What each program does is in `effects`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from toolcrib.serverkit.shell.syntax import SyntaxNode, parse

_DEEPEST = 8
_MOST_PARTS = 6_000
_LONGEST_VALUE = 4096
_LONGEST_NAME = 40
_QUIET = re.compile(r"/dev/(null|stdout|stderr|tty|fd/\d+)|\d+|-")
_CONNECTION = re.compile(r"/dev/(?:tcp|udp)/([^/\s]+)/\w*")
STDIN = re.compile(r"-|/dev/stdin|/dev/fd/0|/proc/self/fd/0")
_WORDS = frozenset({
    *("word", "number", "raw_string", "string", "ansi_c_string", "translated_string", "concatenation"),
    *("simple_expansion", "expansion", "command_substitution", "process_substitution"),
    "arithmetic_expansion",
})  # fmt: skip
_PLACES = {"HOME": "~", "PWD": "."}


@dataclass(frozen=True, slots=True)
class Value:
    """A word, or the output of a command, as far as it is known before the command runs."""

    text: str = ""
    """What it is or, if that is not known, how it is written."""
    known: bool = True
    hosts: tuple[str, ...] = ()
    """Where it was downloaded from."""
    source: str = ""
    """What gives the part that is not known: `$TOKEN`, `what cat prints`."""
    content: Value | None = None
    """What is in the file of this name, for `<(…)`."""


def united(groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for group in groups for one in group))


def joined(values: Sequence[Value], between: str = "") -> Value:
    """One text out of several."""
    text = between.join(value.text for value in values)[:_LONGEST_VALUE]
    known = all(value.known for value in values) and len(text) < _LONGEST_VALUE
    source = next((value.source for value in values if value.source), "")
    content = values[0].content if len(values) == 1 else None
    hosts = united([*(value.hosts for value in values), *(v.content.hosts for v in values if v.content)])
    return Value(text, known, hosts, source, content)


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that a command does."""

    what: str
    """A verb and its object: `deletes build`."""
    rank: int
    """The lower, the more important."""
    once: bool = False
    """Not to be allowed for longer than this one call: what runs may be something else the next time."""
    hosts: tuple[str, ...] = ()
    """Where it only downloads from."""


Perform = Callable[[Sequence[Value], Value | None, "Flow"], Value]
"""Notes what a program with its words and its input does; returns its output."""


@dataclass(slots=True)
class Flow:
    """What is known at one place of a command."""

    perform: Perform
    effects: list[Effect] = field(default_factory=list)
    variables: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, SyntaxNode] = field(default_factory=dict)
    files: dict[str, Value] = field(default_factory=dict)
    """What was written to files, by their names without folders."""
    unpacked: tuple[str, ...] = ()
    """Where archives and repositories are from whose files have unknown names."""
    where: str = ""
    """` as administrator`, ` on HOST`."""
    depth: int = 0
    left: int = _MOST_PARTS

    def note(
        self, what: str, more: str = "", *, rank: int = 5, once: bool = False, hosts: tuple[str, ...] = ()
    ) -> None:
        self.effects.append(Effect(f"{what}{self.where}{more}", rank, once, hosts))

    def origin(self, value: Value) -> tuple[str, ...]:
        """Where a word, or the file of that name, was downloaded from."""
        content = self.content(value)
        return united([value.hosts, content.hosts if content else ()])

    def content(self, value: Value) -> Value | None:
        """What is in the file of this name, if this command wrote it."""
        return value.content or self.files.get(_name(value.text))

    def save(self, target: Value, content: Value) -> None:
        """Note that a file has this now, possibly after what it had."""
        held = self.files.get(_name(target.text))
        self.files[_name(target.text)] = joined([held, content], "\n") if held else content

    def run_text(self, text: str, stdin: Value | None = None, where: str = "") -> Value:
        """What a shell that is given this text does."""
        if self.depth >= _DEEPEST:
            self.note("has commands that are nested too deeply to be read", rank=1, once=True)
            return Value(known=False)
        before, self.where, self.depth = self.where, self.where + where, self.depth + 1
        root = parse(text)
        if root.has_error:
            self.note("has a part that cannot be read", rank=1, once=True)
            for host in dict.fromkeys(_CONNECTION.findall(text)):
                self.note(f"connects to {host}", rank=3, hosts=(host,))
        output = self.run(root, stdin)
        self.where, self.depth = before, self.depth - 1
        return output

    def run_within(self, where: str, words: Sequence[Value], stdin: Value | None) -> Value:
        """What a program does there; that it runs is told if nothing else is."""
        held, before, self.where = self.where, len(self.effects), self.where + where
        output = self.perform(words, stdin, self)
        if len(self.effects) == before and words:
            self.note(f"runs {words[0].text[:_LONGEST_NAME]}", rank=4)
        self.where = held
        return output

    def run(self, node: SyntaxNode, stdin: Value | None = None) -> Value:
        """What a statement does with its input; its output."""
        self.left -= 1
        if self.left == 0:
            self.note("has more parts than can be read", rank=1, once=True)
        if self.left <= 0:
            return Value(known=False)
        special = _STATEMENTS.get(node.type)
        if special is not None:
            return special(self, node, stdin)
        if node.type in _WORDS:
            return self.value(node)
        outputs = [self.run(child, stdin) for child in node.named_children]
        return joined([output for output in outputs if output != Value()])

    def value(self, node: SyntaxNode) -> Value:
        """A word as it would most likely come out."""
        if node.type in ("word", "number"):
            return Value(re.sub(r"\\\n|\\(.)", r"\1", node.text, flags=re.DOTALL))
        if node.type == "raw_string":
            return Value(node.text[1:-1])
        if node.type == "ansi_c_string":
            return _decoded(node.text[2:-1])
        if node.type in ("concatenation", "translated_string"):
            return joined([self.value(child) for child in node.named_children])
        if node.type == "string":
            return self._string(node)
        if node.type in ("simple_expansion", "expansion"):
            return self._variable(node)
        if node.type == "command_substitution":
            return self._output(node)
        if node.type == "process_substitution" and node.text.startswith("<"):
            return Value(node.text, known=False, content=self._output(node))
        if node.text.startswith(">("):
            return Value(node.text, known=False)  # run with the output of its command
        inner = [self.run(child) for child in node.named_children] if node.children else []
        return replace(joined(inner), text=node.text, known=False)

    def _string(self, node: SyntaxNode) -> Value:
        parts, at = list[Value](), node.start_byte + 1
        for child in node.named_children:
            if child.type == "string_content":
                continue
            parts += [_quoted(node.raw[at - node.start_byte : child.start_byte - node.start_byte])]
            parts += [self.value(child)]
            at = child.end_byte
        return joined([*parts, _quoted(node.raw[at - node.start_byte : -1])])

    def _variable(self, node: SyntaxNode) -> Value:
        name, *others = [child for child in node.children if child.type not in ("$", "${", "}")] or [node]
        held = self.variables.get(name.text)
        if name.text in _PLACES and not others:
            return Value(_PLACES[name.text])
        if held is not None and not others:
            return held
        hosts = [self.run(other).hosts for other in others if other.is_named]
        known_hosts = united([held.hosts if held else (), *hosts])
        return Value(node.text, False, known_hosts, (held and held.source) or f"${name.text}")

    def _output(self, node: SyntaxNode) -> Value:
        """What the commands in a substitution print."""
        outputs = [self.run(child) for child in node.named_children]
        output = joined(outputs)
        if output.known and outputs:
            return replace(output, text=output.text.rstrip("\n"))
        return replace(output, text=node.text, known=False, source=output.source or node.text)

    def assign(self, name: str, value: Value) -> None:
        """A variable that gets different values may have any of them."""
        held = self.variables.get(name)
        if held is not None and held != value:
            value = Value(f"${name}", False, united([held.hosts, value.hosts]), f"${name}")
        self.variables[name] = value

    def _command(self, node: SyntaxNode, stdin: Value | None) -> Value:
        words, redirects = list[Value](), list[SyntaxNode]()
        for child in node.children:
            if child.type in _REDIRECTS:
                redirects.append(child)
            elif child.type == "command_name":
                words.append(joined([self.value(part) for part in child.named_children]))
            elif child.type == "variable_assignment":
                words.append(_setting(child, self))
            elif child.is_named:
                words.append(self.value(child))
        return self._redirect(redirects, stdin, lambda fed, more: self._performed([*words, *more], fed, node))

    def _performed(self, words: Sequence[Value], stdin: Value | None, node: SyntaxNode) -> Value:
        body = self.functions.get(words[0].text) if words else None
        if body is not None and self.depth < _DEEPEST:
            held = self.variables
            self.variables = {**held, **{str(at): word for at, word in enumerate(words)}}
            self.depth += 1
            output = self.run(body, stdin)
            self.variables, self.depth = held, self.depth - 1
        else:
            output = self.perform(words, stdin, self)
        given = replace(output, hosts=united([output.hosts, stdin.hosts if stdin else ()]), known=False)
        for sink in (part for part in node.named_children if part.text.startswith(">(")):
            for inner in sink.named_children:
                self.run(inner, given)
        return output

    def _redirected(self, node: SyntaxNode, stdin: Value | None) -> Value:
        redirects = [child for child in node.named_children if child.type in _REDIRECTS]
        bodies = [child for child in node.named_children if child.type not in _REDIRECTS]

        def body(fed: Value | None, more: Sequence[Value]) -> Value:
            if len(bodies) == 1 and more and bodies[0].type == "command":
                words = [self.run(part) for part in bodies[0].named_children if part.type != "command_name"]
                name = [self.run(part) for part in bodies[0].named_children if part.type == "command_name"]
                return self._performed([*name, *words, *more], fed, bodies[0])
            return joined([self.run(one, fed) for one in bodies])

        return self._redirect(redirects, stdin, body)

    def _redirect(
        self,
        redirects: Sequence[SyntaxNode],
        stdin: Value | None,
        body: Callable[[Value | None, Sequence[Value]], Value],
    ) -> Value:
        """Do the body with its input from files and texts; note the files that its output goes to."""
        targets, more, tails = list[tuple[str, Value]](), list[Value](), list[SyntaxNode]()
        for node in redirects:
            if node.type == "heredoc_redirect":
                stdin = self._document(node)
                tails += [child for child in node.named_children if not child.type.startswith("heredoc_")]
                continue
            values = [self.value(one) for one in node.named_children if one.type != "file_descriptor"]
            sign = next((child.type for child in node.children if not child.is_named), "")
            if not values:
                continue
            more += [value for value in values[1:] if not value.text.isdecimal()]  # `0` of a following `0>&1`
            connection = _CONNECTION.fullmatch(values[0].text)
            if connection:
                stdin = Value("", False, (connection[1],), f"what {connection[1]} sends")
                self.note(f"connects to {connection[1]}", rank=3, hosts=stdin.hosts)
            elif sign == "<<<":
                stdin = values[0]
            elif sign == "<" and not STDIN.fullmatch(values[0].text):
                stdin = self.content(values[0]) or Value("", False, values[0].hosts, values[0].text)
            elif ">" in sign and not _QUIET.fullmatch(values[0].text):
                targets.append((sign, values[0]))
        output = body(stdin, more)
        for sign, target in targets:
            self.save(target, output)
            self.perform([Value(sign), target], None, self)
        for tail in tails:
            output = self.run(tail, output)
        return Value() if targets and not tails else output

    def _document(self, node: SyntaxNode) -> Value:
        body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
        start = next((child for child in node.named_children if child.type == "heredoc_start"), None)
        if body is None:
            return Value(known=False)
        inner = [self.run(child) for child in body.named_children if child.type != "heredoc_content"]
        if not inner or (start is not None and start.text[:1] in "'\"\\"):
            return Value(body.text)
        return Value(body.text, False, joined(inner).hosts, joined(inner).source)

    def _pipeline(self, node: SyntaxNode, stdin: Value | None) -> Value:
        for child in node.named_children:
            stdin = self.run(child, stdin)
        return stdin or Value()

    def _for(self, node: SyntaxNode, stdin: Value | None) -> Value:
        names = [child.text for child in node.named_children if child.type == "variable_name"]
        values = [self.value(child) for child in node.named_children if child.type in _WORDS]
        bodies = [child for child in node.named_children if child.type == "do_group"]
        outputs = list[Value]()
        for value in (values or [Value("$@", known=False, source="$@")])[:20]:
            self.variables.update(dict.fromkeys(names, value))
            outputs += [self.run(body, stdin) for body in bodies]
        return joined(outputs)

    def _function(self, node: SyntaxNode, stdin: Value | None) -> Value:
        name, *body = node.named_children
        self.functions.update(dict.fromkeys([name.text], body[-1]) if body else {})
        return Value()

    def _assignments(self, node: SyntaxNode, stdin: Value | None) -> Value:
        """Variables without a command, or with `export`, `local` and the like."""
        for child in node.named_children or [node]:
            if child.type == "variable_assignment":
                _assigned(child, self)
        return Value()


def _assigned(node: SyntaxNode, flow: Flow) -> Value:
    setting = _setting(node, flow)
    name, _, text = setting.text.partition("=")
    flow.assign(name.rstrip("+"), replace(setting, text=text if setting.known or text else f"${name}"))
    flow.perform([setting], None, flow)
    return Value()


def _setting(node: SyntaxNode, flow: Flow) -> Value:
    """The whole assignment as one word."""
    name, *rest = node.named_children
    return joined([Value(f"{name.text}="), *(flow.run(part) for part in rest)])


def _decoded(text: str) -> Value:
    try:
        return Value(text.encode("latin-1", "backslashreplace").decode("unicode_escape"))
    except UnicodeDecodeError:
        return Value(text, known=False, source="an encoded string")


def _quoted(raw: bytes) -> Value:
    return Value(re.sub(r'\\([$`"\\])|\\\n', r"\1", raw.decode("utf-8", "replace")))


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path


_REDIRECTS = ("file_redirect", "herestring_redirect", "heredoc_redirect")
_STATEMENTS: dict[str, Callable[[Flow, SyntaxNode, Value | None], Value]] = {
    "command": Flow._command,
    "redirected_statement": Flow._redirected,
    "pipeline": Flow._pipeline,
    "for_statement": Flow._for,
    "function_definition": Flow._function,
    "variable_assignment": lambda flow, node, _: _assigned(node, flow),
    "declaration_command": Flow._assignments,
    "comment": lambda *_: Value(),
    "variable_name": lambda *_: Value(),
    "heredoc_body": lambda *_: Value(),
}
