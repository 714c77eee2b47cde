"""The types of servers on the command line, listed from the folder of transports when they are shown."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType


class TransportType(StringParamType):
    """The type of a server. An unknown one is refused by the host, which may have other extensions."""

    name = "type"

    def types(self) -> tuple[str, ...]:
        """Those that can be given."""
        from toolcrib import plugins
        from toolcrib.servers.transport import TRANSPORTS

        return plugins.names(TRANSPORTS)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """As a choice is shown."""
        return f"[{'|'.join(self.types())}]"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Those that begin like this."""
        return [CompletionItem(kind) for kind in self.types() if kind.startswith(incomplete)]


class RemoteTransport(TransportType):
    """The type of a server that is reached at an address."""

    def types(self) -> tuple[str, ...]:
        """Those that can be given."""
        from toolcrib.servers.transport import remote_types

        return remote_types()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The type, which must be one of them."""
        return click.Choice(self.types()).convert(value, param, ctx)
