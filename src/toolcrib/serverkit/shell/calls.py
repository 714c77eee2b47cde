"""One program with its words, for `effects.py`: its options and operands, the hosts of addresses, and how
programs, files and hosts are written in a sentence.

A word that is not plain is quoted, so that no file name reads as a part of the sentence.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from toolcrib.serverkit.shell.flow import Effect, Flow, Value, joined, united

RUNS_DOWNLOAD, HIDDEN, SENDS, DELETES, CHANGES, PLAIN, FETCHES = range(7)
"""The order in which effects are told."""
LATER = "an address that is only known when it runs"
_LONGEST = 72
FOUND = "…"
"""The text of a word that stands for files which another command finds."""
UNKNOWN = ", which Toolcrib does not know"
UNSURE = ", which may change something"
UNLISTED = ", with options that Toolcrib does not know"
Option = tuple[str, Value]


@cache
def programs() -> dict[str, Any]:
    """The tables of `programs.toml`."""
    return tomllib.loads(Path(__file__).with_name("programs.toml").read_text("utf-8"))


@dataclass(frozen=True)
class ProgramCall:
    """A program with its words and its input, without the programs that only start it."""

    name: str
    words: Sequence[Value]
    stdin: Value | None
    flow: Flow
    syntax: str = ""
    """Whose options it takes, if not its own."""

    def taking(self, words: Sequence[Value], stdin: Value | None = None) -> ProgramCall:
        """The same program with other words."""
        return replace(self, words=words, stdin=stdin)

    @cached_property
    def _split(self) -> tuple[list[Option], list[Value]]:
        return self._options_of(list(self.words), until_operand=False)

    @property
    def options(self) -> list[Option]:
        return self._split[0]

    @property
    def operands(self) -> list[Value]:
        return self._split[1]

    def before_program(self) -> tuple[list[Option], list[Value]]:
        """The options of a program that starts another one, and that one with its words."""
        return self._options_of(list(self.words), until_operand=True)

    def _options_of(self, left: list[Value], *, until_operand: bool) -> tuple[list[Option], list[Value]]:
        letters, long = _taking(self.syntax or self.name)
        options, operands = list[Option](), list[Value]()
        while left:
            word = left.pop(0)
            name, sign, given = word.text[2:].partition("=")
            if word.text == "--":
                break
            if not word.text.startswith("-") or word.text == "-":
                operands.append(word)
                if until_operand:
                    break
            elif not word.text.startswith("--"):
                options += _short(word, left, letters)
            elif name in long and not sign and left:
                options.append((name, left.pop(0)))
            else:
                options.append((name, with_text(word, given)))
        return options, operands + left

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)

    def given(self, *names: str) -> list[Value]:
        """The values of these options."""
        return [value for name, value in self.options if name in names and value.text]

    def output(self) -> Value:
        """Whatever it prints is made of what it was given."""
        hosts = [self.stdin.hosts if self.stdin else (), *map(self.flow.origin, self.words)]
        return Value("", False, united(hosts), f"what {shown(self.name)} prints")

    def sent(self) -> str:
        """What a program that talks to a host gives away: its input, and words that other commands made."""
        sources = [word.source for word in self.words if word.source]
        sources += [] if self.stdin is None else [self.stdin.source or "text"]
        return names(map(source_shown, sources))

    def excerpt(self) -> str:
        return cut(shlex.join([self.name, *(word.text for word in self.words)]))


def _taking(name: str) -> tuple[str, list[str]]:
    """The letters and the long names of options that take the next word."""
    options = programs()["options"]
    letters, *long = options.get(name, options.get(re.sub(r"[\d.]+$", "", name), "-")).split()
    return letters, long


def _short(word: Value, left: list[Value], letters: str) -> Iterator[Option]:
    for at, letter in enumerate(word.text[1:], 1):
        if letter in letters:
            rest = word.text[at + 1 :]
            yield letter, with_text(word, rest) if rest or not left else left.pop(0)
            return
        yield letter, Value()


def with_text(word: Value, text: str) -> Value:
    return replace(word, text=text)


def run_text(call: ProgramCall, text: Value) -> Value:
    """What a text does that is run as commands."""
    hosts = call.flow.origin(text)
    if text.known and not hosts:
        return call.flow.run_text(text.text, call.stdin)
    if hosts:
        runs_download(call.flow, hosts)
        return call.output()
    source = source_shown(text.source or text.text)
    call.flow.note(f"runs commands that are only known when it runs: {source}", rank=HIDDEN, once=True)
    return call.flow.run_text(text.text, call.stdin)


MAY_RUN = "may run what it gets"


def runs_download(flow: Flow, hosts: tuple[str, ...], *, surely: bool = True) -> None:
    what = "a program from {} and runs it" if surely else f"from {{}} and {MAY_RUN}"
    flow.note(f"downloads {what.format(names(hosts))}", rank=RUNS_DOWNLOAD, once=True, hosts=hosts)


def may_be_downloaded(flow: Flow) -> None:
    """Something runs whose name is no download's, beside archives or repositories that were downloaded."""
    if flow.unpacked:
        runs_download(flow, flow.unpacked, surely=False)


def fetches(flow: Flow, hosts: tuple[str, ...], what: str = "", into: str = "") -> None:
    text = f"downloads {what}from {names(hosts)}{into}{flow.where}"
    flow.effects.append(Effect(text, FETCHES, hosts=hosts))


def cut(text: str) -> str:
    """Not longer than a line."""
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]}…{text[-half:]}"


def shown(text: str) -> str:
    """One word, quoted if a shell would need it quoted."""
    plain = re.fullmatch(r"[\w@%+=:,./~$*?{}<>()\[\]⟨⟩…-]*[\w/~*})\]…=+$@-]", text)
    return cut(text) if plain else shlex.quote(cut(text))


def source_shown(source: str) -> str:
    """What gives something unknown: words of ours, or text of the command."""
    return source if " " in source and source[0] not in "$`" else shown(source)


def names(words: Iterable[str]) -> str:
    listed = list(dict.fromkeys(words))
    if len(listed) > 3:
        return f"{', '.join(listed[:2])} and {len(listed) - 2} more"
    return " and ".join(filter(None, [", ".join(listed[:-1]), *listed[-1:]]))


def targets(values: Sequence[Value]) -> str:
    """Files, hosts or packages; of files that another command finds, which one."""
    return names(map(_target, values)) or "files"


def _target(value: Value) -> str:
    if value.text == FOUND:
        return value.source
    return "this folder" if value.text in (".", "./") else shown(value.text)


def host_of(value: Value) -> str:
    """The host of an address, as the programs read it; empty for a local file."""
    scheme, sign, rest = value.text.strip().partition("://")
    if scheme.lower() == "file" and sign:
        return ""
    whole = re.split(r"[/?#]", rest if sign else scheme, maxsplit=1)[0]
    if not whole or (not value.known and re.search(r"[$`…]", whole)):
        return LATER
    if "\\" in whole:
        return shown(whole)  # what comes after it is read differently by different programs
    host = re.sub(r":\d*$", "", whole.rpartition("@")[2]).lower()
    if host.isascii():
        return shown(host)
    try:
        return f"{shown(host)} ({host.encode('idna').decode()})"
    except UnicodeError:
        return shlex.quote(host)


def hosts_in(values: Iterable[Value]) -> tuple[str, ...]:
    """The hosts of addresses and of `user@host:path`."""
    found = (
        value if "://" in value.text else with_text(value, value.text.partition(":")[0]) for value in values
    )
    return united((host_of(value),) for value in found)


def all_text(call: ProgramCall, between: str = " ") -> Value:
    return joined(call.words, between)
