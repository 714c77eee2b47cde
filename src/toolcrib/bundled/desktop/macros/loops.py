"""The rounds of a loop: a number of times, while a condition holds, or once for each item."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from toolcrib.bundled.desktop.macros.conditions import holds, matching_windows
from toolcrib.bundled.desktop.macros.model import ForEachLoop, LoopAction, MacroCondition
from toolcrib.bundled.desktop.macros.scope import MacroScope
from toolcrib.serverkit.context import ToolFailure

MAX_ROUNDS = 1_000
Item = dict[str, str]
"""What the variables of a round are set to, by the end of their names."""


async def rounds(scope: MacroScope, loop: LoopAction) -> AsyncIterator[int]:
    """Raises `ToolFailure` after too many."""
    if loop.count is not None:
        if not 0 <= loop.count <= MAX_ROUNDS:
            raise ToolFailure(f"A loop has at most {MAX_ROUNDS} rounds.")
        for number in range(loop.count):
            yield number
    elif loop.while_condition is not None:
        async for number in _while(scope, loop.while_condition):
            yield number
    elif loop.foreach is not None:
        async for number in _each(scope, loop.foreach):
            yield number


async def _while(scope: MacroScope, condition: MacroCondition) -> AsyncIterator[int]:
    number = 0
    while await holds(scope, scope.variables.fill_record(condition)):
        if number >= MAX_ROUNDS:
            raise ToolFailure(f"The loop was stopped after {MAX_ROUNDS} rounds.")
        yield number
        number += 1


async def _each(scope: MacroScope, loop: ForEachLoop) -> AsyncIterator[int]:
    """The items are collected once, before the first round."""
    items = await _items(scope, scope.variables.fill_record(loop))
    if len(items) > MAX_ROUNDS:
        raise ToolFailure(f"The loop has {len(items)} items; at most {MAX_ROUNDS} are allowed.")
    for number, item in enumerate(items):
        for ending, value in item.items():
            scope.variables.assign(f"{loop.item_variable}{ending}", value)
        yield number


async def _items(scope: MacroScope, loop: ForEachLoop) -> list[Item]:
    if loop.element_selector is not None:
        return await _elements(scope, loop.element_selector)
    if loop.window_pattern is not None:
        found = matching_windows(await scope.backend.windows.list(), loop.window_pattern)
        return [{"": str(each.id), "_title": each.title} for each in found]
    return [{"": value} for value in read_values(loop.values or "")]


async def _elements(scope: MacroScope, selector: str) -> list[Item]:
    """Their ids, which stay bound to the elements that were found, with their names and roles."""
    _, found = await scope.find(selector)
    snapshot = scope.snapshots.add(found.tree)
    visible = [each for each in found.matches if each.visible]
    return [{"": snapshot.id_of(each), "_name": each.name, "_role": each.role} for each in visible]


def read_values(text: str) -> list[str]:
    """A JSON list of texts or numbers, or texts separated by commas."""
    if not text.lstrip().startswith("["):
        return [each.strip() for each in text.split(",") if each.strip()]
    try:
        found = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ToolFailure(f"The values of the loop are not a valid list: {error}.") from None
    return [each if isinstance(each, str) else json.dumps(each) for each in found]
