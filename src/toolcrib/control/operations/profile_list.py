"""`profile_list`: the views that a gateway serves, and which of them need a token; never the token."""

from __future__ import annotations

from toolcrib.control.answers.gateway import ProfileShown
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.control.shapes import profile_json
from toolcrib.host import Host

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """The file alone."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> list[ProfileShown]:
    """An array of views: the one without a name, then the profiles."""
    return [profile_json(host.settings, name) for name in ("", *host.settings.profiles)]
