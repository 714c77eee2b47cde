"""Failures of the network are survived, refusals explained, and accounts checked."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.bundled.canvas.conftest import CanvasCaller
from tests.bundled.canvas.server import BIOLOGY, THROTTLED, TOKEN, Canvas, course
from tests.bundled.loopback import Answer, Fault
from toolcrib.accounts import Account, AccountStore
from toolcrib.accounts.provider import find_provider
from toolcrib.accounts.rest import RestFailure
from toolcrib.errors import UsageError

COURSES = "GET /api/v1/courses"
SLOW_DOWN = Fault(Answer(429, {"errors": []}, {"Retry-After": "0"}))


@pytest.mark.parametrize(
    "fault",
    [Fault(drop=True), Fault(Answer(503, b"busy")), Fault(THROTTLED), SLOW_DOWN],
    ids=["dropped", "503", "throttled", "429"],
)
async def test_reading_survives_failures(call: CanvasCaller, canvas: Canvas, fault: Fault) -> None:
    canvas.fail(COURSES, fault)

    assert "Biology" in await call.text("list_courses")
    assert len(canvas.made(COURSES)) == 2


async def test_a_page_that_fails_in_the_middle_is_asked_for_again(call: CanvasCaller, canvas: Canvas) -> None:
    canvas.courses = [course(1000 + number, f"Course {number}", "C") for number in range(30)]
    canvas.per_page = 10
    canvas.fail(COURSES, Fault(hold=False, after=True), Fault(drop=True), Fault(Answer(502)))

    assert len((await call.result("list_courses"))["courses"]) == 30


async def test_a_long_wait_is_left_to_the_caller(call: CanvasCaller, canvas: Canvas) -> None:
    canvas.fail(COURSES, Fault(Answer(429, None, {"Retry-After": "120"})))

    assert "Try again in 120 s" in await call.failure("list_courses")


async def test_a_wrong_token_and_a_missing_permission_are_told_apart(
    call: CanvasCaller, canvas: Canvas
) -> None:
    refused = await call.failure("list_files", course="History")
    call.store.set_secret(call.store.get("school"), "x" * 30)
    wrong = await call.failure("list_courses")

    assert "does not allow" in refused
    assert "toolcrib account add canvas school --replace" in wrong


async def test_what_does_not_exist_is_explained(call: CanvasCaller) -> None:
    assert "no such thing" in await call.failure("list_assignments", course="999")
    assert "no such thing" in await call.failure("get_assignment", course=str(BIOLOGY), assignment="999")


async def test_invalid_utf8_a_login_page_and_a_wrong_shape_are_handled(
    call: CanvasCaller, canvas: Canvas
) -> None:
    broken = b'[{"id": 7, "name": "Caf\xe9"}]'
    canvas.fail(COURSES, Fault(Answer(200, broken)), Fault(Answer(200, b"<html>")), Fault(Answer(200, {})))

    assert "Caf\N{REPLACEMENT CHARACTER}" in await call.text("list_courses")
    assert "not JSON" in await call.failure("list_courses")
    assert "a list was expected" in await call.failure("list_courses")


async def test_a_server_that_is_gone_is_reported(call: CanvasCaller, canvas: Canvas) -> None:
    account = Account(name="school", provider="canvas", settings={"url": "http://127.0.0.1:9"})
    call.store.add(account, TOKEN, replace=True)

    assert "cannot be reached" in await call.failure("list_courses")


async def test_an_account_is_prepared_and_checked(canvas: Canvas) -> None:
    provider = find_provider("canvas")
    draft = await provider.prepare("school", {"url": f"{canvas.address}/api/v1/", "token": f" {TOKEN} "})
    account = Account(name="school", provider="canvas", settings=draft.settings)

    check = await provider.check(account, draft.secret)

    assert draft.settings == {"url": canvas.address}
    assert check.identity == "Ada Lovelace"
    assert check.remarks == ("Active courses: 2.",)
    assert TOKEN not in repr(draft)
    with pytest.raises(RestFailure, match="does not accept the token"):
        await provider.check(account, "x" * 30)


async def test_an_address_without_a_scheme_is_https() -> None:
    draft = await find_provider("canvas").prepare("s", {"url": "school.instructure.com", "token": TOKEN})

    assert draft.settings == {"url": "https://school.instructure.com"}


@pytest.mark.parametrize(
    "given",
    [
        {"url": "", "token": TOKEN},
        {"url": "https://school.example", "token": "short"},
        {"url": "http://school.example", "token": TOKEN},
        {"url": "ftp://school.example", "token": TOKEN},
        {"url": "https://user:pass@school.example", "token": TOKEN},
    ],
)
async def test_wrong_settings_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        await find_provider("canvas").prepare("school", given)


async def test_it_runs_as_its_own_process(store: AccountStore, crib: object, tmp_path: Path) -> None:
    environment = {"TOOLCRIB_HOME": str(tmp_path / "home"), "TOOLCRIB_KEYRING": "off"}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "toolcrib.bundled.canvas", "--allow-changes"], env=environment
    )
    async with asyncio.timeout(60), Client(stdio_client(command)) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool("list_courses", {})

    assert len(tools) == 13
    assert result.structured_content["courses"][0]["name"] == "Biology"  # type: ignore[index]
