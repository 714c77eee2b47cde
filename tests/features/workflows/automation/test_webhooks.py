"""Requests to webhooks: who is let in, what the run sees, and what is repeated."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.features.workflows.automation.conftest import Automation
from toolcrib.errors import NotFound, ServerUnavailable, ToolcribError, UsageError
from toolcrib.features.workflows.automation.starts import RunStarter
from toolcrib.features.workflows.webhooks.receiver import BodyTooLarge, HookAnswer, Receiver, TooManyRequests
from toolcrib.features.workflows.webhooks.request import BadBody, BadSignature, HookRequest
from toolcrib.features.workflows.webhooks.tokens import new_hook_token
from toolcrib.schema.workflows import Trigger

SIGNED = {"signature": {"secret": "SHOP"}}
FORM = "application/x-www-form-urlencoded"


class Hook:
    """A webhook that is turned on."""

    def __init__(self, automation: Automation, token: str) -> None:
        self.automation, self.token = automation, token
        starter = RunStarter(automation.store, automation, automation.runs, automation.clock)
        self.receiver = Receiver(
            automation.store, automation, starter, automation.runs, automation.clock, self._secret
        )

    async def _secret(self, name: str) -> str | None:
        return {"SHOP": "much secret"}.get(name)

    async def post(self, body: Any = None, query: str = "", **headers: str) -> HookAnswer:
        kind = {"content-type": "application/json"}
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = HookRequest(headers={**kind, **given}, query=query, body=content)
        return await self.receiver.receive(self.token, request)

    async def signed(self, body: Any, at: float | None = None, secret: bytes = b"much secret") -> HookAnswer:
        time = str(int(self.automation.clock.now().timestamp() if at is None else at))
        content = json.dumps(body).encode()
        digest = hmac.new(secret, time.encode() + b"." + content, hashlib.sha256).hexdigest()
        return await self.post(content, x_signature=f"sha256={digest}", x_timestamp=time)


async def hook(automation: Automation, reference: str = "{{event.body}}", **settings: Any) -> Hook:
    trigger = Trigger(type="webhook", settings=settings, input={"order": reference})
    automation.define("ship", trigger, order={})
    token, public, hashed = new_hook_token()
    await automation.turn_on("ship", "webhook", hook=public, token_hash=hashed)
    return Hook(automation, token)


async def test_a_request_starts_a_run_with_values_of_its_body(automation: Automation) -> None:
    ship = await hook(automation, "{{event.body.items[0].id}}")

    answer = await ship.post({"items": [{"id": 7}]})
    await automation.pass_time(2)

    assert answer.accepted
    assert automation.runs.runs == [answer.content["run"]]
    assert automation.runs.inputs == ["{'order': 7}"]
    assert automation.runs.sources == ["webhook trigger"]


@pytest.mark.parametrize(
    ("kind", "body", "seen"),
    [
        ("application/json", b'{"a": [1]}', {"a": [1]}),
        ("application/vnd.shop+json", b"3", 3),
        (FORM, b"a=1&b=%C3%A4", {"a": "1", "b": "ä"}),
        ("text/plain; charset=utf-8", "grüße".encode(), "grüße"),
        ("", b"", None),
    ],
)
async def test_bodies_are_read_by_their_type(
    automation: Automation, kind: str, body: bytes, seen: Any
) -> None:
    ship = await hook(automation)

    await ship.post(body, content_type=kind)
    await automation.pass_time(2)

    assert automation.runs.inputs == [repr({"order": seen})]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{"),
        ("application/json", b"NaN"),
        ("application/json", b'"\xff"'),
        ("application/json", b"[" * 100 + b"]" * 100),
        ("application/json", b"[" * 200_000),
        ("text/plain", b"\xff\xfe"),
        ("image/png", b"x"),
        (FORM, b"&".join(b"a%d=1" % number for number in range(2000))),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused(automation: Automation, kind: str, body: bytes) -> None:
    ship = await hook(automation)

    with pytest.raises(BadBody):
        await ship.post(body, content_type=kind)
    assert await automation.starts("ship", "webhook") == []


async def test_the_event_has_no_secret_headers(automation: Automation) -> None:
    ship = await hook(automation, "{{event.headers}}")

    await ship.post(
        {}, authorization="Bearer x", cookie="x", x_api_key="x", x_kind="order", x_hub_signature="x"
    )
    await automation.pass_time(2)

    kept = {"content-type": "application/json", "x-kind": "order"}
    assert automation.runs.inputs == [repr({"order": kept})]


@pytest.mark.parametrize(
    "change",
    [
        lambda token: token[:-1] + ("A" if token[-1] != "A" else "B"),
        lambda token: token[:30],
        lambda token: "",
        lambda token: "../../api/servers",
        lambda token: token + "\n",
        lambda token: new_hook_token()[0],
    ],
)
async def test_a_wrong_token_is_not_found(automation: Automation, change: Callable[[str], str]) -> None:
    ship = await hook(automation)
    ship.token = change(ship.token)

    with pytest.raises(NotFound):
        await ship.post({})


async def test_a_webhook_that_is_off_is_not_found_and_a_paused_one_refuses(
    automation: Automation,
) -> None:
    ship = await hook(automation)
    automation.invalid = "The node x has no type."
    with pytest.raises(ServerUnavailable, match="paused"):
        await ship.post({})

    await automation.store.turn_off("ship", "webhook")
    with pytest.raises(NotFound):
        await ship.post({})


async def test_a_body_over_the_limit_is_refused(automation: Automation) -> None:
    ship = await hook(automation, largest=100)

    with pytest.raises(BodyTooLarge, match="100 bytes"):
        await ship.post("x" * 99)


async def test_requests_beyond_the_rate_are_refused_until_time_has_passed(automation: Automation) -> None:
    ship = await hook(automation, rate=3)
    for _ in range(3):
        await ship.post({})

    with pytest.raises(TooManyRequests) as refused:
        await ship.post({})

    assert refused.value.wait == 20
    automation.clock.turn(20)
    await ship.post({})


async def test_bad_signatures_do_not_use_up_the_rate(automation: Automation) -> None:
    ship = await hook(automation, rate=3, **SIGNED)
    refused = []
    for number in range(100):
        with pytest.raises((BadSignature, TooManyRequests)) as failure:
            await ship.signed({"order": number}, secret=b"guess")
        refused.append(failure.type)

    answers = [await ship.signed({"order": number}) for number in range(3)]

    assert refused == [BadSignature] * 30 + [TooManyRequests] * 70
    assert all(answer.accepted for answer in answers)
    with pytest.raises(TooManyRequests):
        await ship.signed({"order": 3})
    with pytest.raises(BodyTooLarge):
        await ship.post("x" * 5_000_000)


async def test_a_replayed_request_does_not_use_up_the_rate(automation: Automation) -> None:
    ship = await hook(automation, rate=3, **SIGNED)
    for _ in range(20):
        await ship.signed({"order": 0})

    answers = [await ship.signed({"order": number}) for number in (1, 2)]

    assert [answer.content["repeated"] for answer in answers] == [False, False]
    for _ in range(11):
        await ship.signed({"order": 0})
    with pytest.raises(TooManyRequests):
        await ship.signed({"order": 0})


async def test_a_signed_request_is_accepted_once(automation: Automation) -> None:
    ship = await hook(automation, **SIGNED)

    first = await ship.signed({"order": 1})
    replayed = await ship.signed({"order": 1})
    await automation.pass_time(2)

    assert first.content["run"] == replayed.content["run"]
    assert (first.content["repeated"], replayed.content["repeated"]) == (False, True)
    assert automation.runs.calls == 1


async def test_a_wrong_missing_or_old_signature_is_refused(automation: Automation) -> None:
    ship = await hook(automation, **SIGNED)
    now = automation.clock.now().timestamp()

    for request in (
        ship.post({}),
        ship.post({}, x_signature="sha256=zz", x_timestamp=str(int(now))),
        ship.post({}, x_signature="", x_timestamp="９" * 5),
        ship.signed({}, secret=b"guess"),
        ship.signed({}, at=now - 301),
        ship.signed({}, at=now + 301),
    ):
        with pytest.raises(BadSignature):
            await request
    assert await automation.starts("ship", "webhook") == []


async def test_a_signature_over_the_body_alone_is_accepted_once(automation: Automation) -> None:
    settings = {"secret": "SHOP", "header": "X-Hub-Signature-256", "timestamp_header": None}
    ship = await hook(automation, signature=settings)
    digest = hmac.new(b"much secret", b"{}", hashlib.sha256).hexdigest()

    answers = [await ship.post(b"{}", x_hub_signature_256=f"sha256={digest}") for _ in range(2)]

    assert [answer.content["repeated"] for answer in answers] == [False, True]


async def test_a_webhook_without_its_secret_accepts_nothing(automation: Automation) -> None:
    ship = await hook(automation, signature={"secret": "MISSING"})

    with pytest.raises(ServerUnavailable, match="not set up"):
        await ship.signed({})


async def test_a_request_that_is_sent_again_starts_nothing_new(automation: Automation) -> None:
    ship = await hook(automation)

    answers = [await ship.post({}, idempotency_key="order-1") for _ in range(3)]
    await automation.pass_time(2)

    assert len({answer.content["run"] for answer in answers}) == 1
    assert automation.runs.calls == 1


@pytest.mark.acceptance
async def test_a_thousand_requests_at_once_start_each_run_once(automation: Automation) -> None:
    ship = await hook(automation, rate=100_000)

    answers = await asyncio.gather(*(ship.post({}, idempotency_key=f"{n % 500}") for n in range(1000)))
    await automation.pass_time(2)

    assert len({answer.content["run"] for answer in answers}) == 500
    assert automation.runs.calls == 500


async def test_a_request_may_wait_for_the_result_if_the_webhook_allows_it(automation: Automation) -> None:
    ship = await hook(automation, result=True)

    answer = await ship.post({}, query="wait=5")

    assert answer.content["outputs"] == {"answer": 42}
    with pytest.raises(ToolcribError, match="wait"):
        await ship.post({}, query="wait=-1")


async def test_the_result_is_not_given_unless_the_webhook_allows_it(automation: Automation) -> None:
    ship = await hook(automation)

    answer = await ship.post({}, query="wait=5")

    assert set(answer.content) == {"run", "repeated"}


async def test_a_request_sends_an_event_to_the_run_with_this_input(automation: Automation) -> None:
    target = {"name": "paid", "input": "order", "value": "{{event.body.order}}"}
    ship = await hook(automation, send=target)
    workflow = automation.workflows["ship"]
    for number in (1, 2):
        await automation.runs.start(workflow, {"order": number}, f"run-{number}")

    answer = await ship.post({"order": 2, "sum": 5}, idempotency_key="payment-9")
    again = await ship.post({"order": 2, "sum": 5}, idempotency_key="payment-9")

    ((run, name, data),) = automation.runs.events
    assert (run, name, data["body"]["sum"]) == ("run-2", "paid", 5)
    assert (answer.content["runs"], again.content["repeated"]) == (["run-2"], True)
    with pytest.raises(NotFound, match="No active run"):
        await ship.post({"order": 3})
    automation.runs.end()
    after = await ship.post({"order": 2, "sum": 5}, idempotency_key="payment-9")
    assert after.content == {"runs": [], "repeated": True}


async def test_a_request_sends_an_event_to_the_run_that_it_names(automation: Automation) -> None:
    ship = await hook(automation, send={"name": "paid-{{event.body.kind}}"})
    await automation.runs.start(automation.workflows["ship"], {}, "run-1")

    await ship.post({"run": "run-1", "kind": "card"})

    assert [(run, name) for run, name, _ in automation.runs.events] == [("run-1", "paid-card")]
    automation.runs.end()
    with pytest.raises(NotFound):
        await ship.post({"run": "run-1"})


@pytest.mark.parametrize("body", [{}, {"kind": ""}, {"kind": None}, {"kind": {"a": 1}}, {"kind": ["paid"]}])
async def test_a_request_without_the_name_of_its_event_is_refused(
    automation: Automation, body: dict[str, Any]
) -> None:
    ship = await hook(automation, send={"name": "{{event.body.kind}}"})
    await automation.runs.start(automation.workflows["ship"], {}, "run-1")

    with pytest.raises(UsageError, match="does not name its event"):
        await ship.post({"run": "run-1", **body})

    assert automation.runs.events == []


async def test_neither_token_nor_secret_is_in_the_database(automation: Automation) -> None:
    ship = await hook(automation)

    (activation,) = await automation.store.activations()

    assert ship.token.split("_", 2)[2] not in repr(activation) + activation.token_hash
    assert "token_hash" not in repr(activation)
