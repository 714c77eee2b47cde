"""`model_try`: ask a model for one word, with a key that is stored or with one that is not yet."""

from __future__ import annotations

from pydantic import Field

from toolcrib.control.answers.models import ModelTried
from toolcrib.control.dispatch import OperationParams
from toolcrib.control.needs import NOTHING, Configured, Emit, Needs
from toolcrib.errors import ModelError
from toolcrib.host import Host
from toolcrib.llm.names import read_name
from toolcrib.llm.trial import try_model

FOR_PAGES = True


class Params(OperationParams):
    """The model, and a key under the name by which its vendor is asked; the key is not kept."""

    model: str = Field(min_length=1)
    key_name: str = ""
    key: str = Field(default="", repr=False)
    timeout: float = Field(default=30.0, gt=0, le=600)


def needs(params: Params, configured: Configured) -> Needs:
    """No server."""
    return NOTHING


async def run(host: Host, params: Params, emit: Emit) -> ModelTried:
    """`{model, answer, ms}`; raises `ModelError` that says what is wrong with it."""
    given = {params.key_name: params.key} if params.key_name and params.key else {}
    models = host.models.lend(given) if given else host.models
    vendor = read_name(params.model).vendor
    try:
        tried = await try_model(models.get(params.model), timeout=params.timeout)
    except ModelError as error:
        if not given:  # A key that is not stored says nothing about the one that is.
            host.models.trials.failed(vendor, params.model, error)
        raise
    finally:
        if models is not host.models:
            await models.close()
    host.models.trials.worked(vendor, tried)
    return {"model": tried.model, "answer": tried.answer, "ms": tried.ms}
