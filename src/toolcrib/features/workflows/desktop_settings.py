"""What the settings of desktop nodes share, and how they become the arguments of a desktop tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ConfigDict, Field, ValidationError

from toolcrib.graph.node_settings import NodeSettings
from toolcrib.graph.node_type import ToolUse

D = TypeVar("D", bound="DesktopSettings")


def _extra_last(schema: dict[str, Any]) -> None:
    """Forms show the settings of the node itself first."""
    properties = schema["properties"]
    properties["extra"] = properties.pop("extra")


class DesktopSettings(NodeSettings):
    model_config = ConfigDict(json_schema_extra=_extra_last)

    extra: dict[str, Any] = Field(
        default_factory=dict, description="More arguments, for desktop servers whose tools take them."
    )


def desktop_use(tool: str, settings: DesktopSettings, **arguments: Any) -> ToolUse:
    """The call of a desktop tool; what is None is left out, so that other servers need not know it."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return ToolUse(tool=tool, arguments={**given, **settings.extra}, desktop=True)


def read_desktop(use: ToolUse, tool: str, model: type[D], names: Mapping[str, str], **given: Any) -> D | None:
    """Settings from the arguments of a call: `names` gives the setting of each known argument."""
    if not use.desktop or use.tool != tool:
        return None
    known = {names[name]: value for name, value in use.arguments.items() if name in names}
    extra = {name: value for name, value in use.arguments.items() if name not in names}
    try:
        return model.model_validate({**known, **given, **({"extra": extra} if extra else {})})
    except ValidationError:
        return None
