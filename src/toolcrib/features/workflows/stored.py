"""Reads stored workflows; a file that cannot be read becomes an entry with its problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from toolcrib.features.workflows.files import WorkflowFile
from toolcrib.features.workflows.graph.files import read_workflow
from toolcrib.features.workflows.graph.problems import InvalidWorkflow
from toolcrib.schema.workflows import Workflow, WorkflowProblem


@dataclass(frozen=True, kw_only=True)
class StoredWorkflow:
    """A workflow as it is stored; None if its file cannot be read."""

    name: str
    version: str
    changed: datetime
    workflow: Workflow | None
    problems: Sequence[WorkflowProblem] = ()

    @property
    def readable(self) -> Workflow:
        """The workflow; raises `InvalidWorkflow` if its file cannot be read."""
        if self.workflow is None:
            raise InvalidWorkflow(self.problems, name=self.name)
        return self.workflow


def read_file(file: WorkflowFile) -> StoredWorkflow:
    """The workflow of a file; its name is the file's."""
    workflow: Workflow | None = None
    problems: Sequence[WorkflowProblem] = ()
    try:
        workflow = read_workflow(file.content)
    except InvalidWorkflow as error:
        problems = error.problems
    if workflow is not None and workflow.name != file.name:
        workflow = workflow.model_copy(update={"name": file.name})
    return StoredWorkflow(
        name=file.name, version=file.version, changed=file.changed, workflow=workflow, problems=problems
    )
