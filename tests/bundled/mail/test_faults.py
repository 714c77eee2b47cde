"""Encryption, refused sign-ins and recipients, lost connections, full mailboxes: each says what to do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.bundled.mail.conftest import Desk, account_for, letter, use
from tests.bundled.mail.servers import PASSWORD, Dovecot, free_port, relay, running_dovecot, running_sink
from toolcrib.accounts import Account, AccountStore
from toolcrib.accounts.mail_servers import MailServers
from toolcrib.accounts.provider import find_provider
from toolcrib.accounts.smtp import send_mail
from toolcrib.errors import AuthRequired, ToolcribError

IMAP = find_provider("imap")


@pytest.mark.parametrize("security", ["tls", "starttls", "plain"])
async def test_an_account_works_with_each_kind_of_encryption(dovecot: Dovecot, security: str) -> None:
    port = dovecot.tls_port if security == "tls" else dovecot.port
    with running_sink(security, dovecot.certificate) as sink:
        account = account_for(
            "tls@example.org", port, sink.port, security, certificate=str(dovecot.certificate.file)
        )
        check = await IMAP.check(account, PASSWORD)
        refused = await asyncio.to_thread(
            send_mail,
            MailServers.of(account),
            PASSWORD,
            letter("x"),
            ["bob@example.com", "no-one@example.com"],
        )

    assert check.identity == "tls@example.org"
    assert check.remarks[0].startswith("IMAP works: 0 messages in the inbox")
    assert sink.signed_in == ["tls@example.org"] * 2
    assert refused == {"no-one@example.com": "5.1.1 No such user"}
    assert [each.recipients for each in sink.received] == [["bob@example.com"]]


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_a_certificate_that_is_not_trusted_is_refused(dovecot: Dovecot, security: str) -> None:
    port = dovecot.tls_port if security == "tls" else dovecot.port
    with running_sink(security, dovecot.certificate) as sink:
        account = account_for("a@b.org", port, sink.port, security)
        with pytest.raises(ToolcribError, match=r"certificate of localhost:.* is not valid") as raised:
            await IMAP.check(account, PASSWORD)
        with pytest.raises(ToolcribError, match=r"certificate of localhost:.* is not valid"):
            await asyncio.to_thread(send_mail, MailServers.of(account), PASSWORD, b"", ["a@b.org"])

    assert "own, give its file" in raised.value.hint
    assert sink.signed_in == []


async def test_encryption_is_never_given_up_silently() -> None:
    with (
        running_dovecot("ssl = no") as unencrypted,
        running_sink("plain") as sink,
    ):
        account = account_for("a@b.org", unencrypted.port, sink.port, "starttls")
        with pytest.raises(ToolcribError, match="does not offer encryption"):
            await IMAP.check(account, PASSWORD)
        with pytest.raises(ToolcribError, match="does not offer encryption"):
            await asyncio.to_thread(send_mail, MailServers.of(account), PASSWORD, b"", ["a@b.org"])

    assert sink.signed_in == []


async def test_tls_on_a_port_without_tls_names_the_other_kind(dovecot: Dovecot) -> None:
    account = account_for("a@b.org", dovecot.port, dovecot.port, "tls")

    with pytest.raises(ToolcribError, match=r"encrypted connection to .* failed") as raised:
        await IMAP.check(account, PASSWORD)

    assert "--starttls" in raised.value.hint


async def test_a_wrong_password_says_how_to_replace_it(desk: Desk) -> None:
    use(desk, desk.account, "wrong")

    said = await desk.failure("search_emails", query="")
    with pytest.raises(AuthRequired, match="refused the sign-in"):
        await IMAP.check(desk.account, "wrong")

    assert "refused the sign-in: [AUTHENTICATIONFAILED] Authentication failed" in said
    assert "toolcrib account add imap work --replace" in said
    assert "wrong" not in said


async def test_a_password_beyond_ascii_is_sent_and_refused_cleanly(desk: Desk) -> None:
    use(desk, desk.account, "Пароль")

    assert "refused the sign-in" in await desk.failure("search_emails", query="")


async def test_a_server_that_is_not_there_is_named(desk: Desk) -> None:
    port = free_port()
    use(desk, account_for(desk.user, port, port))

    said = await desk.failure("search_emails", query="")
    sending = await desk.failure("send_email", to="bob@example.com", subject="x", body="y")

    assert f"localhost:{port} refused the connection" in said
    assert f"localhost:{port} refused the connection" in sending


async def test_a_host_that_does_not_resolve_is_named(desk: Desk) -> None:
    use(
        desk,
        Account(**{**vars(desk.account), "settings": {**desk.account.settings, "imap_host": "no.invalid"}}),
    )

    assert "no.invalid does not resolve" in await desk.failure("search_emails", query="")


async def test_refused_recipients_are_named(desk: Desk) -> None:
    everyone = await desk.failure(
        "send_email", to=["no-one@example.com", "full-box@example.com"], subject="x", body="y"
    )
    some = await desk.call("send_email", to=["bob@example.com", "no-one@example.com"], subject="x", body="y")

    assert "no-one@example.com: 5.1.1 No such user; full-box@example.com: 5.2.2 Mailbox full" in everyone
    assert some["remarks"] == ["Not delivered to no-one@example.com: 5.1.1 No such user"]
    assert len(await desk.find("in:sent")) == 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("451 4.3.0 Try later", "cannot take it now (451 4.3.0 Try later)"),
        ("554 5.7.1 Looks like spam", "refused the message (554 5.7.1 Looks like spam)"),
        ("552 5.2.2 Over quota", "too large or the mailbox is full"),
    ],
)
async def test_a_message_that_is_refused_is_not_stored_as_sent(desk: Desk, reply: str, said: str) -> None:
    desk.sink.reply_to_data = reply

    assert said in await desk.failure("send_email", to="bob@example.com", subject="x", body="y")
    assert await desk.find("in:sent") == []


async def test_a_connection_lost_while_sending_is_not_called_a_failure(desk: Desk) -> None:
    desk.sink.drop_after_data = True

    said = await desk.failure("send_email", to="bob@example.com", subject="x", body="y")

    assert "may have been sent" in said


async def test_a_message_beyond_the_servers_limit_is_not_transferred(desk: Desk) -> None:
    with running_sink(data_size_limit=100_000) as small:
        use(desk, account_for(desk.user, desk.dovecot.port, small.port))
        (desk.files / "big").write_bytes(b"\0" * 200_000)

        said = await desk.failure(
            "send_email", to="b@example.com", subject="x", body="y", attachments=["big"]
        )

    assert "takes at most 0.1 MB" in said
    assert small.received == []


@pytest.mark.parametrize("bad", ["", "nobody", "a b@c.org", "a@", "@b.org", "x\r\nBcc: y@z.org", "a@b.org\0"])
async def test_an_invalid_address_is_named_and_nothing_is_sent(desk: Desk, bad: str) -> None:
    said = await desk.failure("send_email", to=[bad], subject="x", body="y")

    assert "is not an email address" in said or "no recipient" in said
    assert desk.sink.received == []


async def test_a_header_cannot_be_smuggled_into_a_message(desk: Desk) -> None:
    await desk.call(
        "send_email",
        to='"x Bcc: evil@example.com" <bob@example.com>',
        subject="Hi\r\nBcc: evil@example.com\r\n\r\nbody",
        body="Text \udc80 \ud83d",
    )

    (received,) = desk.sink.received
    assert received.recipients == ["bob@example.com"]
    assert received.message["Bcc"] is None
    assert received.message["Subject"] == "Hi Bcc: evil@example.com body"


async def test_a_full_mailbox_is_reported_and_the_message_was_sent(desk: Desk) -> None:
    with running_dovecot("plugin {\n  quota_rule3 = *:messages=1\n}") as full:
        use(desk, account_for(desk.user, full.port, desk.sink.port))

        first = await desk.call("send_email", to="bob@example.com", subject="one", body="y")
        second = await desk.call("send_email", to="bob@example.com", subject="two", body="y")
        draft = await desk.failure("create_draft", body="x")

    assert first["remarks"] == []
    assert "It was sent, but not stored in the Sent folder" in second["remarks"][0]
    assert "is full" in second["remarks"][0]
    assert "is full" in draft
    assert len(desk.sink.received) == 2


async def test_a_dropped_connection_is_opened_again_for_reading(desk: Desk) -> None:
    desk.put(letter("Hello"))
    once = [True]

    def first_search(data: bytes) -> bool:
        return b"SORT" in data and bool(once) and once.pop()

    with relay(desk.dovecot.port, first_search) as (port, cuts):
        use(desk, account_for(desk.user, port, desk.sink.port))
        found = await desk.find("subject:Hello")

    assert len(found) == 1
    assert cuts == [1]


async def test_a_change_is_not_repeated_after_a_dropped_connection(desk: Desk) -> None:
    desk.put(letter("Hello"))
    with relay(desk.dovecot.port, lambda data: b"MOVE" in data) as (port, cuts):
        use(desk, account_for(desk.user, port, desk.sink.port))
        (found,) = await desk.find("subject:Hello")
        said = await desk.failure("trash_email", id=found["id"])

    assert "The connection to localhost" in said
    assert cuts == [1]


async def test_a_server_without_move_and_uidplus_still_moves_messages(desk: Desk) -> None:
    bare = "imap_capability = IMAP4rev1 SASL-IR LITERAL+ SPECIAL-USE"
    with running_dovecot(bare) as old:
        use(desk, account_for(desk.user, old.port, desk.sink.port))
        desk.dovecot = old
        desk.put(letter("Stay", Message_ID="<stay@example.com>"), flags=(b"\\Deleted",))
        desk.put(letter("Go", Message_ID="<go@example.com>"))
        desk.put(letter("Alone", Message_ID="<alone@example.com>"), folder="Junk")
        (go,) = await desk.find("subject:Go")
        trashed = await desk.call("trash_email", id=go["id"])
        (alone,) = await desk.find("in:spam")
        await desk.call("trash_email", id=alone["id"])
        client = desk.imap()
        client.select_folder("INBOX", readonly=True)
        left = client.search(["HEADER", "Message-ID", "<stay@example.com>"])
        client.select_folder("Junk", readonly=True)

        assert (await desk.call("read_email", id=trashed["id"]))["subject"] == "Go"
        assert len(left) == 1
        assert client.search() == []
        desk.closing.close()


async def test_labels_are_gmails_own_where_the_server_is_gmail(desk: Desk) -> None:
    sent: list[bytes] = []

    def note(data: bytes) -> bool:
        sent.append(data)
        return False

    with running_dovecot("imap_capability = +X-GM-EXT-1") as gmail, relay(gmail.port, note) as (port, _):
        use(desk, account_for(desk.user, port, desk.sink.port))
        desk.dovecot = gmail
        desk.put(letter("Offer"))
        (offer,) = await desk.find("subject:Offer")
        # dovecot knows the capability only by name
        await desk.failure("modify_labels", ids=[offer["id"]], add=["Two words"], remove=["Old"])
        desk.closing.close()

    assert any(b'STORE 1 +X-GM-LABELS ("Two words")' in data for data in sent)


async def test_many_calls_at_once_share_the_connections(desk: Desk) -> None:
    for number in range(10):
        desk.put(letter(f"N{number}"))
    found = await desk.find("subject:N", max_results=50)

    texts = await asyncio.gather(*(desk.call("read_email", id=each["id"]) for each in found * 3))

    assert len(texts) == 30
    assert {each["subject"] for each in texts} == {f"N{number}" for number in range(10)}


async def test_without_an_account_the_user_learns_how_to_add_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolcrib.bundled.mail import create

    monkeypatch.setenv("TOOLCRIB_KEYRING", "off")
    server = create([], tmp_path)
    result = await server.tools["search_emails"].call({"query": "x"})
    server.close()

    assert "toolcrib account add imap NAME" in result["content"][0]["text"]


async def test_only_named_accounts_are_used(desk: Desk) -> None:
    from toolcrib.bundled.mail import create

    other = Account(**{**vars(desk.account), "name": "private"})
    AccountStore.of_home(desk.home).add(other, PASSWORD)
    limited = create(["--account", "work"], desk.home)
    ambiguous = await desk.failure("search_emails", query="")
    allowed = await limited.tools["search_emails"].call({"query": ""})
    refused = await limited.tools["search_emails"].call({"query": "", "account": "private"})
    limited.close()

    assert "Name one of these as `account`: private" in ambiguous
    assert allowed["isError"] is False
    assert "is not enabled for this server" in refused["content"][0]["text"]
