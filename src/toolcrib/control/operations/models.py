"""`models`: which language models can be asked from here, and where their keys are looked for."""

from __future__ import annotations

from typing import cast

from toolcrib.control.answers.models import Models
from toolcrib.control.chat_shapes import models_json
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.errors import NoModel
from toolcrib.host import Host
from toolcrib.llm.advice import survey

FOR_PAGES = True


class Params(OperationParams):
    """Nothing."""


def needs(params: Params, configured: Configured) -> Needs:
    """No server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> Models:
    """`{model, vendors}`."""
    try:
        chosen = host.models.choose()
    except NoModel:
        chosen = None
    return cast("Models", models_json(chosen, await survey(host.models), host.models.trials))
