"""Two hosts with separate homes share one database, and apply each other's decisions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.databases.postgres import running_postgres
from toolcrib.approvals.question import ApprovalAnswer
from toolcrib.approvals.rule import Rule
from toolcrib.config.tokens import hash_token
from toolcrib.errors import DatabaseUnavailable, DatabaseUnreachable, Denied
from toolcrib.host import Host, open_host
from toolcrib.operations.checks.database import check
from toolcrib.operations.gateway import ProfileAddParams, profile_add, profile_remove, profile_token
from toolcrib.operations.health import CheckContext
from toolcrib.schema.tools import Principal, ToolDefinition
from toolcrib.store.database import open_database
from toolcrib.store.postgres.watch import ChangeWatch

DEADLINE = 60.0
AGENT = Principal(name="agent", session="s")
ASK = {"headless": "wait", "modes": {"agent": "always"}}
DEMO = {"type": "inprocess", "module": "toolcrib.bundled.demo"}


@dataclass
class Pair:
    one: Host
    other: Host


def home(folder: Path, url: str, **settings: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    document = {"mcpServers": {"demo": DEMO}, "toolcrib": {"database": url, **settings}}
    (folder / "mcp.json").write_text(json.dumps(document))
    return folder


@asynccontextmanager
async def opened(tmp_path: Path, url: str, **settings: Any) -> AsyncIterator[Pair]:
    async with AsyncExitStack() as stack:
        homes = [home(tmp_path / name, url, **settings) for name in ("one", "other")]
        yield Pair(*[await stack.enter_async_context(open_host(folder, lazy=True)) for folder in homes])


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.fixture
async def pair(tmp_path: Path, postgres_url: str) -> AsyncIterator[Pair]:
    async with opened(tmp_path, postgres_url) as hosts:
        yield hosts


async def test_rules_of_one_host_apply_at_the_other(pair: Pair) -> None:
    mine, others = pair.one.approvals.rules, pair.other.approvals.rules
    rule = Rule(server="demo", tool="add", effect="deny")

    mine.add(rule)
    await until(lambda: [one.id for one in others.active] == [rule.id])
    others.switch(rule.id, False)
    await until(lambda: not mine.active)
    mine.remove(rule.id)
    await until(lambda: not others.listed())


async def test_a_question_is_answered_at_another_host(tmp_path: Path, postgres_url: str) -> None:
    async with opened(tmp_path, postgres_url, approvals=ASK) as pair:
        allowed, denied = ({"a": 1, "b": 2}, {"a": 3, "b": 4})
        calls = (pair.one.call("demo__add", one, principal=AGENT) for one in (allowed, denied))
        yes, no = map(asyncio.create_task, calls)
        async with asyncio.timeout(DEADLINE):
            await answer(pair.other, allowed, ApprovalAnswer(allow=True))
            await answer(pair.other, denied, ApprovalAnswer(allow=False, message="not today"))

            assert (await yes)["structuredContent"] == {"result": 3}
            with pytest.raises(Denied, match="not today"):
                await no


async def answer(host: Host, arguments: object, said: ApprovalAnswer) -> None:
    """Answer the question about this call once this host sees it."""
    questions = host.approvals.questions
    with host.events.subscribe() as events:
        while True:
            for waiting in await questions.requests.waiting():
                if waiting.question["arguments"] == arguments:
                    assert await questions.answer(waiting.question["id"], said)
                    return
            await events.next()


async def test_profiles_and_tokens_of_one_host_are_those_of_the_other(pair: Pair) -> None:
    await profile_add(pair.one, ProfileAddParams(name="team", tools=["demo__*"]))
    await until(lambda: "team" in pair.other.settings.profiles)
    await profile_token(pair.one, name="team", token_hash=hash_token("tcrib_x"), tail="rib_x"[-4:])
    await until(lambda: pair.other.settings.profiles["team"].token_hash)
    await profile_token(pair.other, name="team")
    await until(lambda: not pair.one.settings.profiles["team"].token_hash)
    await profile_remove(pair.other, "team")
    await until(lambda: "team" not in pair.one.settings.profiles)

    assert "profiles" not in json.loads((pair.one.paths.config_file).read_text())["toolcrib"]


@pytest.mark.acceptance
async def test_a_token_of_the_config_file_holds_until_the_database_has_a_decision(
    tmp_path: Path, postgres_url: str
) -> None:
    hashed = hash_token("tcrib_file")
    async with opened(tmp_path, postgres_url, gateway={"tokenHash": hashed}) as pair:
        assert pair.one.settings.gateway.token_hash == hashed

        await profile_token(pair.one)

        await until(lambda: not pair.other.settings.gateway.token_hash)


async def test_trust_given_at_one_host_holds_at_the_other(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOOLCRIB_TRUST_CONFIG")
    async with opened(tmp_path, postgres_url) as pair:
        entries = [pair.one.config.servers["demo"], pair.other.config.servers["demo"]]
        changed = entries[0].raw | {"args": ["--changed"]}
        for host in (pair.one, pair.other):
            document = json.loads(host.paths.config_file.read_text())
            document["mcpServers"]["demo"] = changed
            host.paths.config_file.write_text(json.dumps(document))
            await host.reload()
        entry = pair.other.config.servers["demo"]
        assert not pair.other.core.trust.holds(entry)

        await pair.one.agree("demo")

        await until(lambda: pair.other.core.trust.holds(entry))


async def test_an_approved_definition_is_approved_at_the_other(pair: Pair) -> None:
    tool = ToolDefinition(name="x", raw={"name": "x"})

    pair.one.core.pins.approve("demo", [(tool, "h1")])

    await until(lambda: pair.other.core.pins.pin("demo", "x"))
    assert pair.other.core.pins.held("demo", [(tool, "h2")], approve_new=True) != {}
    assert pair.other.core.pins.held("demo", [(tool, "h1")], approve_new=True) == {}


async def test_a_signed_in_browser_is_known_to_all_until_it_is_revoked(pair: Pair) -> None:
    key = await pair.one.pages.admit(pair.one.pages.invite(), "browser")
    assert key is not None
    await until(lambda: pair.other.pages.holder(key))

    pair.other.pages.revoke(pair.other.pages.all()[0].id)

    await until(lambda: not pair.one.pages.holder(key))


@pytest.mark.acceptance
async def test_all_hosts_sign_with_the_same_key(pair: Pair) -> None:
    signer = pair.one.core.database.decisions.signer
    assert signer == pair.other.core.database.decisions.signer is not None


async def test_the_doctor_says_what_is_shared_and_what_is_not(pair: Pair) -> None:
    (finding,) = await check(CheckContext(paths=pair.one.paths, host=pair.one))

    assert finding.verdict == "ok"
    assert "postgresql://" in finding.detail
    assert "Secrets, server processes, logs and installed servers stay on this machine." in finding.detail


async def test_every_host_sees_the_calls_of_all(pair: Pair) -> None:
    for host in (pair.one, pair.other):
        await host.call("demo__add", {"a": 1, "b": 2})

    assert [len(await host.audit.query()) for host in (pair.one, pair.other)] == [2, 2]


@pytest.mark.acceptance
async def test_calls_go_on_and_questions_wait_while_the_database_is_away(tmp_path: Path) -> None:
    with running_postgres(durable=True) as server:
        async with opened(tmp_path, server.url(), approvals=ASK) as pair:
            arguments = {"a": 1, "b": 2}
            call = asyncio.create_task(pair.one.call("demo__add", arguments, principal=AGENT))
            await until_asked(pair.one)

            server.stop(kill=True)
            with pytest.raises(DatabaseUnavailable, match="cannot be used at the moment"):
                await pair.one.approvals.questions.requests.waiting()
            assert (await pair.one.call("demo__add", {"a": 20, "b": 3}))["structuredContent"] == {
                "result": 23
            }
            server.start()

            async with asyncio.timeout(DEADLINE):
                await until_answered(pair.other, arguments)
                assert (await call)["structuredContent"] == {"result": 3}
            written = {record.arguments for record in await pair.one.audit.query()}
            assert written == {'{"a":1,"b":2}', '{"a":20,"b":3}'}


async def until_asked(host: Host) -> None:
    async with asyncio.timeout(DEADLINE):
        with host.events.subscribe() as events:
            while not await host.approvals.questions.requests.waiting():
                await events.next()


async def until_answered(host: Host, arguments: object) -> None:
    """Answer as soon as the database can be used again."""
    while True:
        try:
            await answer(host, arguments, ApprovalAnswer(allow=True))
            return
        except DatabaseUnavailable:
            await asyncio.sleep(0.05)


@pytest.mark.acceptance
async def test_a_change_without_a_notification_is_found(postgres_url: str) -> None:
    applied = asyncio.Event()

    async def apply() -> None:
        applied.set()

    async with open_database(postgres_url) as database:
        watch = asyncio.create_task(ChangeWatch(postgres_url, {"rules": apply}, poll=0.05).run())
        async with asyncio.timeout(DEADLINE):
            await applied.wait()
            applied.clear()
            await database.run(
                lambda connection: connection.execute("INSERT INTO revisions VALUES ('rules', 7)")
            )
            await applied.wait()
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)


@pytest.mark.acceptance
async def test_a_host_does_not_start_without_its_database(tmp_path: Path) -> None:
    folder = home(tmp_path / "home", "postgresql://someone@127.0.0.1:1/nowhere")

    with pytest.raises(DatabaseUnreachable):
        async with open_host(folder):
            pass
