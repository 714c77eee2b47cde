"""What `/healthz` says: to everyone that the gateway answers, to its clients also how servers are doing.

A stranger, who has no token where one is needed, learns neither names nor numbers.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from toolcrib.gateway.http.view import View
from toolcrib.gateway.http.views import ENDPOINT, Views


def health(views: Views, authorization: str | None) -> dict[str, Any]:
    """`status`, and the servers that this client may see counted by state."""
    status: dict[str, Any] = {"status": "ending" if views.load.ending else "ok"}
    admitting = [view for view in _all(views) if view.admits(authorization)]
    if not admitting:
        return status
    visible = {
        server.name: server.state.value
        for view in admitting
        for server in view.gateway.host.servers.statuses()
        if view.gateway.profile.shows_server(server.name)
    }
    return {**status, "servers": dict(sorted(Counter(visible.values()).items()))}


def _all(views: Views) -> list[View]:
    places = [f"{ENDPOINT}/{name}" if name else ENDPOINT for name in views.names]
    found = [views.find(place) for place in places]
    return [view for view in found if view is not None]
