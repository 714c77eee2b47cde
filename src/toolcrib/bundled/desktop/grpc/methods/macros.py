"""RPCs for macros: stored, changed, run as operations."""

from __future__ import annotations

from typing import Any

from toolcrib.bundled.desktop.grpc.failures import invalid
from toolcrib.bundled.desktop.grpc.operations import Progress
from toolcrib.bundled.desktop.grpc.records import page_of, to_message, to_plain
from toolcrib.bundled.desktop.grpc.schema import Empty, v1
from toolcrib.bundled.desktop.grpc.served import ServedDesktop
from toolcrib.bundled.desktop.grpc.targets import last_part, parent_of
from toolcrib.bundled.desktop.macros.execution import (
    DEFAULT_TIMEOUT,
    ExecutionOptions,
    ExecutionStep,
)
from toolcrib.bundled.desktop.macros.model import Macro, read_macro
from toolcrib.bundled.desktop.operations.macros import runner_of, store_of
from toolcrib.bundled.desktop.records import write_record
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.threads import in_thread

PAGE = 50


class MacroMethods:
    def __init__(self, desktop: ServedDesktop) -> None:
        self._desktop = desktop
        self._store = store_of(desktop.session)
        self._runner = desktop.session.part(runner_of)

    async def create_macro(self, request: Any) -> Any:
        macro = _read(request.macro)
        return macro_message(await in_thread(self._store.create, macro, request.macro_id))

    async def get_macro(self, request: Any) -> Any:
        return macro_message(await self._find(request.name))

    async def list_macros(self, request: Any) -> Any:
        page, following = page_of(request, await in_thread(self._store.all), PAGE)
        return v1.ListMacrosResponse(
            macros=[macro_message(macro) for macro in page], next_page_token=following
        )

    async def update_macro(self, request: Any) -> Any:
        old = await self._find(request.macro.name)
        fields = list(request.update_mask.paths)
        # Only the fields that change have to be given.
        given = {**write_record(old), **{name: to_plain(request.macro).get(name) for name in fields}}
        changed = _read_plain(given) if fields and "*" not in fields else _read(request.macro)
        return macro_message(await in_thread(self._store.update, old.name, changed, fields))

    async def delete_macro(self, request: Any) -> Any:
        found = await self._find(request.name)
        await in_thread(self._store.delete, found.name)
        return Empty()

    async def execute_macro(self, request: Any) -> Any:
        """The operation's response says whether the macro succeeded; it fails only if it cannot start."""
        macro = await self._find(request.macro)
        application = parent_of(request.application, "application")
        started = v1.ExecuteMacroMetadata(macro=macro.name)

        async def work(progress: Progress) -> Any:
            def on_step(step: ExecutionStep) -> None:
                made = to_message(v1.ExecuteMacroMetadata, step)
                made.macro = macro.name
                made.elapsed_duration.FromNanoseconds(round(step.elapsed * 1e9))
                progress(made)

            running = self._runner.execute(
                macro.name,
                dict(request.parameter_values),
                "" if application is None else str(application),
                _options(request),
                on_step,
            )
            result = await self._desktop.stopping.run(running)
            return to_message(v1.ExecuteMacroResponse, result)

        return self._desktop.operations.start("executeMacro", started, work)

    async def _find(self, name: str) -> Macro:
        last_part(name, "macros")
        return await in_thread(self._store.get, name)


offer_methods = MacroMethods


def macro_message(macro: Macro) -> Any:
    return to_message(v1.Macro, macro)


def _read(message: Any) -> Macro:
    return _read_plain(to_plain(message))


def _read_plain(value: dict[str, Any]) -> Macro:
    try:
        return read_macro(value)
    except ToolFailure as error:
        raise invalid("INVALID_FORMAT", error.message, "macro") from None


def _options(request: Any) -> ExecutionOptions:
    given = request.options
    return ExecutionOptions(
        speed=given.speed or 1.0,
        continue_on_error=given.continue_on_error,
        timeout=given.timeout or DEFAULT_TIMEOUT,
    )
