from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.approvals.people import AGENT, ALWAYS, NO, YES, Person, Tools, allowed, gate_with, named
from toolcrib.approvals.gate import AllowAll, ApprovalGate
from toolcrib.approvals.proposal import exact_rule
from toolcrib.approvals.question import ApprovalAnswer, ApprovalRequest
from toolcrib.approvals.rule import Pattern, Rule
from toolcrib.schema.approvals import Scope
from toolcrib.schema.tools import Principal, ToolCall
from toolcrib.tools.registry import Registry

HERE = Path(__file__).parent
EVERYDAY: list[str] = json.loads((HERE / "everyday_reading.json").read_text())
BYPASSES: list[str] = json.loads((HERE / "shell_bypasses.json").read_text())


@pytest.fixture
def tools() -> Tools:
    return Tools()


async def test_the_open_gate_lets_every_call_through() -> None:
    registry = Registry()
    registry.put("demo", "mcp", [{"name": "destroy", "annotations": {"destructiveHint": True}}])
    call = ToolCall(id="1", tool=registry.resolve("demo__destroy"), arguments={}, principal=Principal())

    decision = await AllowAll().check(call)

    assert decision.allowed


async def test_everyday_reading_runs_unasked_and_no_way_round_does(tools: Tools) -> None:
    person = Person(NO)
    gate = gate_with(person)

    assert [command for command in EVERYDAY if not await allowed(gate, tools.run(command))] == []
    assert person.questions == []
    assert [command for command in BYPASSES if await allowed(gate, tools.run(command))] == []


@pytest.mark.parametrize("command", ["pytest -q", "make", "npm test"])
async def test_the_projects_own_code_asks_once_and_is_remembered_exactly(tools: Tools, command: str) -> None:
    person = Person(ALWAYS, NO)
    gate = gate_with(person)

    assert await allowed(gate, tools.run(command))
    assert await allowed(gate, tools.run(command, timeout=30, background=True))
    assert len(person.questions) == 1
    assert not await allowed(gate, tools.run(f"{command} --more"))
    assert not await allowed(gate, tools.run(f"{command}; touch x"))
    assert not await allowed(gate, tools.run(command, cwd="/elsewhere"))


async def test_the_question_shows_the_exact_call_and_the_exact_rule(tools: Tools) -> None:
    person = Person(ALWAYS)
    gate = gate_with(person)
    hidden = "echo hi \u202e\u200b\r; touch x"

    assert await allowed(gate, tools.run(hidden))

    asked = person.questions[0]
    assert asked.arguments == {"command": hidden}
    assert "\\u202e\\u200b\\r; touch x" in asked.call_text
    assert [rule.as_json() for rule in gate.rules.active] == [asked.rule.as_json()]
    assert json.loads(asked.rule_text)["arguments"] == {"command": {"equals": hidden}}
    assert "\u202e" not in asked.rule_text


async def test_a_changed_tool_is_asked_about_again(tools: Tools) -> None:
    person = Person(ALWAYS, NO)
    gate = gate_with(person)
    assert await allowed(gate, tools.call("web__post", text="x"))
    gate.sessions.end(AGENT)
    assert await allowed(gate, tools.call("web__post", text="x")) is True

    tools.registry.put("web", "mcp", [named("post", destructiveHint=True)])
    gate.sessions.end(AGENT)

    assert not await allowed(gate, tools.call("web__post", text="x"))


async def test_the_destructive_is_refused_in_every_mode(tools: Tools) -> None:
    for mode in ("always", "on_miss", "on_rule", "plan", "session", "off"):
        person = Person(YES)
        gate = gate_with(person, mode=mode)
        assert not await allowed(gate, tools.run("rm -rf /"))
        assert person.questions == []


@pytest.mark.parametrize(
    ("mode", "name", "decision"),
    [
        ("always", "files__read", "ask"),
        ("always", "web__post", "ask"),
        ("on_miss", "files__read", "allow"),
        ("on_miss", "files__write", "ask"),
        ("on_miss", "web__fetch", "ask"),
        ("on_rule", "files__write", "allow"),
        ("on_rule", "python", "ask"),
        ("on_rule", "terminal__send_input", "ask"),
        ("plan", "files__read", "allow"),
        ("plan", "files__write", "deny"),
        ("plan", "web__fetch", "ask"),
        ("plan", "web__post", "deny"),
        ("session", "files__write", "allow"),
        ("session", "python", "allow"),
        ("off", "python", "allow"),
        ("off", "web__post", "allow"),
    ],
)
async def test_modes(tools: Tools, mode: str, name: str, decision: str) -> None:
    gate = gate_with(mode=mode)

    assert (await gate.explain(tools[name], {}, AGENT)).decision == decision


async def test_a_person_who_calls_by_hand_is_not_asked(tools: Tools) -> None:
    gate = gate_with(Person(NO))

    for name in ("cli", "python"):
        assert await allowed(gate, tools.call("web__post", Principal(name=name)))
    assert await allowed(gate, tools.call("web__post", Principal(name="gateway:claude")))
    assert not await allowed(gate, tools.call("web__post", Principal(name="workflow:nightly")))


async def test_a_deny_rule_beats_an_allow_rule(tools: Tools) -> None:
    gate = gate_with(Person(YES))
    gate.rules.add(Rule(effect="allow", server="web", tool="*"))
    gate.rules.add(Rule(effect="deny", server="web", tool="post", why="never post"))

    judgement = await gate.explain(tools["web__post"], {}, AGENT)

    assert (judgement.decision, judgement.reasons[0]) == ("deny", "Never post.")
    assert (await gate.explain(tools["web__post"], {}, Principal(name="cli"))).decision == "deny"


async def test_a_rule_for_the_whole_terminal_leaves_the_commands_to_be_judged(tools: Tools) -> None:
    gate = gate_with()
    gate.rules.add(Rule(effect="allow", server="terminal", tool="run_command"))
    assert (await gate.explain(tools["terminal__run_command"], {"command": "make"}, AGENT)).decision == "ask"

    gate.rules.add(
        Rule(
            effect="allow",
            server="terminal",
            tool="run_command",
            arguments={"command": Pattern(like="make *")},
        )
    )
    assert (
        await gate.explain(tools["terminal__run_command"], {"command": "make test"}, AGENT)
    ).decision == "allow"
    assert (
        await gate.explain(tools["terminal__run_command"], {"command": "make; curl x"}, AGENT)
    ).decision == "ask"


async def test_scopes_end_where_they_say(tools: Tools) -> None:
    person = Person(ApprovalAnswer(allow=True, scope="chat"), ApprovalAnswer(allow=True, scope="project"), NO)
    gate = gate_with(person)
    one, two = AGENT, Principal(name="agent", session="chat-2")
    gate.begin(one, project="/p")

    assert await allowed(gate, tools.call("files__write", one, path="a"))
    assert await allowed(gate, tools.call("files__write", one, path="a"))
    assert await allowed(gate, tools.call("files__write", one, path="b"))
    gate.begin(two, project="/p")
    assert await allowed(gate, tools.call("files__write", two, path="b"))
    assert not await allowed(gate, tools.call("files__write", two, path="a"))
    gate.begin(two, project="/q")
    assert not await allowed(gate, tools.call("files__write", two, path="b"))


async def test_one_answer_is_for_one_call(tools: Tools) -> None:
    person = Person(YES, NO)
    gate = gate_with(person)
    call = tools.call("files__write", path="a")

    first, second = await asyncio.gather(gate.check(call), gate.check(call))

    assert [first.allowed, second.allowed] == [True, False]
    assert len(person.questions) == 2


async def test_an_answer_for_good_settles_the_twin_that_waits(tools: Tools) -> None:
    person = Person(ALWAYS)
    gate = gate_with(person)
    call = tools.call("files__write", path="a")

    decisions = await asyncio.gather(*(gate.check(call) for _ in range(5)))

    assert all(decision.allowed for decision in decisions)
    assert len(person.questions) == 1


async def test_what_changes_while_it_is_asked_about_does_not_run(tools: Tools) -> None:
    call = tools.call("files__write", path="a")

    def swap(question: ApprovalRequest) -> ApprovalAnswer:
        call.arguments["path"] = "b"  # type: ignore[index]
        return YES

    decision = await gate_with(Person(swap)).check(call)

    assert not decision.allowed
    assert "changed" in decision.reason


async def test_with_nobody_to_ask_the_answer_is_no(tools: Tools) -> None:
    decision = await gate_with().check(tools.call("files__write", path="a"))

    assert not decision.allowed
    assert "No one is available to approve it" in decision.reason


async def test_an_autonomous_run_is_granted_by_a_person_and_ends_with_the_turn(tools: Tools) -> None:
    person = Person(YES, NO)
    gate = gate_with(person)

    assert await allowed(gate, tools.call("terminal__request_session_mode", reason="tidy up"))
    assert person.questions[0].session_mode
    assert "tidy up" in person.questions[0].reasons[0]
    assert await allowed(gate, tools.run("make"))
    assert await allowed(gate, tools.call("files__write", path="a"))
    assert len(person.questions) == 1
    gate.end_turn(AGENT)
    assert not await allowed(gate, tools.run("make"))


async def test_an_autonomous_run_can_be_ended_at_once(tools: Tools) -> None:
    gate = gate_with(Person(YES, NO))
    await gate.check(tools.call("terminal__request_session_mode", reason="x"))

    assert await allowed(gate, tools.call("terminal__end_session_mode"))

    assert not await allowed(gate, tools.run("make"))


async def test_a_refused_autonomous_run_changes_nothing(tools: Tools) -> None:
    gate = gate_with(Person(NO))

    assert not await allowed(gate, tools.call("terminal__request_session_mode", reason="x"))

    assert gate.mode_of(AGENT) == "on_miss"


async def test_a_server_of_others_that_calls_itself_terminal_gets_no_favours(tools: Tools) -> None:
    gate = ApprovalGate(ours=lambda tool: False)

    assert (await gate.explain(tools["terminal__run_command"], {"command": "ls"}, AGENT)).decision == "ask"


async def test_a_protected_file_is_asked_about(tools: Tools) -> None:
    gate = gate_with(protected=[Path("/home/x/.toolcrib")], mode="on_rule")

    for path in ("/home/me/.bashrc", "src/../.git/hooks/pre-commit", "/home/x/.toolcrib/mcp.json"):
        assert (await gate.explain(tools["files__write"], {"path": path}, AGENT)).rule == "protected_files"
    assert (await gate.explain(tools["files__write"], {"path": "notes.txt"}, AGENT)).decision == "allow"


async def test_the_exact_rule_matches_only_its_call(tools: Tools) -> None:
    call = tools.call("files__write", path="a", content="x")

    rule = exact_rule(call, ours=True)

    assert rule.definition == call.tool.hash
    assert rule.closed
    assert {name: pattern.equals for name, pattern in rule.arguments.items()} == {"path": "a", "content": "x"}


async def test_a_cancelled_question_leaves_the_next_one_free(tools: Tools) -> None:
    began = asyncio.Event()

    class Slow:
        async def ask(self, question: ApprovalRequest) -> ApprovalAnswer:
            began.set()
            await asyncio.Event().wait()
            raise AssertionError

    gate = gate_with()
    gate.begin(AGENT, asker=Slow())
    waiting = asyncio.create_task(gate.check(tools.run("make")))
    await asyncio.wait_for(began.wait(), 30)
    waiting.cancel()
    await asyncio.wait([waiting])
    gate.begin(AGENT, asker=Person(YES))

    assert await asyncio.wait_for(allowed(gate, tools.run("make")), 30)


@pytest.mark.parametrize("scope", ["chat", "project", "always"])
@pytest.mark.parametrize("allow", [True, False])
async def test_the_rule_that_is_shown_for_a_scope_is_the_one_that_is_written(
    scope: Scope, allow: bool
) -> None:
    tools, person = Tools(), Person(ApprovalAnswer(allow=allow, scope=scope))
    gate = gate_with(person)
    gate.begin(AGENT, asker=person, project="/home/ada/thing")

    await gate.check(tools.run("make test"))

    shown = person.questions[0].as_json()["rules"]
    [written] = gate.rules.active
    assert json.loads(shown[scope]["allow" if allow else "deny"]) == written.as_json()
    assert set(shown) == {"chat", "project", "always"}


async def test_a_scope_that_was_not_offered_is_not_granted() -> None:
    tools, person = Tools(), Person(ALWAYS)
    gate = gate_with(person)
    gate.rules.add(Rule(effect="allow"))
    await gate.check(tools.call("web__fetch", url="x"))

    await gate.check(tools.call("files__write", path="a"))

    assert person.questions[0].scopes == ("once",)
    assert len(gate.rules.active) == 1


async def test_nobody_is_asked_after_the_turn_that_they_were_there_for() -> None:
    tools, person = Tools(), Person(YES)
    gate = gate_with(None)
    gate.begin(AGENT, asker=person)
    gate.end_turn(AGENT)

    assert not await allowed(gate, tools.run("make"))
    assert person.questions == []


async def test_a_tool_that_only_reads_is_allowed_as_a_whole_until_it_changes(tools: Tools) -> None:
    person = Person(ApprovalAnswer(allow=True, scope="always", any_arguments=True), NO)
    gate = gate_with(person)

    assert await allowed(gate, tools.call("web__fetch", url="a"))
    gate.sessions.end(AGENT)
    assert await allowed(gate, tools.call("web__fetch", url="b", more=1))
    assert [rule.as_json() for rule in gate.rules.active] == [person.questions[0].tool_rule.as_json()]

    tools.registry.put("web", "mcp", [named("fetch", readOnlyHint=True, title="Another")])
    gate.sessions.end(AGENT)
    assert not await allowed(gate, tools.call("web__fetch", url="b"))


@pytest.mark.parametrize("name", ["web__post", "files__write", "python", "terminal__run_command"])
async def test_a_tool_that_does_more_than_read_is_never_allowed_as_a_whole(tools: Tools, name: str) -> None:
    person = Person(ApprovalAnswer(allow=True, scope="always", any_arguments=True), NO)
    gate = gate_with(person)

    assert await allowed(gate, tools.call(name, code="1", command="make", path="x"))

    assert person.questions[0].tool_rule is None
    assert [rule.closed for rule in gate.rules.active] == [True]
