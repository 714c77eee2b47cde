"""Runs inside a run: the items of a map, and sub-workflows.

They are workflows of DBOS of their own, with ids that follow from the visit. A visit that runs again after a
restart finds them by their ids and waits for the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from dbos import DBOS

from toolcrib.errors import CallFailed, UsageError
from toolcrib.features.workflows.engine.active_run import ActiveRun, ParentVisit
from toolcrib.features.workflows.engine.dbos_internals import DBOSAwaitedWorkflowCancelledError
from toolcrib.features.workflows.engine.documents import (
    Document,
    complete_inputs,
    insert_run,
    item_document,
    root_document,
)
from toolcrib.features.workflows.engine.outcomes import FinalOutcome, final_outcome, result_of
from toolcrib.features.workflows.engine.runtime import outside_of_runs
from toolcrib.features.workflows.engine.serializer import CALLED, RunFailed
from toolcrib.features.workflows.graph.validation import compile_workflow
from toolcrib.features.workflows.secret_inputs import without_marks
from toolcrib.graph.trace import checked_value
from toolcrib.graph.walk import MapItem, Visit

DEEPEST = 10
"""Levels of sub-workflows."""


class ItemFailed(CallFailed):
    """An item of a map failed."""

    kind = "item_failed"


class SubWorkflowFailed(CallFailed):
    """A sub-workflow failed or was cancelled."""

    kind = "sub_workflow_failed"


class Children:
    """The runs that belong to visits of one run."""

    def __init__(self, execution: ActiveRun) -> None:
        self._execution = execution
        self._active: set[str] = set()

    async def run_map(self, context: ParentVisit, visit: Visit) -> dict[str, Any]:
        """The results of all items, at most `at_once` at a time."""
        settings: Any = visit.settings
        results: list[Any] = [None] * len(settings.items)
        errors: dict[int, str] = {}
        items = iter(enumerate(settings.items))
        values = self._execution.walk.values_for(visit.node)

        async def work(remaining: Iterator[tuple[int, Any]]) -> None:
            for index, item in remaining:
                try:
                    results[index] = await self._item(context, visit, index, item, values)
                except RunFailed as error:
                    if settings.on_error == "stop":
                        raise ItemFailed(
                            f"Item {index}: {error}", hint='Or set on_error to "continue".'
                        ) from None
                    errors[index] = str(error)

        with context.waiting():
            await self._all(work(items) for _ in range(min(settings.at_once, len(results))))
        failed = [{"index": index, "message": errors[index]} for index in sorted(errors)]
        return checked_value(  # type: ignore[no-any-return]
            {"results": results, "count": len(results), "failed": len(failed), "errors": failed}
        )

    async def run_workflow(
        self, context: ParentVisit, name: str, inputs: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """The outputs of a sub-workflow."""
        child = _attempt_id(f"{self._execution.run}/{context.step.rpartition('/')[2]}", context.attempt)
        context.note("sub_workflow", workflow=name, run=child)
        try:
            if (outcome := await final_outcome(self._execution.database, child)) is None:
                document = await self._sub_document(child, name, inputs)
                result = await self._run(child, document)
            else:
                result = self._result(child, outcome)
        except RunFailed as error:
            await self._add_results(error.error)
            raise SubWorkflowFailed(
                f"{name}: {without_marks(str(error))}", hint=f"See the run {child}."
            ) from None
        await self._add_results(result)
        secrets = (await self._execution.documents.plan(child)).secrets
        return dict(secrets.reveal(result["outputs"]))

    async def _add_results(self, outcome: Mapping[str, Any]) -> None:
        await self._execution.services.add_results(self._execution.info, outcome.get(CALLED, ()))

    async def _sub_document(self, child: str, name: str, inputs: Mapping[str, Any]) -> Document:
        execution = self._execution
        if execution.plan.depth >= DEEPEST:
            raise UsageError(f"Sub-workflows are nested more than {DEEPEST} levels deep.")
        workflow = await execution.services.find_workflow(name, execution.info)
        compile_workflow(workflow)
        now = execution.clock.now()
        await insert_run(execution.database, child, name, now.timestamp(), parent=execution.root)
        document = root_document(
            workflow,
            complete_inputs(workflow, inputs),
            run=child,
            started=now.isoformat(),
            parent=execution.root,
            depth=execution.plan.depth + 1,
            results_of=execution.services.tools_called(execution.info),
        )
        return await execution.documents.seal(document, execution.plan.secrets)

    async def _item(
        self, context: ParentVisit, visit: Visit, index: int, item: Any, values: Mapping[str, Any]
    ) -> Any:
        """One item. A second attempt of the map repeats only the items that failed."""
        name = f"{visit.step}[{index}]"
        for attempt in range(1, context.attempt):
            earlier_id = _attempt_id(f"{self._execution.run}/{name}", attempt)
            earlier = await final_outcome(self._execution.database, earlier_id)
            if earlier is not None and earlier.status == "SUCCESS":
                return self._execution.plan.secrets.reveal(self._result(earlier_id, earlier)["outputs"])
        part = MapItem(map=visit.node, item=item, index=index, values=values)
        path = f"{self._execution.path}{_attempt_id(name, context.attempt)}/"
        secrets = self._execution.plan.secrets
        document = item_document(self._execution.root, path, part, secrets)
        child = _attempt_id(f"{self._execution.run}/{name}", context.attempt)
        return secrets.reveal((await self._run(child, document))["outputs"])

    def _result(self, child: str, outcome: FinalOutcome) -> Any:
        serializer = self._execution.serializer
        result = result_of(outcome, serializer)
        serializer.check_run(result, child)
        return result

    async def _run(self, child: str, document: Document) -> Any:
        """Start a child, or find it, and wait for its result; raises `RunFailed`."""
        self._active.add(child)
        try:
            result = await outside_of_runs(lambda: start_and_wait(child, document))
            self._execution.serializer.check_run(result, child)
            return result
        except DBOSAwaitedWorkflowCancelledError:
            raise RunFailed({"kind": "cancelled", "message": "It was cancelled."}) from None
        except asyncio.CancelledError:
            if self._execution.given_up:
                await outside_of_runs(lambda: DBOS.cancel_workflow_async(child, cancel_children=True))
            raise
        finally:
            self._active.discard(child)

    async def _all(self, works: Iterator[Any]) -> None:
        """Run all, and stop all when one fails, with its error."""
        tasks = [asyncio.create_task(work) for work in works]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def start_and_wait(run: str, document: Document) -> Any:
    from toolcrib.features.workflows.engine.interpreter import start

    handle = await start(run, document)
    return await handle.get_result()


def _attempt_id(name: str, attempt: int) -> str:
    return name if attempt == 1 else f"{name}~{attempt}"
