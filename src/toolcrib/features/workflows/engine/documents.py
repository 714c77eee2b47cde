"""The input of a run: everything it needs (workflow, inputs with their defaults, recorded steps), fixed when
it starts.

A root run has its whole workflow in its document, so later versions of the file do not affect it. An item of
a map has only its item and the values it uses; its workflow is that of the root run.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa

from toolcrib.errors import NotFound, UsageError
from toolcrib.features.workflows.engine.database import RunDatabase, insert_once
from toolcrib.features.workflows.engine.dbos_internals import SystemSchema
from toolcrib.features.workflows.engine.serializer import JsonSerializer, shown
from toolcrib.features.workflows.engine.tables import runs
from toolcrib.features.workflows.graph.validation import compile_valid
from toolcrib.features.workflows.ports import RunInfo
from toolcrib.features.workflows.secret_inputs import NOTHING, LostSecrets, RunKey, SecretInputs, seal, unseal
from toolcrib.graph.compiled import CompiledGraph
from toolcrib.graph.trace import Outcome
from toolcrib.graph.walk import MapItem, Walk
from toolcrib.schema.workflows import Workflow

T = TypeVar("T")
Document = dict[str, Any]
MOST_CACHED = 200


async def insert_run(
    database: RunDatabase,
    run: str,
    workflow: str,
    created: float,
    *,
    parent: str | None = None,
    from_run: str | None = None,
    breakpoints: Iterable[str] = (),
) -> bool:
    """Whether it is new."""
    values = {
        "run": run,
        "workflow": workflow,
        "parent": parent,
        "from_run": from_run,
        "created": created,
        "paused": False,
        "breakpoints": json.dumps(sorted(set(breakpoints))),
        "paused_at": "[]",
        "passed": "[]",
    }
    return await database.run(lambda connection: insert_once(connection, runs, **values))


@dataclass(frozen=True)
class RunPlan:
    """A root run, compiled."""

    graph: CompiledGraph
    inputs: Mapping[str, Any]
    facts: Mapping[str, Any]
    """What `{{run.…}}` leads to."""
    parent: str | None
    depth: int
    recorded: tuple[Mapping[str, Any], ...]
    """Traces taken over from an earlier run."""
    results_of: tuple[str, ...]
    """See `RunInfo`."""
    secrets: SecretInputs

    def walk(self, item: MapItem | None = None) -> tuple[Walk, list[str]]:
        """A walk at its beginning, or after the steps that were taken over; and those steps."""
        walk = Walk(self.graph, self.inputs, self.facts, item)
        outcomes = {trace["step"]: Outcome.of(trace) for trace in self.recorded} if item is None else {}
        return walk, walk.take_over(outcomes)


def root_document(
    workflow: Workflow,
    inputs: Mapping[str, Any],
    *,
    run: str,
    started: str,
    parent: str | None = None,
    depth: int = 0,
    recorded: tuple[Mapping[str, Any], ...] = (),
    results_of: Collection[str] = (),
) -> Document:
    return {
        "format": 1,
        "workflow": workflow.model_dump(mode="json", by_alias=True, exclude_defaults=True),
        "inputs": dict(inputs),
        "run": {"id": run, "started": started},
        "parent": parent,
        "depth": depth,
        "recorded": list(recorded),
        "results_of": sorted(results_of),
    }


def item_document(root: str, path: str, item: MapItem, secrets: SecretInputs) -> Document:
    """`path` is the prefix of the item's steps, such as `each[3]/`."""
    part = {"item": secrets.hide(item.item), "values": secrets.hide(item.values)}
    return {
        "format": 1,
        "root": root,
        "path": path,
        "item": {"map": item.map, "index": item.index, **part},
    }


def map_item(document: Document, secrets: SecretInputs) -> MapItem | None:
    """The item of a map that this is the document of."""
    if (stored := document.get("item")) is None:
        return None
    part = {key: secrets.reveal(stored[key]) for key in ("item", "values")}
    return MapItem(map=stored["map"], index=stored["index"], **part)


class Documents:
    """Compiled root runs, kept while they are used."""

    def __init__(self, database: RunDatabase, serializer: JsonSerializer, key: RunKey) -> None:
        self._database = database
        self._serializer = serializer
        self._key = key
        self._plans: OrderedDict[str, RunPlan] = OrderedDict()
        self._shown: OrderedDict[str, RunPlan] = OrderedDict()
        self._graphs: OrderedDict[str, CompiledGraph] = OrderedDict()

    async def plan(self, root: str, document: Document | None = None) -> RunPlan:
        """The plan of a root run; its document is read if it is not given. Raises `LostSecrets`."""
        if (plan := self._plans.get(root)) is None:
            document = document or await self.read(root)
            graph = self.graph(document["workflow"], compile_valid)
            secrets = await self.secrets(document)
            plan = _kept(self._plans, root, _plan(graph, document, secrets))
        return plan

    async def plan_to_show(self, root: str) -> RunPlan:
        """The plan of a run to look at; its signature is not checked, and nothing may run by it.

        If its secrets cannot be read, it has marks instead of them.
        """
        if (plan := self._plans.get(root) or self._shown.get(root)) is None:
            document: Document = shown(await self._stored(root))["args"][0]
            try:
                secrets = await self.secrets(document)
            except LostSecrets:
                secrets = NOTHING
            graph = self.graph(document["workflow"], compile_valid)
            plan = _kept(self._shown, root, _plan(graph, document, secrets))
        return plan

    async def secrets(self, document: Document) -> SecretInputs:
        """The secret values of a root run; raises `LostSecrets`."""
        if "sealed" in document:
            return await unseal(document, document["run"]["id"], self._key)
        declared = document["workflow"].get("inputs", {})
        own = {
            name: value for name, value in document["inputs"].items() if declared.get(name, {}).get("secret")
        }
        return SecretInputs({name: value for name, value in own.items() if value}) if own else NOTHING

    async def seal(self, document: Document, others: SecretInputs = NOTHING) -> Document:
        """A new document as it is stored: its secrets encrypted, and elsewhere replaced.

        `others` are the secrets of the run that it comes from.
        """
        workflow, inputs = Workflow.model_validate(document["workflow"]), document["inputs"]
        run, recorded = document["run"]["id"], document["recorded"]
        secrets = await seal(workflow, inputs, run, self._key, others, recorded)
        if not secrets.values:
            return document
        own = {name: secrets.whole(name) for name in secrets.values if name in inputs}
        return {
            **document,
            "inputs": {**secrets.hide(inputs), **own},
            "recorded": secrets.hide(recorded),
            "sealed": secrets.sealed(),
        }

    def graph(
        self, workflow: Mapping[str, Any], compile_with: Callable[[Workflow], CompiledGraph]
    ) -> CompiledGraph:
        """Runs of the same workflow share one graph; raises what `compile_with` raises."""
        text = json.dumps(workflow, sort_keys=True)
        if (graph := self._graphs.get(text)) is None:
            graph = _kept(self._graphs, text, compile_with(Workflow.model_validate(workflow)))
        return graph

    async def read(self, run: str) -> Document:
        """What a run was started with; raises `NotFound`, `RefusedValue`."""
        document: Document = self._serializer.deserialize(await self._stored(run))["args"][0]
        self._serializer.check_run(document, run)
        return document

    async def _stored(self, run: str) -> str:
        table = SystemSchema.workflow_input
        query = sa.select(table.c.inputs).where(table.c.workflow_uuid == run)
        text = await self._database.run(lambda connection: connection.execute(query).scalar())
        if text is None:
            raise NotFound(f"There is no run {run!r}.", hint="List the runs: toolcrib workflow runs.")
        return str(text)


def _kept(cache: OrderedDict[str, T], key: str, value: T) -> T:
    cache[key] = value
    if len(cache) > MOST_CACHED:
        cache.popitem(last=False)
    return value


def _plan(graph: CompiledGraph, document: Document, secrets: SecretInputs) -> RunPlan:
    return RunPlan(
        graph=graph,
        inputs=secrets.reveal(document["inputs"]),
        facts=document["run"],
        parent=document["parent"],
        depth=document["depth"],
        recorded=tuple(secrets.reveal(document["recorded"])),
        results_of=tuple(document.get("results_of", ())),
        secrets=secrets,
    )


def info_of(root: str, plan: RunPlan) -> RunInfo:
    workflow = plan.graph.workflow
    return RunInfo(id=root, workflow=workflow, parent=plan.parent, results_of=plan.results_of)


def complete_inputs(workflow: Workflow, given: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs with their defaults; raises `UsageError` for missing and unknown ones."""
    known = ", ".join(workflow.inputs) or "none"
    if unknown := [name for name in given if name not in workflow.inputs]:
        raise UsageError(f"{workflow.name} has no input {unknown[0]!r}.", hint=f"Its inputs: {known}.")
    missing = [
        name
        for name, parameter in workflow.inputs.items()
        if parameter.required and parameter.default is None
    ]
    if missing := [name for name in missing if name not in given]:
        raise UsageError(f"The input {missing[0]!r} is missing.", hint=f"Inputs of {workflow.name}: {known}.")
    return {name: given.get(name, parameter.default) for name, parameter in workflow.inputs.items()}
