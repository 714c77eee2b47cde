"""Puts a person's answers where an entry needs them; what is secret goes to the secret store instead.

An entry of a plan holds `${answer:KEY}`. As a whole argument, a list becomes several arguments, and a missing
answer none at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolcrib.errors import UsageError
from toolcrib.servers.installing.plan import Question

_SLOT = re.compile(r"\$\{answer:([^}]+)\}")


@dataclass(frozen=True)
class Filled:
    """The entry as it will stand in the file, and the secrets that it refers to."""

    entry: dict[str, Any]
    secrets: dict[str, str] = field(default_factory=dict, repr=False)


def slot(key: str) -> str:
    """Where the answer to this question goes."""
    return f"${{answer:{key}}}"


def literal(text: str) -> str:
    """Text of others, so that no reference in it is filled in from the person's variables or secrets."""
    return text.replace("${", "$${")


def fill(
    name: str, entry: Mapping[str, Any], questions: Sequence[Question], answers: Mapping[str, Any]
) -> Filled:
    """The entry with every answer in its place; raises `UsageError` for one that is missing or wrong."""
    known = {question.key: question for question in questions}
    for key in answers:
        if key not in known:
            listed = ", ".join(known) or "none"
            raise UsageError(f"{name} asks nothing called {key!r}.", hint=f"It asks: {listed}.")
    filler = _Filler(name, known, answers)
    for question in questions:
        filler.check(question)
    result: dict[str, Any] = {key: value for key, value in entry.items() if key not in ("args", "env")}
    arguments = [word for argument in entry.get("args", ()) for word in filler.words(argument)]
    variables = {key: filler.text(value) for key, value in entry.get("env", {}).items()}
    if arguments:
        result["args"] = arguments
    if kept := {key: value for key, value in variables.items() if value is not None}:
        result["env"] = kept
    return Filled(result, filler.secrets)


class _Filler:
    def __init__(self, name: str, known: Mapping[str, Question], answers: Mapping[str, Any]) -> None:
        self._name = name
        self._known = known
        self._answers = answers
        self.secrets: dict[str, str] = {}

    def check(self, question: Question) -> None:
        values = self._values(question.key)
        if question.required and not values:
            raise UsageError(
                f"{self._name} needs {question.title or question.key}, and it was not given.",
                hint=f"Give it with: --set {question.key}=VALUE",
            )
        if len(values) > 1 and not question.multiple:
            raise UsageError(f"{question.key} takes one value.", hint=f"Give --set {question.key}=… once.")
        for value in values:
            _check_value(question, value)

    def words(self, argument: str) -> list[str]:
        whole = _SLOT.fullmatch(argument)
        if whole is None:
            filled = self.text(argument)
            return [] if filled is None else [filled]
        return self._shown(whole[1])

    def text(self, template: str) -> str | None:
        """None when the template is about an answer that nobody gave."""
        missing = [key for key in _SLOT.findall(template) if not self._values(key)]
        if missing:
            return None
        return _SLOT.sub(lambda match: ",".join(self._shown(match[1])), template)

    def _values(self, key: str) -> list[Any]:
        question = self._known.get(key)
        given = self._answers.get(key, question.default if question else None)
        if given is None or given == "":
            return []
        return list(given) if isinstance(given, list | tuple) else [given]

    def _shown(self, key: str) -> list[str]:
        values = [_text(value) for value in self._values(key)]
        if not self._known[key].secret:
            return [literal(value) for value in values]
        shown = []
        for number, value in enumerate(values):
            secret = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{self._name}.{key}{f'.{number}' if number else ''}")
            secret = secret.lstrip(".-")[:100]
            self.secrets[secret] = value
            shown.append(f"${{secret:{secret}}}")
        return shown


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value)
    return str(Path(text).expanduser()) if text.startswith("~/") else text


def _check_value(question: Question, value: Any) -> None:
    text = _text(value)
    if question.choices and text not in question.choices:
        raise UsageError(
            f"{question.key} cannot be {text!r}.", hint=f"One of: {', '.join(question.choices)}."
        )
    if question.kind == "boolean" and text not in ("true", "false"):
        raise UsageError(f"{question.key} is yes or no.", hint=f"Give --set {question.key}=true or =false.")
    if question.kind != "number":
        return
    try:
        number = float(text)
    except ValueError:
        raise UsageError(f"{question.key} is a number.") from None
    least, most = question.minimum, question.maximum
    if (least is not None and number < least) or (most is not None and number > most):
        raise UsageError(f"{question.key} lies between {least} and {most}.")
