"""The turns that are recorded: one for each thing that can happen to a turn."""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chats.recording import Recorder, Scenario
from toolcrib.agent.chat import Entry, Partial, Said
from toolcrib.errors import AnswerCut, ModelBusy, ModelUnreachable
from toolcrib.llm.model import CompletionRequest, ModelEvent, ModelNotice, ModelTraits, ThinkingDelta
from toolcrib.llm.stream_reader import AnswerBuilder
from toolcrib.llm.vendor_model import tell_of_wait
from toolcrib.schema.messages import FromModel, FromUser, Image, StopReason, Text, ToolUse, Usage
from toolcrib.serverkit.context import ToolContext
from toolcrib.testing.model import ScriptedCalls, ScriptedModel, calls

PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(64)).decode()
ASKING_SERVER = Path(__file__).parents[1] / "agent" / "programs" / "asking_server.py"
SMALL = ModelTraits(context_tokens=1500)


@dataclass(frozen=True)
class Speech:
    """A step of the model with more than words and calls."""

    text: str = ""
    thinking: str = ""
    notice: str = ""
    reason: StopReason = "end"
    error: Exception | None = None
    endless: bool = False
    wait: float = 0.0


class Scripted(ScriptedModel):
    """The scripted model, which can also think, break off and be busy."""

    def __init__(self, *steps: Any, **options: Any) -> None:
        super().__init__(*steps, **options)
        self._speeches = steps

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[ModelEvent, None]:
        step = self._speeches[min(len(self.requests), len(self._speeches) - 1)]
        if not isinstance(step, Speech):
            async for event in super().stream(request):
                yield event
            return
        self.requests.append(request)
        async for event in _speak(step):
            yield event


async def _speak(step: Speech) -> AsyncGenerator[ModelEvent, None]:
    gathering = AnswerBuilder(usage=Usage(input=100, output=10, requests=1), reason=step.reason)
    if step.wait:
        tell_of_wait(ModelBusy("Too many requests."), step.wait)
    if step.notice:
        yield ModelNotice(step.notice)
    if step.thinking:
        yield ThinkingDelta(step.thinking)
    for event in gathering.say(step.text):
        yield event
    if step.endless:
        await asyncio.Event().wait()
    if step.error is not None:
        raise step.error
    yield gathering.finish()


def add_tool(found: Recorder) -> None:
    @found.host.tool()
    async def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b


async def answered(found: Recorder) -> None:
    await found.ask(found.agent(Scripted("Hello, this is an answer.")), "Who are you?")
    await found.until("ended")


async def thinking(found: Recorder) -> None:
    await found.ask(found.agent(Scripted(Speech(text="It is 4.", thinking="Two and two, hm."))))
    await found.until("ended")


async def parallel_calls(found: Recorder) -> None:
    turns = [asyncio.Event() for _ in range(3)]
    turns[2].set()

    @found.host.tool()
    async def step(number: int) -> str:
        """Wait for the step after this one."""
        await turns[number].wait()
        turns[number - 1].set()
        return f"step {number}"

    made = calls(*(("step", {"number": number}) for number in range(3)), saying="I take three steps.")
    await found.ask(found.agent(Scripted(made, "All done.")))
    await found.until("ended")


async def queued_calls(found: Recorder) -> None:
    add_tool(found)
    made = calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4}))
    await found.ask(found.agent(Scripted(made, "3 and 7.")))
    await found.until("ended")


async def asked_and_allowed(found: Recorder) -> None:
    add_tool(found)
    model = Scripted(calls(("add", {"a": 1, "b": 2})), "3.")
    await found.ask(found.agent(model, mode="always"))
    question = await found.until("asking")
    await found.until("queued")
    found.reply(question, "accept", scope="chat", message="Go ahead.")
    await found.until("ended")


async def denied(found: Recorder) -> None:
    add_tool(found)
    model = Scripted(calls(("add", {"a": 1, "b": 2})), "I will not.")
    await found.ask(found.agent(model, mode="always"))
    question = await found.until("asking")
    await found.until("queued")
    found.reply(question, "decline", message="Use your head.")
    await found.until("ended")


async def waiting_for_an_answer(found: Recorder) -> None:
    """Recorded in the middle: a question is open."""
    add_tool(found)
    model = Scripted(calls(("add", {"a": 1, "b": 2}), saying="May I?"), "3.")
    await found.ask(found.agent(model, mode="always"))
    await found.until("asking")
    await found.until("queued")


async def asked_by_a_server(found: Recorder) -> None:
    model = Scripted(
        calls(("asking__interview", {})), calls(("asking__ponder", {})), "A bed for tools.", "Hello Ada."
    )
    await found.ask(found.agent(model))
    found.reply(await found.until("asking"), "accept", name="Ada")
    found.reply(await found.until("asking"), "accept")
    await found.until("ended")


async def stopped(found: Recorder) -> None:
    @found.host.tool()
    async def wait(context: ToolContext) -> str:
        """Wait for ever."""
        context.progress(1, 3, "one of three")
        await asyncio.Event().wait()
        return ""

    await found.ask(found.agent(Scripted(calls(("wait", {}), saying="One moment."))))
    await found.until("progress")
    await found.stop()
    await found.until("ended")


async def stopped_in_a_text(found: Recorder) -> None:
    speech = Speech(text="Once upon a time", thinking="A story.", endless=True)
    await found.ask(found.agent(Scripted(speech)))
    await found.until("text")
    await found.stop()
    await found.until("ended")


async def progress(found: Recorder) -> None:
    @found.host.tool()
    async def work(context: ToolContext) -> str:
        """Work."""
        context.progress(1, 2, "half")
        context.progress(2, 2, "done")
        return "worked"

    await found.ask(found.agent(Scripted(calls(("work", {})), "Done.")))
    await found.until("ended")


async def failed(found: Recorder) -> None:
    add_tool(found)
    broken = ModelUnreachable("The vendor does not answer.", hint="Try later.")
    await found.ask(found.agent(Scripted(calls(("add", {"a": 1, "b": 2})), broken)))
    await found.until("ended")


async def failed_call(found: Recorder) -> None:
    add_tool(found)
    model = Scripted(calls(("add", {"a": "one"}), ("nowhere", {}), ("add", "{broken")), "I cannot.")
    await found.ask(found.agent(model))
    await found.until("ended")


async def cut(found: Recorder) -> None:
    await found.ask(found.agent(Scripted(Speech(text="This is too", reason="length"))))
    await found.until("ended")


async def again(found: Recorder) -> None:
    broken = Speech(text="Half of", error=AnswerCut("The answer broke off."))
    await found.ask(found.agent(Scripted(broken, "The whole answer.")))
    await found.until("ended")


async def busy(found: Recorder) -> None:
    await found.ask(found.agent(Scripted(Speech(text="Now I can.", wait=2.0))))
    await found.until("ended")


async def notice(found: Recorder) -> None:
    await found.ask(found.agent(Scripted(Speech(text="I saw nothing.", notice="A picture was left out."))))
    await found.until("ended")


async def pictures(found: Recorder) -> None:
    @found.host.tool()
    async def draw() -> dict[str, Any]:
        """Draw."""
        return {"content": [{"type": "image", "data": PICTURE, "mimeType": "image/png"}]}

    model = Scripted(calls(("draw", {})), "A picture.")
    await found.ask(found.agent(model), "Draw this.", [Image(PICTURE, "image/png")])
    await found.until("ended")


async def compacted(found: Recorder) -> None:
    @found.host.tool()
    async def dig(hole: int) -> str:
        """Dig a hole."""
        return f"hole {hole}: " + "earth " * 200

    def step(request: CompletionRequest) -> str | ScriptedCalls:
        first = request.messages[0]
        if isinstance(first, FromUser) and "Write that note" in first.text:
            return "The treasure is not in hole one."
        done = sum(not isinstance(one, str) for one in made)
        made.append(calls(("dig", {"hole": done + 1})) if done < 5 else "No treasure.")
        return made[-1]

    made: list[str | ScriptedCalls] = []
    await found.ask(found.agent(Scripted(step, traits=SMALL)), "Where is the treasure?")
    await found.until("ended")


async def continued(found: Recorder) -> None:
    """The host was killed in the middle of an answer, and the user continues it."""
    add_tool(found)
    model = Scripted(calls(("add", {"a": 1, "b": 2})), "It is 3.")
    use = ToolUse(id="call_killed", name="add", arguments={"a": 1, "b": 2})
    entries: list[Entry] = [
        Said(FromUser(parts=(Text("What is 1 plus 2?"),))),
        Said(FromModel(parts=(Text("I add them."), use))),
        Partial(mark="0123456789ab", text="One plus", thinking="Hm."),
    ]
    chat = await found.host.chats.store.create(model.name, entries=entries)
    await found.resume(found.agent(model), await found.host.chats.store.load(chat.id))
    await found.until("ended")


async def continued_after_a_stop(found: Recorder) -> None:
    model = Scripted(Speech(text="Once upon", endless=True), "a time.")
    await found.ask(found.agent(model))
    await found.until("text")
    await found.stop()
    await found.until("ended")
    await found.resume(found.agent(model), await found.host.chats.store.load(found.chat))
    await found.until("ended")


async def continued_after_a_cut(found: Recorder) -> None:
    """Usage and cost of both parts are added."""
    agent = found.agent(Scripted(Speech(text="Once upon", reason="length"), "a time."))
    await found.ask(agent)
    await found.until("ended")
    await found.resume(agent, await found.host.chats.store.load(found.chat))
    await found.until("ended")


async def by_hand(found: Recorder) -> None:
    """The user makes a call after an answer that was cut."""
    add_tool(found)
    agent = found.agent(Scripted(Speech(text="I would add", reason="length")))
    await found.ask(agent)
    await found.until("ended")
    await found.by_hand(agent, "add", {"a": 1, "b": 2})
    await found.until("ended")


async def by_hand_alone(found: Recorder) -> None:
    add_tool(found)
    await found.by_hand(found.agent(Scripted("Never asked.")), "add", {"a": 1, "b": 2})
    await found.until("ended")


SCENARIOS: dict[str, Scenario] = {
    scenario.__name__: scenario
    for scenario in (
        answered,
        thinking,
        parallel_calls,
        queued_calls,
        asked_and_allowed,
        denied,
        waiting_for_an_answer,
        asked_by_a_server,
        stopped,
        stopped_in_a_text,
        progress,
        failed,
        failed_call,
        cut,
        again,
        busy,
        notice,
        pictures,
        compacted,
        continued,
        continued_after_a_stop,
        continued_after_a_cut,
        by_hand,
        by_hand_alone,
    )
}
SETTINGS: dict[str, dict[str, Any]] = {
    "queued_calls": {"agent": {"max_parallel_calls": 1}},
    "asked_by_a_server": {"servers": {"asking": {"command": sys.executable, "args": [str(ASKING_SERVER)]}}},
}
