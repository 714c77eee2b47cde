"""Messages are sent, answered, edited, deleted and reacted to; no one is notified unless the call says so."""

from __future__ import annotations

from typing import Any

import pytest

from tests.approvals.people import NO, Person
from tests.bundled.discord.conftest import Caller
from tests.bundled.discord.server import (
    ADA,
    ANNA,
    BOB,
    BOT,
    GENERAL,
    IDEAS,
    MODS,
    PLANTS,
    Discord,
)
from toolcrib.accounts import Account
from toolcrib.agent.ports import AgentQuestion
from toolcrib.errors import Denied
from toolcrib.serverkit.session import PREVIEW
from toolcrib.testing.model import ScriptedModel, calls

SILENT = {"parse": [], "users": [], "roles": [], "replied_user": False}


class Approver:
    """A user who approves every call."""

    def __init__(self) -> None:
        self.questions: list[AgentQuestion] = []

    async def answer(self, question: AgentQuestion) -> dict[str, Any]:
        self.questions.append(question)
        return {"action": "accept"}


async def preview(call: Caller, tool: str, **arguments: Any) -> dict[str, Any]:
    """What an approval question would show."""
    from toolcrib.bundled.discord import create

    session = create([], call.host.paths.config_file.parent).session()
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
    await session.respond({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, print)
    asked = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": PREVIEW, "params": asked}
    answer = await session.respond(message, print)
    assert answer is not None
    found: dict[str, Any] = answer["result"]
    return found


async def test_a_message_is_sent_and_notifies_no_one(call: Caller, discord: Discord) -> None:
    text = f"Hello @everyone, <@{ADA['id']}> and <@&{MODS}>"

    sent = await call.result("send_message", channel="plants", text=text)

    (message,) = discord.channels[PLANTS].messages
    assert sent["ids"] == [message["id"]]
    assert sent["notified"] == []
    assert message["content"] == text
    assert message["allowed_mentions"] == SILENT


async def test_named_users_and_roles_are_mentioned(call: Caller, discord: Discord) -> None:
    sent = await call.result(
        "send_message", channel="plants", text="Look, @Ada!", mention=["Ada", "@gardeners", BOB["id"]]
    )

    (message,) = discord.channels[PLANTS].messages
    assert message["content"] == f"<@&{MODS}> <@{BOB['id']}> Look, <@{ADA['id']}>!"
    assert message["allowed_mentions"] == {
        "parse": [],
        "users": [ADA["id"], BOB["id"]],
        "roles": [MODS],
        "replied_user": False,
    }
    assert sent["notified"] == ["@Ada", "@Bob", "@Gardeners (role)"]


async def test_a_name_that_begins_like_another_is_not_mixed_up(call: Caller, discord: Discord) -> None:
    await call.result("send_message", channel="plants", text="@Ann and @Anna", mention=["Ann"])

    assert discord.channels[PLANTS].messages[0]["content"] == f"<@{ANNA['id']}> and @Anna"


async def test_everyone_is_notified_only_on_request_and_the_preview_says_so(
    call: Caller, discord: Discord
) -> None:
    given = {"channel": "plants", "text": "@here Meeting", "mention_everyone": True}

    shown = await preview(call, "send_message", **given)
    await call.result("send_message", **given)
    missing = await call.failure("send_message", channel="plants", text="Meeting", mention_everyone=True)

    assert "all members" in shown["preview"]["mentions"][0]
    assert discord.channels[PLANTS].messages[0]["allowed_mentions"]["parse"] == ["everyone"]
    assert "neither @everyone nor @here" in missing


async def test_an_unknown_mention_sends_nothing(call: Caller, discord: Discord) -> None:
    text = await call.failure("send_message", channel="plants", text="Hi", mention=["everyone"])
    similar = await call.failure("send_message", channel="plants", text="Hi", mention=["an"])

    assert "no member or role" in text
    assert f"Ann ({ANNA['id']})" in similar
    assert discord.channels[PLANTS].messages == []


async def test_a_preview_shows_what_will_be_sent_and_changes_nothing(call: Caller, discord: Discord) -> None:
    shown = await preview(call, "send_message", channel="plants", text="Hi", mention=["Ada"])

    assert shown["preview"] == {
        "kind": "message",
        "action": "send",
        "account": "bot",
        "service": "discord",
        "channel": "#plants in Garden friends",
        "to": "Garden friends",
        "text": "@Ada Hi",
        "mentions": ["@Ada"],
    }
    assert {request.method for request in discord.requests} == {"GET"}


async def test_a_preview_keeps_the_invisible_characters_that_would_be_sent(call: Caller) -> None:
    text = "Hi\u200b\U000e0041\u202e!"

    shown = await preview(call, "send_message", channel="plants", text=text)

    assert shown["preview"]["text"] == text


async def test_a_long_text_is_sent_in_parts_that_keep_code_blocks_whole(
    call: Caller, discord: Discord
) -> None:
    code = "\n".join(f"print({number})" for number in range(400))
    text = f"{'First paragraph. ' * 100}\n\n```python\n{code}\n```\nThe end 🌻"

    sent = await call.result("send_message", channel="plants", text=text)

    parts = [each["content"] for each in discord.channels[PLANTS].messages]
    assert len(parts) == len(sent["ids"]) == 4
    assert all(len(part) <= 2000 for part in parts)
    assert all(part.count("```") % 2 == 0 for part in parts)
    assert [line for part in parts for line in part.splitlines() if line.startswith("print")] == code.split(
        "\n"
    )
    assert parts[-1].endswith("The end 🌻")


async def test_a_text_for_more_than_five_messages_is_refused_with_how(call: Caller, discord: Discord) -> None:
    text = await call.failure("send_message", channel="plants", text="word " * 3000)

    assert "Shorten it" in text
    assert discord.channels[PLANTS].messages == []


async def test_a_reply_names_its_message_and_notifies_its_author_only_on_request(
    call: Caller, discord: Discord
) -> None:
    original = discord.write(GENERAL, ADA, "How tall?")
    given = {"channel": "Garden friends/general", "message": original["id"], "text": "Two metres"}

    shown = await preview(call, "reply_to_message", **given, notify_author=True)
    await call.result("reply_to_message", **given)
    await call.result("reply_to_message", **given, notify_author=True)

    _, quiet, loud = discord.channels[GENERAL].messages
    assert shown["preview"]["to"] == "Ada"
    assert shown["preview"]["mentions"] == ["@Ada (author)"]
    assert quiet["message_reference"] == {"message_id": original["id"], "fail_if_not_exists": True}
    assert quiet["allowed_mentions"] == SILENT
    assert loud["allowed_mentions"]["replied_user"] is True


async def test_only_own_messages_are_edited_and_deleted(call: Caller, discord: Discord) -> None:
    theirs = discord.write(PLANTS, ADA, "Mine")
    ours = discord.write(PLANTS, BOT, "Teh text")

    await call.result("edit_message", channel="plants", message=ours["id"], text="The text @everyone")
    edit = await call.failure("edit_message", channel="plants", message=theirs["id"], text="x")
    delete = await call.failure("delete_message", channel="plants", message=theirs["id"])
    shown = await preview(call, "delete_message", channel="plants", message=ours["id"])
    await call.result("delete_message", channel="plants", message=ours["id"])

    (request,) = discord.made("PATCH ")
    assert request.body == {"content": "The text @everyone", "allowed_mentions": SILENT}
    assert "written by Ada" in edit
    assert "written by Ada" in delete
    assert shown["preview"]["action"] == "delete"
    assert shown["preview"]["text"] == "The text @everyone"
    assert [each["id"] for each in discord.channels[PLANTS].messages] == [theirs["id"]]


async def test_an_edit_that_is_too_long_is_refused(call: Caller, discord: Discord) -> None:
    ours = discord.write(PLANTS, BOT, "x")

    assert "at most 2000" in await call.failure(
        "edit_message", channel="plants", message=ours["id"], text="y" * 2001
    )


async def test_reactions_of_both_kinds_are_added(call: Caller, discord: Discord) -> None:
    message = discord.write(PLANTS, ADA, "Spring!")
    given = {"channel": "plants", "message": message["id"]}

    await call.result("add_reaction", **given, emoji="🌱")
    assert message["reactions"][0]["emoji"]["name"] == "🌱"
    await call.result("add_reaction", **given, emoji="<:rose:611111111111111111>")
    assert message["reactions"][0]["emoji"]["name"] == "rose:611111111111111111"

    assert "emoji" in await call.failure("add_reaction", **given, emoji="smile")


async def test_a_post_in_a_forum_needs_a_title_and_gets_its_own_thread(
    call: Caller, discord: Discord
) -> None:
    refused = await call.failure("send_message", channel="ideas", text="Bees?")
    sent = await call.result("send_message", channel="ideas", title="Bees", text="a " * 1500)

    thread = next(each for each in discord.channels.values() if each.name == "Bees")
    assert "title" in refused
    assert thread.parent == IDEAS
    assert sent["ids"] == [each["id"] for each in thread.messages]
    assert len(sent["ids"]) == 2
    assert thread.messages[0]["allowed_mentions"] == SILENT


async def test_a_read_only_account_changes_nothing(call: Caller, discord: Discord) -> None:
    account = Account(name="bot", provider="discord", settings={"api": discord.api}, read_only=True)
    call.store.add(account, call.store.secret(account), replace=True)
    message = discord.write(PLANTS, BOT, "x")
    given = {"channel": "plants", "message": message["id"]}

    refusals = [
        await call.failure("send_message", channel="plants", text="x"),
        await call.failure("reply_to_message", **given, text="x"),
        await call.failure("edit_message", **given, text="x"),
        await call.failure("delete_message", **given),
        await call.failure("add_reaction", **given, emoji="🌱"),
    ]

    assert all("read-only" in text for text in refusals)
    assert {request.method for request in discord.requests} <= {"GET"}
    assert "x" in await call.text("read_messages", channel="plants")


async def test_tools_declare_what_they_do(call: Caller) -> None:
    from toolcrib.bundled.discord import create
    from toolcrib.serverkit.data_flow import data_flow

    reads = {"list_servers", "list_channels", "read_messages", "search_messages"}
    for name, tool in create().tools.items():
        definition, flow = tool.definition, data_flow(tool.definition)
        assert flow is not None
        assert definition["annotations"]["readOnlyHint"] is (name in reads)
        assert flow.reach == ("account" if name in reads else "anybody")
        assert flow.outside is (name in reads)
        assert definition["outputSchema"]["type"] == "object"
        assert definition["description"]
        assert all(each.get("description") for each in definition["inputSchema"]["properties"].values()), name
    assert create().tools["delete_message"].definition["annotations"]["destructiveHint"] is True


async def test_a_model_reads_and_answers_on_discord(call: Caller, discord: Discord) -> None:
    question = discord.write(PLANTS, ADA, "When do tulips flower?")
    model = ScriptedModel(
        calls(("discord__read_messages", {"channel": "plants"})),
        calls(
            (
                "discord__reply_to_message",
                {"channel": "plants", "message": question["id"], "text": "In April."},
            )
        ),
        "I have answered Ada.",
    )
    ada = Approver()

    answer = await call.host.agent(model, person=ada, mode="on_miss").ask("Answer the question in #plants.")

    assert "answered Ada" in answer.answer
    assert discord.channels[PLANTS].messages[-1]["content"] == "In April."
    assert "When do tulips flower?" in str(model.requests[1].messages)
    asked = ada.questions[-1].detail
    assert asked["tool"] == "discord__reply_to_message"
    assert (asked["preview"]["to"], asked["preview"]["text"]) == (["Ada"], "In April.")


async def test_a_denied_message_is_not_sent(call: Caller, discord: Discord) -> None:
    async with call.host.session(mode="on_miss", asker=Person(NO)) as principal:
        with pytest.raises(Denied):
            await call.host.call(
                "discord__send_message", {"channel": "plants", "text": "x"}, principal=principal
            )

    assert not discord.made("POST ")
