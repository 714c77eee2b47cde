"""Starts a run for each request to an address with a token, or sends an event to a run that waits for it:
settings with their defaults (largest body, requests a minute, signature, repeated deliveries).
"""

from __future__ import annotations

from pydantic import Field

from toolcrib.errors import ToolcribError
from toolcrib.features.workflows.trigger_type import TriggerSettings, TriggerType
from toolcrib.features.workflows.webhooks.request import SignatureSettings
from toolcrib.graph.references import parse

LARGEST_BODY = 4 * 1024 * 1024
"""Bytes; each webhook may have a lower limit of its own."""


class EventTarget(TriggerSettings):
    """The event that requests send, and to which active runs of the workflow."""

    name: str = Field(min_length=1, max_length=200)
    """The name for which the run waits; may refer to `{{event.…}}`."""
    input: str = ""
    """Runs whose input of this name equals `value`; empty if `value` is the id of a run."""
    value: str = Field(default="{{event.body.run}}", min_length=1, max_length=1000)


class WebhookSettings(TriggerSettings):
    signature: SignatureSettings | None = None
    """Requests must be signed."""
    largest: int = Field(default=1024 * 1024, ge=1, le=LARGEST_BODY)
    """Bytes of a body."""
    rate: int = Field(default=60, ge=1, le=100_000)
    """Requests a minute."""
    delivery_header: str | None = Field(default="Idempotency-Key", max_length=100)
    """A header that is the same when a request is sent again; it then starts nothing new."""
    result: bool = False
    """Requests may wait for the result of their run, with `?wait=SECONDS`."""
    trusted: bool = False
    """Its data is no outside content: calls that write or send run by the usual rules."""
    send: EventTarget | None = None
    """Send an event to a run instead of starting one."""


def _describe(settings: WebhookSettings) -> str:
    signed = "signed request" if settings.signature else "request"
    if settings.send is None:
        return f"For each {signed} to its address"
    return f"Sends the event {settings.send.name} for each {signed} to its address"


def _problems(settings: WebhookSettings) -> tuple[str, ...]:
    if settings.send is None:
        return ()
    try:
        roots = {
            reference.root
            for text in (settings.send.name, settings.send.value)
            for reference in parse(text).references
        }
    except ToolcribError as error:
        return (error.message,)
    return () if roots <= {"event"} else ("Only {{event.…}} can be used in the settings of a webhook.",)


TRIGGER = TriggerType(
    name="webhook",
    title="Webhook",
    about="Starts a run for each HTTP request to an address of its own.",
    settings=WebhookSettings,
    describe=_describe,
    problems=_problems,
    untrusted=lambda settings: not settings.trusted,
    event={
        "body": "the body: the value of JSON, the fields of a form, or text",
        "query": "the parameters of the address",
        "headers": "its X- headers, without secrets",
        "received": "when it arrived, in UTC",
    },
)
