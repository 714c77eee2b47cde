"""Which sed scripts only print: a parser of the part of sed's language that all versions read the same way.

A script is accepted if it is parsed to its end. Left out are the commands that run programs or read and
write files (`e`, `r`, `R`, `w`, `W`), texts (`a`, `i`, `c`), loops that may never end (`b`, `t`, `D`), and
whatever GNU, BSD and busybox end at different places: delimiters and most backslashes in brackets, brackets
that begin with `]`, escapes that stand for another character, lines that continue. Where sed has
`--sandbox`, the terminal adds it.
"""

from __future__ import annotations

import re

_BLANKS = " \t"
_DELIMITERS = "/|#,:@!%~_"
_PATTERN_ESCAPES = frozenset(".*[]^$(){}+?|\\-&\"'`<>=ntsSwWbB123456789")
_REPLACEMENT_ESCAPES = frozenset(".*[]^$(){}+?|\\-&\"'<>=nt0123456789ULEul")
_MEMBERS = re.compile(r"(?!\^?\])(?:\[:[a-z]+:\]|\\[nt]|[^]\[\\\n])+\]")
"""The rest of a bracket expression. A `]` does not come first, where it would be a member."""
_NUMBER = re.compile(r"\d+")
_FLAGS = re.compile(r"[gpiImM0-9]*")
_JOINING_LINES = re.compile(r":(?P<label>\w);[ \t]*N;[ \t]*\$![ \t]*b[ \t]*(?P=label)[;\n]")
"""The loop of `:a;N;$!ba;s/\\n/ /g`, which reads a line each time round."""
_ALONE = frozenset("pdqQ=nNPhHgGxlFz")
_WITH_NUMBER = frozenset("qQl")


class _Refused(Exception):
    """Not in the part of the language that is accepted."""


def only_prints(script: str) -> bool:
    """Whether a script is understood to its end and does nothing but print."""
    try:
        _Parser(script).script()
    except _Refused:
        return False
    return True


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def script(self) -> None:
        depth = 0
        self._match(_JOINING_LINES)
        while self._skip(_BLANKS + ";\n"):
            if self._peek() == "#":
                self._comment()
            elif self._take("}"):
                depth -= 1
                self._end_of_command()
            else:
                self._addresses()
                depth += self._command()
            if depth < 0:
                raise _Refused
        if depth:
            raise _Refused

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        """The next character; refuses the end of the script and the end of a line."""
        character = self._peek()
        if character in ("", "\n"):
            raise _Refused
        self._at += 1
        return character

    def _take(self, character: str) -> bool:
        found = self._peek() == character
        self._at += found
        return found

    def _skip(self, characters: str) -> bool:
        """Whether anything follows."""
        while self._peek() and self._peek() in characters:
            self._at += 1
        return self._at < len(self._text)

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found[0]

    def _comment(self) -> None:
        end = self._text.find("\n", self._at)
        self._at = len(self._text) if end < 0 else end

    def _addresses(self) -> None:
        if self._address():
            self._skip(_BLANKS)
            if self._take(","):
                self._skip(_BLANKS)
                relative = self._take("+") or self._take("~")
                if not (self._match(_NUMBER) if relative else self._address()):
                    raise _Refused
        self._skip(_BLANKS)
        if self._take("!"):
            self._skip(_BLANKS)

    def _address(self) -> bool:
        if self._take("$"):
            return True
        if self._match(_NUMBER):
            if self._take("~") and not self._match(_NUMBER):
                raise _Refused
            return True
        if self._take("/"):
            self._pattern("/")
            while self._peek() and self._peek() in "IM":
                self._at += 1
            return True
        return False

    def _command(self) -> int:
        """Take one command; 1 if it opens a block."""
        name = self._next()
        if name == "{":
            return 1
        if name in ("s", "y"):
            self._substitution(name)
        elif name in _WITH_NUMBER:
            self._skip(_BLANKS)
            self._match(_NUMBER)
        elif name not in _ALONE:
            raise _Refused
        self._end_of_command()
        return 0

    def _end_of_command(self) -> None:
        self._skip(_BLANKS)
        if self._peek() not in ("", ";", "\n", "}", "#"):
            raise _Refused

    def _substitution(self, name: str) -> None:
        delimiter = self._next()
        if delimiter not in _DELIMITERS:
            raise _Refused
        if name == "s":
            self._pattern(delimiter)
            self._replacement(delimiter, _REPLACEMENT_ESCAPES)
            self._match(_FLAGS)
        else:
            self._replacement(delimiter, frozenset("\\nt"))
            self._replacement(delimiter, frozenset("\\nt"))

    def _pattern(self, delimiter: str) -> None:
        while (character := self._next()) != delimiter:
            if character == "\\":
                self._escape(delimiter, _PATTERN_ESCAPES)
            elif character == "[" and delimiter in (self._match(_MEMBERS) or delimiter):
                raise _Refused

    def _replacement(self, delimiter: str, escapes: frozenset[str]) -> None:
        while (character := self._next()) != delimiter:
            if character == "\\":
                self._escape(delimiter, escapes)

    def _escape(self, delimiter: str, escapes: frozenset[str]) -> None:
        character = self._next()
        if character == delimiter:
            # An escaped delimiter is that character; `|` would be special in a pattern.
            if delimiter == "|":
                raise _Refused
        elif character not in escapes:
            raise _Refused
