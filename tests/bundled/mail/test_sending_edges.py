"""A message goes to those whom the question shows; what fails after it was sent is reported as that."""

from __future__ import annotations

import asyncio
from email.utils import getaddresses

import pytest

from tests.bundled.mail.conftest import Desk, letter
from toolcrib.bundled.mail.decoding import decode_words
from toolcrib.bundled.mail.headers import Headers, Mailto
from toolcrib.bundled.mail.writing import Letter, compose, read_recipients
from toolcrib.serverkit.caller_context import call_id
from toolcrib.serverkit.context import ToolFailure
from toolcrib.serverkit.functions import FunctionTool


@pytest.mark.parametrize(
    "name",
    [
        "=?utf-8?q?x=2C_evil=40example.net=2C?=",
        "M\u00fcller: (c) aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa<evil@x.org>",
        "M\u00fcller, J\u00f6rg",
        'a "b" \\ , c; <evil@example.net>',
    ],
)
def test_a_name_never_becomes_a_recipient(name: str) -> None:
    people = [Mailto(name, "bob@example.com"), Mailto(name, "carla@example.com")]

    data = compose(Mailto("Ann", "ann@example.org"), Letter(to=people, bcc=people, subject="x")).to_store

    fields = Headers.read(data.partition(b"\r\n\r\n")[0])
    for field in ("to", "bcc"):
        raw = " ".join(fields.raw(field).split())
        assert [address for _, address in getaddresses([raw])] == ["bob@example.com", "carla@example.com"]


def test_a_domain_with_sharp_s_is_not_another_domain() -> None:
    with pytest.raises(ToolFailure, match="is not an email address"):
        read_recipients("ann@fa\u00df.de")

    assert read_recipients("ann@B\u00dcCHER.example")[0].address == "ann@xn--bcher-kva.example"


async def test_control_characters_in_a_subject_and_a_file_name_are_replaced(desk: Desk) -> None:
    desk.files.mkdir(parents=True, exist_ok=True)
    (desk.files / "a\nb.txt").write_bytes(b"1")

    await desk.call("send_email", to="bob@example.com", subject="x\0y", body="y", attachments=["a\nb.txt"])

    (received,) = desk.sink.received
    (file,) = received.message.iter_attachments()
    assert (received.message["Subject"], file.get_filename()) == ("x y", "a b.txt")


def test_a_damaged_encoded_word_is_shown_as_it_is() -> None:
    assert decode_words("=?utf-8?b?a?= hello") == "=?utf-8?b?a?= hello"


async def test_a_reply_is_stored_although_its_original_is_deleted_meanwhile(desk: Desk) -> None:
    desk.put(letter("Offer"))
    (offer,) = await desk.find("subject:Offer")

    def delete_all() -> None:
        client = desk.imap()
        client.select_folder("INBOX")
        client.delete_messages(client.search())
        client.expunge()

    desk.sink.on_data = delete_all
    try:
        sent = await desk.call("reply_to_email", id=offer["id"], body="Yes")
    finally:
        desk.sink.on_data = lambda: None

    assert await desk.find("subject:Offer in:inbox") == []
    assert sent["remarks"] == []
    assert (await desk.call("read_email", id=sent["id"]))["labels"] == ["SENT"]


async def test_a_send_beyond_the_deadline_may_have_been_sent(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcrib.bundled.mail.imap.SEND_DEADLINE", 0.0)

    said = await asyncio.wait_for(
        desk.failure("send_email", to="bob@example.com", subject="x", body="y"), timeout=30
    )

    assert "may have been sent" in said


async def test_a_moved_message_is_not_confused_with_one_of_a_similar_id(desk: Desk) -> None:
    desk.put(letter("Right", Message_ID="<1@example.com>"))
    desk.put(letter("Wrong", Message_ID="<11@example.com>"))
    (right,) = await desk.find("subject:Right")
    client = desk.imap()
    client.select_folder("INBOX")
    client.delete_messages([int(right["id"].split(":")[2])])
    client.expunge()

    assert "no longer exists" in await desk.failure("trash_email", id=right["id"])
    assert await desk.subjects("in:inbox") == {"Wrong"}


async def test_no_name_of_the_trash_is_a_label(desk: Desk) -> None:
    desk.put(letter("Offer"))
    (offer,) = await desk.find("subject:Offer")

    assert "Use trash_email" in await desk.failure("modify_labels", ids=[offer["id"]], add=["Bin"])
    assert await desk.find("in:trash") == []


async def test_a_file_that_was_replaced_while_the_user_was_asked_is_not_sent(desk: Desk) -> None:
    desk.files.mkdir(parents=True, exist_ok=True)
    (desk.files / "a.txt").write_bytes(b"shown")
    message = {"to": "bob@example.com", "subject": "x", "body": "y", "attachments": ["a.txt"]}
    tool = desk.server.tools["send_email"]
    assert isinstance(tool, FunctionTool)

    token = call_id.set("call-1")
    await tool.preview(message)
    (desk.files / "a.txt").write_bytes(b"other")
    refused = await desk.failure("send_email", **message)
    call_id.reset(token)
    token = call_id.set("call-2")
    await tool.preview(message)
    await desk.call("send_email", **message)
    call_id.reset(token)

    assert "has changed since the user was asked" in refused
    assert len(desk.sink.received) == 1
