"""Which elements are meant: by role, text, position or attributes, combined with and, or and not. Has other
names of roles (button, textbox, dropdown), the short form `role:button`, limits for patterns, and the errors.

A selector is a JSON object such as `{"role": "button", "text": "Save"}` (all keys must match), or the short
form `role:button`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

from toolcrib.bundled.desktop.backend import Element
from toolcrib.bundled.desktop.geometry import Point
from toolcrib.serverkit.context import ToolFailure
from toolcrib.suggestions import did_you_mean

Test = Callable[[Element], bool]
MAX_PATTERN = 200
DEEPEST = 8
DEFAULT_TOLERANCE = 0
_ROLES = {
    "button": {"push button", "toggle button", "push button menu"},
    "textbox": {"text", "entry", "password text"},
    "textfield": {"text", "entry", "password text"},
    "text": {"text", "entry", "password text"},
    "input": {"text", "entry", "password text"},
    "textarea": {"text", "entry"},
    "checkbox": {"check box", "check menu item"},
    "radio": {"radio button", "radio menu item"},
    "combobox": {"combo box"},
    "popupbutton": {"combo box"},
    "dropdown": {"combo box"},
    "menuitem": {"menu item", "check menu item", "radio menu item", "menu"},
    "tab": {"page tab"},
    "link": {"link"},
    "window": {"frame", "dialog", "window", "alert", "file chooser"},
    "statictext": {"label", "static", "paragraph"},
    "label": {"label", "static"},
    "image": {"image", "icon"},
    "cell": {"table cell"},
    "row": {"table row", "list item", "tree item"},
}


@dataclass(frozen=True)
class Selector:
    test: Test
    needs_places: bool
    """Whether the places of elements must be known before the test."""

    def matches(self, element: Element) -> bool:
        return self.test(element)


def parse_selector(given: Mapping[str, Any] | str) -> Selector:
    """Raises `ToolFailure` with what is wrong."""
    raw = _short_form(given) if isinstance(given, str) else given
    return Selector(_parse(raw, 0), _mentions_places(raw, 0))


def _short_form(text: str) -> dict[str, Any]:
    kind, separator, value = text.partition(":")
    key = {"textContains": "text_contains", "textRegex": "text_regex"}.get(kind.strip(), kind.strip())
    if separator and key in ("role", "text", "text_contains", "text_regex"):
        return {key: value.strip()}
    return {"role": text.strip()}


def _parse(raw: Any, depth: int) -> Test:
    if not isinstance(raw, Mapping) or not raw:
        raise ToolFailure("A selector is an object with at least one key.", 'Such as {"role": "button"}.')
    if depth > DEEPEST:
        raise ToolFailure("The selector is nested too deeply.")
    return _all([_parse_key(key, value, depth) for key, value in raw.items()])


def _parse_key(key: str, value: Any, depth: int) -> Test:
    if key in ("and", "or"):
        tests = [_parse(selector, depth + 1) for selector in _listed(key, value)]
        return _all(tests) if key == "and" else _any(tests)
    if key == "not":
        inner = _parse(value, depth + 1)
        return lambda element: not inner(element)
    if key == "compound":
        return _compound(value, depth)
    reader = _READERS.get(key)
    if reader is None:
        names = [*_READERS, "and", "or", "not", "compound"]
        raise ToolFailure(f"A selector has no key {key!r}.", did_you_mean(key, names))
    return reader(value)


def _compound(value: Any, depth: int) -> Test:
    """The form of the gRPC interface."""
    operator = str(value.get("operator", "")).upper() if isinstance(value, Mapping) else ""
    name = {"AND": "and", "OR": "or", "NOT": "not"}.get(operator.removeprefix("OPERATOR_"))
    if name is None:
        raise ToolFailure("The operator of a compound selector is AND, OR or NOT.")
    selectors = _listed("compound", value.get("selectors"))
    if name == "not":
        inner = _any([_parse(selector, depth + 1) for selector in selectors])
        return lambda element: not inner(element)
    return _parse_key(name, selectors, depth)


def _listed(key: str, value: Any) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise ToolFailure(f"{key!r} needs a list of selectors.")
    return value


def _all(tests: list[Test]) -> Test:
    return tests[0] if len(tests) == 1 else lambda element: all(test(element) for test in tests)


def _any(tests: list[Test]) -> Test:
    return lambda element: any(test(element) for test in tests)


def normal_role(role: str) -> str:
    return re.sub(r"[\s_-]+", "", role.casefold()).removeprefix("ax")


def _role(value: Any) -> Test:
    wanted = normal_role(_text("role", value))
    several = _ROLES.get(wanted)
    if several is not None:
        return lambda element: element.role in several
    return lambda element: normal_role(element.role) == wanted


def _exact(value: Any) -> Test:
    wanted = _folded(_text("text", value))
    return lambda element: any(_folded(text) == wanted for text in _texts(element))


def _contains(value: Any) -> Test:
    wanted = _folded(_text("text_contains", value))
    return lambda element: any(wanted in _folded(text) for text in _texts(element))


def _regex(value: Any) -> Test:
    pattern = _compile(_text("text_regex", value))
    return lambda element: any(pattern.search(text) for text in _texts(element))


def _position(value: Any) -> Test:
    numbers = value if isinstance(value, Mapping) else {}
    try:
        point = Point(round(numbers["x"]), round(numbers["y"]))
        tolerance = round(numbers.get("tolerance", DEFAULT_TOLERANCE))
    except (KeyError, TypeError, ValueError):
        raise ToolFailure("A position has x and y in screen coordinates, and may have a tolerance.") from None

    def test(element: Element) -> bool:
        return element.rect is not None and element.rect.grown(tolerance).contains(point)

    return test


def _attributes(value: Any) -> Test:
    if not isinstance(value, Mapping) or not value:
        raise ToolFailure("'attributes' is an object of names and values.", 'Such as {"checked": "true"}.')
    wanted = {str(name): _folded(str(text)) for name, text in value.items()}
    return lambda element: all(_folded(attribute(element, name)) == text for name, text in wanted.items())


def attribute(element: Element, name: str) -> str:
    """A named property of an element as text; a state is `true` or `false`."""
    if name in ("name", "role", "description"):
        return str(getattr(element, name))
    if name in ("value", "text"):
        return element.text or ""
    if name == "visible":
        return str(element.visible).lower()
    if name == "enabled":
        return str(is_enabled(element)).lower()
    return element.attributes.get(name) or str(name.replace("_", " ") in element.states).lower()


def is_enabled(element: Element) -> bool:
    return bool(element.states & {"enabled", "sensitive"})


_READERS: dict[str, Callable[[Any], Test]] = {
    "role": _role,
    "text": _exact,
    "text_contains": _contains,
    "contains": _contains,
    "text_regex": _regex,
    "regex": _regex,
    "position": _position,
    "attributes": _attributes,
}


def _mentions_places(raw: Any, depth: int) -> bool:
    if isinstance(raw, Mapping):
        return "position" in raw or any(_mentions_places(inner, depth + 1) for inner in raw.values())
    return isinstance(raw, list) and any(_mentions_places(inner, depth + 1) for inner in raw)


def _texts(element: Element) -> list[str]:
    return [text for text in (element.name, element.text, element.description) if text]


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ToolFailure(f"{key!r} needs a text.")
    return value


def _folded(text: str) -> str:
    return " ".join(text.replace("…", "...").casefold().split())


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        if len(pattern) > MAX_PATTERN or _can_explode(_parser.parse(pattern), False):
            raise ToolFailure(
                "The regular expression is too complex.", "Avoid repetitions inside repetitions."
            )
        return re.compile(pattern, re.IGNORECASE)
    except (re.error, RecursionError) as error:
        raise ToolFailure(f"The regular expression is not valid: {error}.") from None


def _can_explode(parsed: Any, repeated: bool) -> bool:
    """Whether a repetition is inside another, which can take time without end in Python's engine."""
    for operator, value in parsed:
        is_repeat = operator in (_constants.MAX_REPEAT, _constants.MIN_REPEAT) and value[1] > 1
        if is_repeat and repeated:
            return True
        parts = value if isinstance(value, tuple | list) else (value,)
        for part in _patterns(parts):
            if _can_explode(part, repeated or is_repeat):
                return True
    return False


def _patterns(parts: Any) -> list[Any]:
    found = []
    for part in parts:
        if isinstance(part, _parser.SubPattern):
            found.append(part)
        elif isinstance(part, list):
            found += [pattern for pattern in part if isinstance(pattern, _parser.SubPattern)]
    return found
