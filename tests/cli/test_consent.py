"""What a person is shown before a call runs, and what each key says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.approvals.people import AGENT, Person, Tools, gate_with
from toolcrib.agent.approval_prompt import read_answer
from toolcrib.approvals.question import ApprovalAnswer, ApprovalRequest
from toolcrib.approvals.rule import Rule
from toolcrib.cli.consent import consent
from toolcrib.schema.approvals import Scope


class Keys:
    """Somebody who presses these keys, one after another."""

    def __init__(self, *pressed: str) -> None:
        self._pressed = list(pressed)

    async def key(self) -> str:
        return self._pressed.pop(0)

    async def line(self, prompt: str) -> str | None:
        return self._pressed.pop(0)

    async def settle(self) -> None:
        pass

    def stop(self) -> None:
        self.stopped = True


async def answered(question: ApprovalRequest, *pressed: str) -> ApprovalAnswer:
    keys: Any = Keys(*pressed)
    return read_answer(await consent({"about": "call", "detail": question.as_json()}, keys))


async def question_about(command: str, *, flow: bool = False) -> ApprovalRequest:
    tools, person = Tools(), Person(ApprovalAnswer(allow=False))
    gate = gate_with(person)
    gate.begin(AGENT, asker=person, project="/home/ada/thing")
    if flow:
        gate.rules.add(Rule(effect="allow"))
        await gate.check(tools.call("web__fetch", url="x"))
    await gate.check(tools.run(command))
    return person.questions[0]


async def question_about_reading() -> ApprovalRequest:
    tools, person = Tools(), Person(ApprovalAnswer(allow=False))
    gate = gate_with(person)
    gate.begin(AGENT, asker=person, project="/home/ada/thing")
    await gate.check(tools.call("web__fetch", url="x"))
    return person.questions[0]


@pytest.mark.parametrize(
    ("pressed", "answer"),
    [
        (("y",), ApprovalAnswer(allow=True)),
        (("x", "C", "\r"), ApprovalAnswer(allow=True, scope="chat")),
        (("c", "a", "n"), ApprovalAnswer(allow=False)),
        (("p", "project"), ApprovalAnswer(allow=True, scope="project")),
        (("a", "always"), ApprovalAnswer(allow=True, scope="always")),
        (("a", "", "a", "yes", "a", "lways", "n"), ApprovalAnswer(allow=False)),
        (("l", "t", "\r"), ApprovalAnswer(allow=True, whole_turn=True)),
        (("n",), ApprovalAnswer(allow=False)),
        (("\x1b",), ApprovalAnswer(allow=False)),
        (("m", "not today"), ApprovalAnswer(allow=False, message="not today")),
    ],
)
async def test_each_key_says_what_it_shows(pressed: tuple[str, ...], answer: ApprovalAnswer) -> None:
    assert await answered(await question_about("make"), *pressed) == answer


async def test_a_flow_is_lifted_by_its_own_key_and_by_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    asked = await question_about("make", flow=True)

    assert await answered(asked, "t", "a", "c", "l", "\r") == ApprovalAnswer(allow=True, lift="tool")
    assert await answered(asked, "u", "\r") == ApprovalAnswer(allow=True, lift="turn")
    assert await answered(asked, "s", "", "s", "lift") == ApprovalAnswer(allow=True, lift="session")

    shown = capsys.readouterr().err
    assert "web__fetch" in shown
    assert "stop asking about untrusted content for this tool" in shown
    assert "Rule to be saved" not in shown


@pytest.mark.parametrize(
    ("pressed", "scope"), [(("c", "\r"), "chat"), (("p", "project"), "project"), (("a", "always"), "always")]
)
async def test_a_tool_that_only_reads_can_be_allowed_whatever_its_arguments(
    pressed: tuple[str, ...], scope: Scope, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = await question_about_reading()

    assert await answered(asked, "w", "t", *pressed) == ApprovalAnswer(
        allow=True, scope=scope, any_arguments=True
    )
    assert await answered(asked, *pressed) == ApprovalAnswer(allow=True, scope=scope)
    assert await answered(asked, "w", "n", "n") == ApprovalAnswer(allow=False)
    assert "allow web.fetch\n" in capsys.readouterr().err


async def test_a_tool_that_writes_is_not_offered_as_a_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert await answered(await question_about("make"), "w", "n") == ApprovalAnswer(allow=False)
    assert "any call of this read-only tool" not in capsys.readouterr().err


async def test_the_rule_is_shown_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    await answered(await question_about("make"), "n")

    shown = capsys.readouterr().err
    assert "Rule to be saved: allow " in shown
    assert "{" not in shown.partition("Rule to be saved")[2]


async def test_escape_at_a_question_denies_the_call_and_stops_the_answer() -> None:
    keys: Any = Keys("\x1b")
    detail = (await question_about("make")).as_json()

    assert await consent({"about": "call", "detail": detail}, keys) == {"action": "decline"}
    assert keys.stopped


async def test_the_rule_is_shown_with_everything_that_could_hide_in_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    await answered(await question_about("make \u202ex\u200b"), "n")

    shown = capsys.readouterr().err
    assert shown.count("\\u202e") == shown.count("\\u200b") == 2
    assert "\u202e" not in shown


async def test_tool_and_server_stand_beside_the_choices_of_a_long_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = f"make first{' ' * 900}last\n" + "\n".join(f"make {number}" for number in range(300))
    await answered(await question_about(command), "n")

    *_, before_last, last = [line for line in capsys.readouterr().err.splitlines() if line.strip()]
    assert before_last == "  Tool: terminal__run_command of terminal"
    assert last.startswith("  [y] once")


async def test_spaces_and_empty_lines_are_counted_and_a_request_is_shown_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asks = f"first{' ' * 900}last\n{chr(10) * 60}" + "\n".join(f"line {number}" for number in range(100))
    keys: Any = Keys("n")
    question = {"about": "sampling", "server": "box", "text": "box asks.", "detail": {"asks": asks}}
    await consent(question, keys)

    shown = capsys.readouterr().err
    assert "first⟨900 spaces⟩last" in shown
    assert "⟨60 empty lines⟩" in shown
    assert "line 99" in shown
    assert shown.index("line 99") < shown.index("Allow box to send it?")
