"""Rate limits are waited for, failures of the network survived, and refusals explained."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.bundled.discord.conftest import Caller
from tests.bundled.discord.server import ADA, BOT, IDEAS, PLANTS, SECRET, TOKEN, Discord
from tests.bundled.loopback import Answer, Fault
from toolcrib.accounts import Account, AccountStore, rest
from toolcrib.accounts.provider import find_provider
from toolcrib.accounts.rest import RestFailure
from toolcrib.errors import UsageError

SEND = f"POST /api/v10/channels/{PLANTS}/messages"
READ = f"GET /api/v10/channels/{PLANTS}/messages"
BUSY = {"message": "You are being rate limited.", "retry_after": 0.05, "global": False}


def limited(**body: object) -> Fault:
    return Fault(Answer(429, {**BUSY, **body}, {"Retry-After": "1", "X-RateLimit-Scope": "user"}))


async def test_a_rate_limit_is_waited_for(call: Caller, discord: Discord) -> None:
    discord.fail(SEND, limited(), limited())

    await call.result("send_message", channel="plants", text="Hello")

    assert len(discord.made(SEND)) == 3
    assert len(discord.channels[PLANTS].messages) == 1


async def test_a_used_up_bucket_is_waited_for_before_the_next_request(call: Caller, discord: Discord) -> None:
    discord.remaining[PLANTS] = 2
    texts = "\n\n".join(f"{number}{'x' * 1900}" for number in range(4))

    await call.result("send_message", channel="plants", text=texts)

    assert len(discord.channels[PLANTS].messages) == 4
    assert len(discord.made(SEND)) < 7


async def test_a_long_rate_limit_is_reported_at_once_and_holds_for_other_routes_if_global(
    call: Caller, discord: Discord
) -> None:
    discord.fail(READ, limited(retry_after=300, **{"global": True}))

    first = await call.failure("read_messages", channel=PLANTS)
    asked = len(discord.requests)
    second = await call.failure("send_message", channel=PLANTS, text="x")

    assert "Try again in 300 s" in first
    assert "no more requests for" in second
    assert len(discord.requests) == asked


@pytest.mark.parametrize("fault", [Fault(drop=True), Fault(Answer(502, b"<html>")), Fault(Answer(503))])
async def test_reading_survives_failures(call: Caller, discord: Discord, fault: Fault) -> None:
    discord.write(PLANTS, ADA, "Hello")
    discord.fail(READ, fault, fault)

    assert "Hello" in await call.text("read_messages", channel="plants")


async def test_a_message_whose_answer_was_lost_is_sent_once(call: Caller, discord: Discord) -> None:
    discord.fail(SEND, Fault(drop=True, after=True), Fault(Answer(500), after=True))

    sent = await call.result("send_message", channel="plants", text="Hello")

    (message,) = discord.channels[PLANTS].messages
    assert sent["ids"] == [message["id"]]
    assert len(discord.made(SEND)) == 3


async def test_a_deletion_whose_answer_was_lost_is_done(call: Caller, discord: Discord) -> None:
    message = discord.write(PLANTS, BOT, "x")
    discord.fail("DELETE ", Fault(drop=True, after=True))

    await call.result("delete_message", channel="plants", message=message["id"])

    assert discord.channels[PLANTS].messages == []


async def test_a_failure_in_the_middle_says_what_was_sent(call: Caller, discord: Discord) -> None:
    text = "\n\n".join(f"{number} {'x' * 1900}" for number in range(3))
    discord.fail(SEND, Fault(Answer(200, {"id": "1" * 18}), after=True))
    discord.fail(SEND, Fault(Answer(403, {"message": "Missing Permissions", "code": 50013})))

    failure = await call.failure("send_message", channel="plants", text=text)

    assert "Only 1 of 3 messages were sent" in failure
    assert f"Send only the rest again, to the channel {PLANTS}, from: '1 xxx" in failure


async def test_a_post_whose_second_message_fails_is_not_made_again(call: Caller, discord: Discord) -> None:
    text = "\n\n".join(f"{number} {'x' * 1900}" for number in range(2))
    discord.fail("POST /api/v10/channels/", Fault(after=True))
    discord.fail(
        "POST /api/v10/channels/", Fault(Answer(403, {"message": "Missing Permissions", "code": 50013}))
    )

    failure = await call.failure("send_message", channel="ideas", title="Beds", text=text)

    (post,) = [each for each in discord.channels.values() if each.parent == IDEAS and each.name == "Beds"]
    assert "Only 1 of 2 messages were sent" in failure
    assert f"to the channel {post.id}" in failure


async def test_a_request_that_gets_no_answer_is_made_again(
    call: Caller, discord: Discord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "ATTEMPT_TIMEOUT", 0.5)
    discord.write(PLANTS, ADA, "Hello")
    discord.fail(READ, Fault(hold=True))

    assert "Hello" in await call.text("read_messages", channel="plants")
    assert len(discord.made(READ)) == 2


async def test_a_server_error_that_stays_is_reported(call: Caller, discord: Discord) -> None:
    discord.fail(READ, *[Fault(Answer(500))] * 4)

    assert "HTTP 500" in await call.failure("read_messages", channel="plants")


async def test_a_revoked_token_is_explained(call: Caller, discord: Discord) -> None:
    call.store.set_secret(call.store.get("bot"), TOKEN[::-1])

    text = await call.failure("list_servers")

    assert "does not accept the token" in text
    assert "toolcrib account add discord bot --replace" in text


async def test_missing_permissions_are_named(call: Caller, discord: Discord) -> None:
    discord.denied |= {("send", PLANTS), ("react", PLANTS)}
    message = discord.write(PLANTS, ADA, "x")

    assert "Send Messages" in await call.failure("send_message", channel="plants", text="x")
    assert "View Channel" in await call.failure("read_messages", channel=SECRET)
    assert "Add Reactions" in await call.failure(
        "add_reaction", channel="plants", message=message["id"], emoji="🌱"
    )


async def test_what_does_not_exist_is_explained(call: Caller, discord: Discord) -> None:
    assert "no such channel" in await call.failure("read_messages", channel="7" * 18)
    assert "no such message" in await call.failure("delete_message", channel="plants", message="1" * 18)
    assert "not the id of a message" in await call.failure("delete_message", channel="plants", message="last")


async def test_invalid_utf8_and_broken_json_do_no_harm(call: Caller, discord: Discord) -> None:
    message = json.dumps(discord.write(PLANTS, ADA, "caf\N{LATIN SMALL LETTER E WITH ACUTE}"))
    broken = b"[" + message.replace("\\u00e9", "?").encode().replace(b"?", b"\xe9\xff") + b"]"
    discord.fail(READ, Fault(Answer(200, broken)), Fault(Answer(200, b"<html>Login</html>")))

    page = await call.result("read_messages", channel="plants")

    assert page["messages"][0]["text"].startswith("caf\N{REPLACEMENT CHARACTER}")
    assert "not JSON" in await call.failure("read_messages", channel="plants")


async def test_a_response_that_is_too_large_is_refused(call: Caller, discord: Discord) -> None:
    discord.fail(READ, Fault(Answer(200, b"[" + b" " * 11 * 1024 * 1024 + b"]")))

    assert "more than 10 MB" in await call.failure("read_messages", channel="plants")


async def test_a_redirect_gets_no_token(call: Caller, discord: Discord) -> None:
    elsewhere = {"Location": f"{discord.address}/elsewhere"}
    discord.fail(READ, Fault(Answer(302, None, elsewhere)))

    assert "redirect" in await call.failure("read_messages", channel="plants")
    assert not discord.made("GET /elsewhere")


async def test_cancelling_a_call_ends_a_slow_request(call: Caller, discord: Discord) -> None:
    discord.fail(READ, Fault(hold=True))
    task = asyncio.create_task(call.host.call("discord__read_messages", {"channel": PLANTS}))
    assert await asyncio.to_thread(discord.holding.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    discord.release.set()
    assert (await call.result("list_servers"))["account"] == "bot"


async def test_several_accounts_are_chosen_by_name(call: Caller, discord: Discord) -> None:
    call.store.add(Account(name="other", provider="discord", settings={"api": discord.api}), "0" * 60)

    assert "bot (helper), other" in await call.failure("list_servers")
    assert (await call.result("list_servers", account="bot"))["account"] == "bot"
    assert "does not accept" in await call.failure("list_servers", account="other")


async def test_without_an_account_the_user_learns_how_to_add_one(call: Caller) -> None:
    call.store.remove("bot")

    assert "toolcrib account add discord NAME" in await call.failure("list_servers")


async def test_an_account_is_checked_with_what_the_bot_can_see(discord: Discord) -> None:
    provider = find_provider("discord")
    draft = await provider.prepare("bot", {"token": f"Bot {TOKEN} ", "api": f"{discord.api}/"})
    account = Account(name="bot", provider="discord", user=draft.user, settings=draft.settings)

    check = await provider.check(account, draft.secret)
    discord.flags = 0
    without = await provider.check(account, draft.secret)

    assert check.identity == "helper (bot)"
    assert check.remarks == ("In 2 servers: Garden friends, Book club.",)
    assert "Message Content Intent is off" in without.remarks[1]
    with pytest.raises(RestFailure, match="does not accept the token"):
        await provider.check(account, TOKEN[::-1])


@pytest.mark.parametrize(
    "given",
    [
        {"token": "hunter2"},
        {"token": ""},
        {"token": TOKEN, "api": "http://example.org"},
        {"token": TOKEN, "api": "x:y"},
    ],
)
async def test_what_is_no_token_or_address_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        await find_provider("discord").prepare("bot", given)


async def test_it_runs_as_its_own_process(store: AccountStore, crib: object, tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    environment = {"TOOLCRIB_HOME": home, "TOOLCRIB_KEYRING": "off"}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "toolcrib.bundled.discord"], env=environment
    )
    async with asyncio.timeout(60), Client(stdio_client(command)) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool("send_message", {"channel": "plants", "text": "From afar"})

    assert len(tools) == 9
    assert not result.is_error
    assert result.structured_content["channel"] == "#plants in Garden friends"  # type: ignore[index]
