"""Ready-made workflows: the files of `workflows/templates`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from toolcrib.schema.workflows import Workflow


@cache
def templates() -> list[Workflow]:
    """All templates, by name."""
    folder = files("toolcrib.features.workflows") / "templates"
    texts = [file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".json")]
    return sorted((Workflow.model_validate_json(text) for text in texts), key=lambda template: template.name)
