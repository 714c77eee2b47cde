"""A reading that reuses what the last one made is the same as a first one."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from toolcrib.bundled.desktop.backend import Backend, ElementTree
from toolcrib.bundled.desktop.backends.x11 import open_backend
from toolcrib.bundled.desktop.backends.x11.atspi.last_reading import (
    MOST_ASKED,
    MOST_ELEMENTS,
    MOST_PROGRAMS,
    LastReading,
    LastReadings,
)
from toolcrib.bundled.desktop.elements.search import read_tree, wait_for
from toolcrib.bundled.desktop.elements.selector import parse_selector

SHOWING = 1 << 25
BUTTON = 43
AREA = parse_selector({"attributes": {"multi_line": "true", "editable": "true", "visible": "true"}})


def item(number: int, name: str = "Save", children: int = 0) -> list[Any]:
    """As a program's cache describes an element."""
    root = [":1.2", "/root"]
    return [[":1.2", f"/{number}"], root, root, number, children, [], name, BUTTON, "", [SHOWING, 0]]


def test_only_elements_that_changed_are_made_again() -> None:
    last, items = LastReading(), [item(1), item(2), item(3)]
    first = last.elements(items)
    later = copy.deepcopy(items[:2])
    later[1][6] = "Open"
    second = last.elements([*later, item(4)])
    assert second[0] is first[0]
    assert [each.element.name for each in second] == ["Save", "Open", "Save"]
    assert [each.place for each in second] == [1, 2, 4]


@pytest.mark.parametrize("field", [3, 4, 9])
def test_a_new_place_number_of_children_or_state_is_noticed(field: int) -> None:
    last = LastReading()
    before = last.elements([item(1)])
    changed = item(1)
    changed[field] = [0, 0] if field == 9 else 7
    assert last.elements([changed]) != before


def test_elements_of_a_very_large_program_are_not_kept() -> None:
    last = LastReading()
    items = [item(number) for number in range(MOST_ELEMENTS + 1)]
    first = last.elements(items)
    assert last.elements(copy.deepcopy(items))[0] is not first[0]


def test_few_elements_are_asked_early() -> None:
    last = LastReading()
    refs = [(":1.2", f"/{number}") for number in range(MOST_ASKED + 1)]
    last.note_incomplete(refs[1:])
    assert last.incomplete == refs[1:]
    last.note_incomplete(refs)
    assert last.incomplete == []


def test_the_programs_that_were_read_last_are_kept() -> None:
    kept, roots = LastReadings(), [(f":1.{number}", "/root") for number in range(MOST_PROGRAMS + 1)]
    first = kept.of(roots[0])
    second = kept.of(roots[1])
    assert kept.of(roots[0]) is first
    for root in roots[2:]:
        kept.of(root)
    assert kept.of(roots[0]) is first
    assert kept.of(roots[1]) is not second


@pytest.mark.parametrize("program", ["mousepad", "featherpad"])
async def test_a_repeated_reading_is_the_same_as_a_first_one(
    backend: Backend, programs: Programs, program: str
) -> None:
    process = programs.start(program)
    window = await window_of(backend, process)
    await wait_for(backend, process.pid, AREA, 20)
    await backend.windows.focus(window.id)

    async def is_the_same() -> bool:
        """The program may change between the two readings."""
        repeated = await read_tree(backend, process.pid)
        other = await open_backend(programs.target)
        try:
            return _described(await read_tree(other, process.pid)) == _described(repeated)
        finally:
            other.close()

    await eventually(is_the_same)
    await backend.input.type_text("some text", window.id)
    await eventually(is_the_same)
    await backend.input.press("ctrl+h" if program == "mousepad" else "ctrl+f", window.id)
    await eventually(is_the_same)


def _described(tree: ElementTree) -> tuple[bool, list[Any]]:
    assert len(tree.elements) > 50
    return tree.complete, [
        (each.ref, each.parent, each.role, each.name, each.states) for each in tree.elements
    ]
