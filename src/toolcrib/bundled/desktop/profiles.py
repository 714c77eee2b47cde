"""Which tools a profile offers; the modules of `operations` are the groups, each with its descriptions."""

from __future__ import annotations

from pathlib import Path

from toolcrib.bundled.desktop import operations
from toolcrib.bundled.desktop.operations.table import groups
from toolcrib.bundled.desktop.session import DesktopSession
from toolcrib.bundled.desktop.tools.offer import ProfileTools
from toolcrib.bundled.desktop.tools.surface import offer_operation
from toolcrib.serverkit.descriptions import describe
from toolcrib.serverkit.server import ToolServer

PROFILES: dict[str, frozenset[str] | None] = {
    "small": frozenset(
        {
            "list_windows",
            "focus_window",
            "find_elements",
            "click_element",
            "write_element_value",
            "find_text",
            "click",
            "type_text",
            "press_key",
            "scroll",
            "take_screenshot",
            "get_clipboard",
            "write_clipboard",
            "open_application",
        }
    ),
    "workflow": frozenset(
        {
            "take_screenshot",
            "find_text",
            "find_image",
            "click",
            "type_text",
            "press_key",
            "scroll",
            "list_windows",
            "focus_window",
        }
    ),
    "full": None,
}
"""None offers every tool."""

FULL_ONLY = frozenset(
    {
        "filter",
        "force_refresh",
        "order_by",
        "page_size",
        "read_mask",
        "visible_only",
        "get_clipboard.name",
        "write_clipboard.content",
        "write_clipboard.clear_existing",
    }
)
"""Parameters of the gRPC interface that only `full` shows: a model rarely needs them and they cost tokens."""


def offer_profile(server: ToolServer, session: DesktopSession, profile: str) -> None:
    """Add the tools of a profile to a server."""
    wanted = PROFILES[profile]
    server.at_close(session.close_parts)
    offer = ProfileTools(server, wanted)
    for group in groups().values():
        for operation in group:
            offer_operation(offer, session, operation)
    for folder in operations.__path__:
        for file in sorted(Path(folder).glob("*.toml")):
            describe(server, file, partial=wanted is not None)
    if PROFILES[profile] is not None:
        _leave_out_parameters(server)


def _leave_out_parameters(server: ToolServer) -> None:
    for tool_name, tool in server.tools.items():
        properties = tool.definition["inputSchema"]["properties"]
        for name in list(properties):
            if FULL_ONLY & {name, f"{tool_name}.{name}"}:
                del properties[name]
