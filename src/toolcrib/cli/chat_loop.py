"""The talk of `toolcrib chat`: reads questions, shows answers, knows a few commands; Esc stops an answer."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from toolcrib.cli.colours import paint
from toolcrib.cli.keyboard import Keyboard
from toolcrib.cli.line_input import Prompt
from toolcrib.cli.model_choice import choose_model
from toolcrib.cli.one_question import ask_crib
from toolcrib.cli.output import label, note, say
from toolcrib.cli.surface import Surface
from toolcrib.cli.turn_view import turn_view
from toolcrib.control.needs import Crib
from toolcrib.errors import NoModel, ToolcribError

CONTINUE = "/continue"
HELP = """/new            begin a new chat
/model NAME     go on with another model
/chats          list earlier chats
/open ID        go on with another chat
/fork           go on in a copy of this chat
/continue       continue an answer that was interrupted or stopped
/usage          what this chat took so far
/exit           leave (Ctrl-D)
Esc or Ctrl-C stops an answer."""


@dataclass
class Talk:
    """One run of the command."""

    surface: Surface
    model: str | None = None
    chat: str | None = None
    _tokens: list[int] = field(default_factory=lambda: [0, 0])
    _cost: float = 0.0

    async def run(self) -> None:
        """Until the person leaves."""
        interactive = sys.stdin.isatty() and sys.stdout.isatty()
        prompt = Prompt(self.surface.paths.state / "chat_history", interactive=interactive)
        async with _Way(self.surface) as way:
            with prompt:
                await self._introduce(way, prompt, interactive=interactive)
                while (line := await prompt.read()) is not None:
                    if not line.strip():
                        continue
                    if line.strip() == CONTINUE:
                        await self._continue(way, prompt, interactive=interactive)
                        continue
                    if line.startswith("/"):
                        if not await self._command(line, way):
                            break
                        continue
                    await self._turn(line, way, prompt, interactive=interactive)
            await self._leave(way)

    async def _leave(self, way: _Way) -> None:
        crib = await way.crib()
        if self.chat is not None and crib.running:
            await crib.run("chat_close", {"chat": self.chat})

    async def _introduce(self, way: _Way, prompt: Prompt, *, interactive: bool) -> None:
        """Say who answers; where nobody is chosen, say who could be."""
        if not interactive:
            if self.model is None:
                hint = "Name one with --model VENDOR:MODEL, or try --model demo, which needs no account."
                raise NoModel("No model is chosen.", hint=hint)
            return
        if self.model is None:
            self.model = await choose_model(await (await way.crib()).run("models"), prompt)
        note(f"{self.model} answers. /help lists what can be done; Ctrl-D leaves.")

    async def _continue(self, way: _Way, prompt: Prompt, *, interactive: bool) -> None:
        if self.chat is None:
            note("There is nothing to continue yet.")
            return
        await self._turn("", way, prompt, interactive=interactive)

    async def _turn(self, text: str, way: _Way, prompt: Prompt, *, interactive: bool) -> None:
        """Ask, or continue the last answer when there is no text."""
        crib = await way.crib()
        params = {"text": text, "resume": not text, "model": self.model, "chat": self.chat}
        params |= {"keep": True, "wait": 20.0}
        with Keyboard(lambda: task.cancel()) if interactive else nullcontext() as keys:
            asking = ask_crib(self.surface, crib, params, turn_view(), keys, on_chat=self._began)
            task = asyncio.ensure_future(asking)
            with _interrupts(task.cancel):
                try:
                    await asyncio.wait([task])
                finally:
                    task.cancel()  # Whoever ends the program ends the answer too.
        if keys is not None:
            prompt.push(keys.ahead)
        await self._end(task, way)

    async def _end(self, task: asyncio.Future[dict[str, Any]], way: _Way) -> None:
        if task.cancelled():
            await way.forget()
            note(paint(f"Stopped. {CONTINUE} goes on with it.", "yellow", sys.stderr))
            return
        try:
            self._note(task.result())
        except ToolcribError as error:
            label("error:", "red", error.message)
            if error.hint:
                label("hint:", "cyan", error.hint)

    def _began(self, chat: str) -> None:
        self.chat = chat

    def _note(self, result: dict[str, Any]) -> None:
        usage = result["usage"]
        self._tokens[0] += usage["input"]
        self._tokens[1] += usage["output"]
        self._cost += usage["cost"] or 0.0

    async def _command(self, line: str, way: _Way) -> bool:
        """Run one; False to leave."""
        word, _, rest = line.partition(" ")
        run = _COMMANDS.get(word)
        if word in ("/exit", "/quit"):
            return False
        if run is None:
            note(HELP)
            return True
        try:
            await run(self, rest.strip(), await way.crib())
        except ToolcribError as error:
            label("error:", "red", error.message)
        return True

    async def _new(self, rest: str, crib: Crib) -> None:
        self.chat = None
        note("A new chat begins.")

    async def _model(self, rest: str, crib: Crib) -> None:
        self.model = rest or self.model
        note(f"Answers come from {self.model or 'the model of the settings'}.")

    async def _chats(self, rest: str, crib: Crib) -> None:
        for info in await crib.run("chat_list", {"limit": 20}):
            say(f"{info['id']}  {info['updated'][:16]}  {info['title']}")

    async def _open(self, rest: str, crib: Crib) -> None:
        found = await crib.run("chat_show", {"chat": rest or "last"})
        self.chat = found["id"]
        note(f"Going on with: {found['title']}")
        note_unfinished(found)

    async def _fork(self, rest: str, crib: Crib) -> None:
        if self.chat is not None:
            self.chat = (await crib.run("chat_fork", {"chat": self.chat}))["id"]
        note(f"Going on in a copy: {self.chat}")

    async def _usage(self, rest: str, crib: Crib) -> None:
        cost = f", about ${self._cost:.4f}" if self._cost else ""
        note(f"{self._tokens[0]:,} tokens in, {self._tokens[1]:,} out{cost}.")


def note_unfinished(chat: Mapping[str, Any]) -> None:
    """Say so when the last answer of a chat is not complete."""
    if chat["state"] == "interrupted":
        note(f"The last answer was interrupted. {CONTINUE} goes on with it.")


_COMMANDS = {
    "/new": Talk._new,
    "/model": Talk._model,
    "/chats": Talk._chats,
    "/open": Talk._open,
    "/fork": Talk._fork,
    "/usage": Talk._usage,
}


class _Way:
    """The way to a host, kept from question to question; found anew after a stop."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._stack = AsyncExitStack()
        self._crib: Crib | None = None

    async def __aenter__(self) -> _Way:
        return self

    async def __aexit__(self, *details: object) -> None:
        await self._stack.aclose()

    async def crib(self) -> Crib:
        """The running host, or one in this process."""
        if self._crib is None:
            self._crib = await self._stack.enter_async_context(self._surface.reach())
        return self._crib

    async def forget(self) -> None:
        """A turn was stopped: a running host ends it when we hang up; our own has ended it already."""
        if self._crib is not None and self._crib.running:
            self._crib = None
            await self._stack.aclose()


@contextmanager
def _interrupts(stop: Callable[[], object]) -> Iterator[None]:
    """Ctrl-C stops the answer, not the program, while the block runs."""
    before = signal.getsignal(signal.SIGINT)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)
