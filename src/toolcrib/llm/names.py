"""Names of models: `vendor:model`, or `demo`."""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.errors import NoModel


@dataclass(frozen=True)
class ModelName:
    """A name in its two parts."""

    vendor: str
    model: str

    def __str__(self) -> str:
        return f"{self.vendor}:{self.model}" if self.model else self.vendor


def read_name(text: str) -> ModelName:
    """The parts of a name; raises `NoModel`. A model's own name may contain colons."""
    vendor, _, model = text.strip().partition(":")
    if not vendor or (not model and vendor != "demo"):
        raise NoModel(
            f"{text!r} names no model.", hint="Write vendor:model, such as ollama:qwen3, or demo to try it."
        )
    return ModelName(vendor, model)
