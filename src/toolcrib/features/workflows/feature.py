"""Declares workflows: typed graphs over the tools, planned by a model and run durably."""

from __future__ import annotations

from toolcrib.feature import Feature

FEATURE = Feature(
    name="workflows",
    title="Workflows",
    package="toolcrib.features.workflows",
    docs="workflows",
    operations=("operations.workflows", "operations.runs", "operations.triggers", "operations.planning"),
    results=("results.workflows", "results.runs", "results.triggers", "results.plans"),
    commands={"workflow": "commands.workflow", "worker": "commands.worker"},
    service="service:Workflows",
    open="startup:opened",
    background="startup:run_triggers",
    checks=("doctor",),
    waiting="operations.runs:waiting_questions",
    tables="tables",
    settings="settings:WorkflowSettings",
    routes="hooks",
    backup="backup",
)
