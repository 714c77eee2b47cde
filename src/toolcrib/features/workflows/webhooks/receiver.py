"""Receives requests to webhooks: checks them, stores the occurrence, and answers with the run. Decides the
rate limit, how long a request may wait for its run, and the errors.

The answer comes after the occurrence is stored, so an accepted request is not lost. Nothing of the token, the
body or a signature is logged or part of an answer.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast
from urllib.parse import parse_qs

from toolcrib.clock import Clock
from toolcrib.errors import Denied, NotFound, ServerUnavailable, ToolcribError, UsageError
from toolcrib.features.workflows.automation.definitions import run_id, trigger_inputs
from toolcrib.features.workflows.automation.starts import (
    Assessment,
    RunLauncher,
    RunStarter,
    WorkflowSource,
    assess,
)
from toolcrib.features.workflows.records import FINAL
from toolcrib.features.workflows.trigger_store import Activation, StoredTriggers
from toolcrib.features.workflows.trigger_type import TriggerOccurrence
from toolcrib.features.workflows.triggers.webhook import EventTarget, WebhookSettings
from toolcrib.features.workflows.webhooks.request import BadSignature, HookRequest, check_signature, event_of
from toolcrib.features.workflows.webhooks.tokens import hook_of, is_token
from toolcrib.graph.references import resolve

MOST = 10_000
"""Webhooks that are counted; the ones used longest ago are forgotten."""

LONGEST_WAIT = 60.0
OTHERS = 10
"""Badly signed requests, and repeated ones, may each come at this multiple of the rate."""
RECENT = 10_000
MOST_TARGETS = 100
"""Runs that one request may send an event to."""


class RateLimit:
    """Each webhook may be used `rate` times a minute, at once or spread."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._left: dict[str, tuple[float, float]] = {}

    def wait(self, hook: str, rate: int) -> int:
        """Count a request; seconds to wait if it is one too many, else 0."""
        now = self._monotonic()
        left, since = self._left.pop(hook, (float(rate), now))
        left = min(rate, left + (now - since) * rate / 60)
        allowed = left >= 1
        self._left[hook] = (left - 1 if allowed else left, now)
        while len(self._left) > MOST:
            del self._left[next(iter(self._left))]
        return 0 if allowed else max(1, math.ceil((1 - left) * 60 / rate))


class TooManyRequests(ToolcribError):
    """The webhook was used too often."""

    kind = "too_many_requests"
    retryable = True

    def __init__(self, wait: int) -> None:
        super().__init__(f"Too many requests; try again in {wait} s.")
        self.wait = wait


class BodyTooLarge(UsageError):
    """The body exceeds the limit of the webhook."""

    kind = "body_too_large"


@dataclass(frozen=True, kw_only=True)
class HookAnswer:
    """`accepted`: the run goes on after this answer."""

    accepted: bool
    content: Mapping[str, Any] = field(default_factory=dict)


class Receiver:
    def __init__(
        self,
        store: StoredTriggers,
        source: WorkflowSource,
        starter: RunStarter,
        launcher: RunLauncher,
        clock: Clock,
        secret: Callable[[str], Awaitable[str | None]],
    ) -> None:
        self._store = store
        self._source = source
        self._starter = starter
        self._launcher = launcher
        self._clock = clock
        self._secret = secret
        self._limit = RateLimit(clock.monotonic)
        self._unsigned, self._repeated = RateLimit(clock.monotonic), RateLimit(clock.monotonic)
        self._recent: dict[tuple[str, str], None] = {}
        """The latest occurrences of each webhook, in their order."""
        self._sending: set[str] = set()
        self.on_stored: Callable[[], object] = lambda: None
        """Called when an occurrence waits for its start."""

    async def receive(self, token: str, request: HookRequest) -> HookAnswer:
        """Raises `NotFound`, `TooManyRequests`, `BodyTooLarge`, `BadSignature`, `BadBody` or another
        `ToolcribError`."""
        activation = await self._find(token)
        assessment = await assess(self._source, activation)
        if assessment.status != "on" or assessment.defined is None:
            raise _paused()
        settings = cast("WebhookSettings", assessment.defined.settings)
        if len(request.body) > settings.largest:
            raise BodyTooLarge(f"The body may have at most {settings.largest:,} bytes.")
        now = self._clock.now()
        identity = await self._admitted(activation.hook, request, settings, now)
        event = event_of(request, now)
        occurrence = TriggerOccurrence(id=identity, event=event, due=now)
        if settings.send is not None:
            source = assessment.defined.untrusted_source
            return await self._send(activation, occurrence, settings.send, source)
        return await self._start(activation, assessment, occurrence, _wait_asked(request, settings))

    async def _find(self, token: str) -> Activation:
        hook = hook_of(token)
        found = await self._store.by_hook(hook) if hook else None
        # Unknown tokens are hashed too, so that timing does not reveal which exist.
        if not is_token(token, found.token_hash if found else "") or found is None or not found.on:
            raise NotFound("There is no such webhook.")
        return found

    async def _admitted(
        self, hook: str, request: HookRequest, settings: WebhookSettings, now: datetime
    ) -> str:
        """The id of the occurrence. Only new requests of the right sender use up the webhook's rate:
        without its secret, no one can keep others from using it."""
        try:
            identity = await self._identify(request, settings, now)
        except BadSignature:
            self._count(self._unsigned, hook, settings.rate * OTHERS)
            raise
        if (hook, identity) in self._recent:
            self._count(self._repeated, hook, settings.rate * OTHERS)
            return identity
        self._count(self._limit, hook, settings.rate)
        self._recent[hook, identity] = None
        while len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]
        return identity

    def _count(self, limit: RateLimit, hook: str, rate: int) -> None:
        wait = limit.wait(hook, rate)
        if wait:
            raise TooManyRequests(wait)

    async def _identify(self, request: HookRequest, settings: WebhookSettings, now: datetime) -> str:
        """The id of the occurrence: the same for a request that is repeated or replayed."""
        if settings.signature is not None:
            secret = await self._secret(settings.signature.secret)
            if not secret:
                raise ServerUnavailable(
                    "This webhook is not set up.", hint="Its owner must store its secret."
                )
            return _digest("signature", check_signature(request, settings.signature, secret, now))
        delivery = request.headers.get((settings.delivery_header or "").lower(), "")
        return _digest("delivery", delivery) if delivery else secrets.token_hex(16)

    async def _start(
        self, activation: Activation, assessment: Assessment, occurrence: TriggerOccurrence, wait: float
    ) -> HookAnswer:
        run = run_id(activation.workflow, activation.trigger, occurrence.id)
        if await self._store.start_of(run) is None:
            await self._check(assessment, occurrence)
        new = await self._store.add(activation, occurrence, self._clock.now())
        if not wait:
            self.on_stored()
            return HookAnswer(accepted=True, content={"run": run, "repeated": not new})
        record = await self._store.start_of(run)
        if record is not None and record.state == "pending":
            await self._starter.start(record, assessment)
        return await self._result(run, wait)

    async def _check(self, assessment: Assessment, occurrence: TriggerOccurrence) -> None:
        """A request that could not start its run is refused, so that its sender knows."""
        if assessment.defined is None or assessment.workflow is None:
            return
        try:
            inputs = trigger_inputs(assessment.defined.trigger, occurrence.event)
            await self._launcher.check(assessment.workflow, inputs)
        except Denied:
            raise _paused() from None

    async def _result(self, run: str, wait: float) -> HookAnswer:
        record = await self._store.start_of(run)
        if record is not None and record.state == "failed":
            raise UsageError(f"The run could not be started: {record.note}")
        result = await self._launcher.result(run, wait)
        return HookAnswer(accepted=result["state"] not in FINAL, content=result)

    async def _send(
        self, activation: Activation, occurrence: TriggerOccurrence, target: EventTarget, source: str
    ) -> HookAnswer:
        values = {"event": occurrence.event}
        name, value = resolve(target.name, values), resolve(target.value, values)
        if not isinstance(name, str) or not name:
            raise UsageError("The request does not name its event.")
        found = await self._targets(activation.workflow, target, value)
        runs = found[:MOST_TARGETS]
        identity = run_id(activation.workflow, activation.trigger, occurrence.id)
        # The event may have ended the run: its request is a repeated one all the same.
        repeated = identity in self._sending or await self._store.start_of(identity) is not None
        if not runs and not repeated:
            raise NotFound("No active run matches this request.")
        if not repeated:
            self._sending.add(identity)
            try:
                for run in runs:
                    await self._launcher.send_event(run, name, occurrence.event, source=source)
                # Stored after it was sent: a sender that got no answer may try again.
                await self._store.add(activation, replace(occurrence, ignored=True), self._clock.now())
            finally:
                self._sending.discard(identity)
        left_out = {"more": True} if len(found) > MOST_TARGETS else {}
        return HookAnswer(accepted=True, content={"runs": runs, "repeated": repeated, **left_out})

    async def _targets(self, workflow: str, target: EventTarget, value: Any) -> list[str]:
        if target.input:
            return list(await self._launcher.find(workflow, target.input, value))
        run = str(value)
        state = await self._launcher.state(run)
        return [run] if state is not None and state not in FINAL else []


def _paused() -> ServerUnavailable:
    return ServerUnavailable("This webhook is paused.", hint="Its owner can see why.")


def _digest(kind: str, text: str) -> str:
    return hashlib.sha256(f"{kind}:{text}".encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _wait_asked(request: HookRequest, settings: WebhookSettings) -> float:
    """Seconds to wait for the result; 0 if it was not asked for."""
    asked = parse_qs(request.query[:8192], max_num_fields=100).get("wait", [""])[0]
    if not asked or not settings.result:
        return 0.0
    if not (asked.isascii() and asked.isdigit()):
        raise UsageError("wait: must be a number of seconds.")
    return min(float(asked), LONGEST_WAIT)
