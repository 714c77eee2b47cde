"""Offers a tool to a model in its vendor's form: OpenAI (chat and responses), Anthropic, Gemini.

What a server wrote stays as near to its words as the vendor allows. Each rule here answers a rejection seen
in the wild; one definition that a vendor rejects costs the whole request, so no schema may slip through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolcrib.schema.tools import Tool
from toolcrib.tools.gemini import gemini_schema
from toolcrib.tools.plain_schema import plain_schema

VendorTool = dict[str, Any]


def as_openai(tool: Tool) -> VendorTool:
    """The form of OpenAI's chat completions, and of everyone who copies it."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.definition.description,
            "parameters": plain_schema(tool.definition.input_schema),
        },
    }


def as_openai_responses(tool: Tool) -> VendorTool:
    """The form of OpenAI's responses, which would enforce a stricter schema language unless told not to."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.definition.description,
        "parameters": plain_schema(tool.definition.input_schema),
        "strict": False,
    }


def as_anthropic(tool: Tool) -> VendorTool:
    """The form of Anthropic's messages."""
    return {
        "name": tool.name,
        "description": tool.definition.description,
        "input_schema": plain_schema(tool.definition.input_schema),
    }


def as_gemini(tool: Tool) -> VendorTool:
    """A function declaration of Gemini, whose schemas are a small part of JSON Schema."""
    declaration = {"name": tool.name, "description": tool.definition.description}
    parameters = gemini_schema(tool.definition.input_schema)
    # An object without properties is refused; a function without parameters is not.
    if not parameters.get("properties"):
        return declaration
    return {**declaration, "parameters": parameters}


FORMATS: Mapping[str, Callable[[Tool], VendorTool]] = {
    "openai": as_openai,
    "openai-responses": as_openai_responses,
    "anthropic": as_anthropic,
    "gemini": as_gemini,
}
"""Every form by its name."""
