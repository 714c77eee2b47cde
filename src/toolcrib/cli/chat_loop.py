"""The loop of `toolcrib chat`: reads questions, shows answers, runs slash commands (`/new`, `/model`,
`/retry`, `/edit`, `/fork`, `/usage`) and prints their help; Esc stops an answer. Also offers models if none
is set."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from toolcrib.cli.keyboard import Prompt, TerminalKeyboard
from toolcrib.cli.output import label, note, paint, say
from toolcrib.cli.surface import Surface
from toolcrib.cli.turn import run_turn, turn_view
from toolcrib.errors import NoModel, ToolcribError
from toolcrib.operations.client import Client

if TYPE_CHECKING:
    from toolcrib.config.settings import Effort
    from toolcrib.operations.client import Answered, Models
    from toolcrib.operations.results.chats import ChatWhole

CONTINUE = "/continue"
RETRY = "/retry"
EDIT = "/edit"
DEMO = "demo"
HELP = """/new            start a new chat
/model NAME     switch to another model
/chats          list earlier chats
/open ID        continue another chat
/fork           continue in a copy of this chat
/continue       continue an answer that was interrupted or stopped
/retry          answer the last question again, with the model chosen now
/edit TEXT      ask TEXT instead of the last question
/usage          show the tokens used so far
/exit           quit (Ctrl-D)
/help           show this list
Alt-Enter adds a line; a paste is one message. Esc or Ctrl-C stops an answer."""


@dataclass
class ChatLoop:
    """One run of the command."""

    surface: Surface
    model: str | None = None
    chat: str | None = None
    effort: Effort | None = None
    _tokens: list[int] = field(default_factory=lambda: [0, 0])
    _cost: float | None = 0.0
    """None once a turn had no known price."""

    async def run(self) -> None:
        """Run until the user quits."""
        interactive = sys.stdin.isatty() and sys.stdout.isatty()
        prompt = Prompt(self.surface.paths.state / "chat_history", interactive=interactive)
        async with _Connection(self.surface) as connection:
            with prompt:
                await self._introduce(connection, prompt, interactive=interactive)
                while (line := await prompt.read()) is not None:
                    if not line.strip():
                        continue
                    if (turn := _turn_of(line)) is not None:
                        await self._work_on_last(turn, connection, prompt, interactive=interactive)
                        continue
                    if line.startswith("/") and "\n" not in line:
                        if not await self._command(line, connection):
                            break
                        continue
                    await self._turn({"text": line}, connection, prompt, interactive=interactive)
            await self._close(connection)

    async def _close(self, connection: _Connection) -> None:
        client = await connection.client()
        if self.chat is not None and client.running:
            await client.chat_close(chat=self.chat)

    async def _introduce(self, connection: _Connection, prompt: Prompt, *, interactive: bool) -> None:
        """Say which model answers; let the user choose one if none is set."""
        if not interactive:
            if self.model is None:
                hint = "Set one with --model VENDOR:MODEL, or try --model demo, which needs no account."
                raise NoModel("No model is set.", hint=hint)
            return
        if self.model is None:
            self.model = await choose_model(await (await connection.client()).models(), prompt)
        note(f"Model: {self.model}. /help lists the commands; Ctrl-D quits.")

    async def _work_on_last(
        self, turn: Mapping[str, Any], connection: _Connection, prompt: Prompt, *, interactive: bool
    ) -> None:
        """Continue the last answer, or ask its question again."""
        if self.chat is None:
            note("There is no question yet.")
        elif turn.get("text") == "":
            note(f"Write the new question after {EDIT}: {EDIT} What is 2 plus 2?")
        else:
            await self._turn(turn, connection, prompt, interactive=interactive)

    async def _turn(
        self, turn: Mapping[str, Any], connection: _Connection, prompt: Prompt, *, interactive: bool
    ) -> None:
        """Ask, continue or ask again, as these parameters say."""
        client = await connection.client()
        request = partial(
            client.ask,
            **turn,
            model=self.model,
            chat=self.chat,
            effort=self.effort,
            keep=True,
            wait=20.0,
        )
        with TerminalKeyboard(lambda: task.cancel()) if interactive else nullcontext() as keys:
            work = run_turn(self.surface, client, request, turn_view(), keys, on_chat=self._began)
            task = asyncio.ensure_future(work)
            with _interrupts(task.cancel):
                try:
                    await asyncio.wait([task])
                finally:
                    task.cancel()  # Ending the program stops the answer.
        if keys is not None:
            prompt.push(keys.ahead)
        await self._end(task, connection)

    async def _end(self, task: asyncio.Future[Answered], connection: _Connection) -> None:
        if task.cancelled():
            await connection.drop()
            note(paint(f"Stopped. {CONTINUE} resumes the answer.", "yellow", sys.stderr))
            return
        try:
            self._add_usage(task.result())
        except ToolcribError as error:
            label("error:", "red", error.message)
            if error.hint:
                label("hint:", "cyan", error.hint)

    def _began(self, chat: str) -> None:
        self.chat = chat

    def _add_usage(self, result: Answered) -> None:
        usage = result["usage"]
        self._tokens[0] += usage["input"]
        self._tokens[1] += usage["output"]
        known = self._cost is not None and usage["cost"] is not None
        self._cost = (self._cost or 0.0) + (usage["cost"] or 0.0) if known else None

    async def _command(self, line: str, connection: _Connection) -> bool:
        """Run a slash command; False to quit."""
        word, _, rest = line.partition(" ")
        run = _COMMANDS.get(word)
        if word in ("/exit", "/quit"):
            return False
        if run is None:
            note(HELP if word == "/help" else f"There is no command {word}. {_suggestion(word)}")
            return True
        try:
            await run(self, rest.strip(), await connection.client())
        except ToolcribError as error:
            label("error:", "red", error.message)
        return True

    async def _new(self, rest: str, client: Client) -> None:
        self.chat = None
        note("Started a new chat.")

    async def _model(self, rest: str, client: Client) -> None:
        self.model = rest or self.model
        note(f"Model: {self.model or 'from the settings'}.")

    async def _chats(self, rest: str, client: Client) -> None:
        for info in await client.chat_list(limit=20):
            say(f"{info['id']}  {info['updated'][:16]}  {info['title']}")

    async def _open(self, rest: str, client: Client) -> None:
        found = await client.chat_show(chat=rest or "last")
        self.chat = found["id"]
        note(f"Continuing: {found['title']}")
        note_unfinished(found)

    async def _fork(self, rest: str, client: Client) -> None:
        if self.chat is not None:
            self.chat = (await client.chat_fork(chat=self.chat))["id"]
        note(f"Continuing in a copy: {self.chat}")

    async def _usage(self, rest: str, client: Client) -> None:
        from toolcrib.llm.known_models import LOOKED_UP

        cost = "unknown" if self._cost is None else f"about ${self._cost:.4f} by list prices of {LOOKED_UP}"
        note(f"{self._tokens[0]:,} tokens in, {self._tokens[1]:,} out; cost: {cost}.")


def _turn_of(line: str) -> Mapping[str, Any] | None:
    """What a command about the last answer asks for; None for any other line."""
    word, _, rest = line.strip().partition(" ")
    if line.strip() == CONTINUE:
        return {"resume": True}
    if line.strip() == RETRY:
        return {"again": True}
    return {"again": True, "text": rest.strip()} if word == EDIT else None


def note_unfinished(chat: ChatWhole) -> None:
    """Say so if the last answer of a chat is incomplete."""
    if chat["state"] == "interrupted":
        note(f"The last answer was interrupted. {CONTINUE} resumes it.")


_COMMANDS = {
    "/new": ChatLoop._new,
    "/model": ChatLoop._model,
    "/chats": ChatLoop._chats,
    "/open": ChatLoop._open,
    "/fork": ChatLoop._fork,
    "/usage": ChatLoop._usage,
}


def _suggestion(word: str) -> str:
    """What was probably meant, else the whole help."""
    from toolcrib.suggestions import did_you_mean

    known = [line.split()[0] for line in HELP.splitlines() if line.startswith("/")]
    return did_you_mean(word, known, otherwise=f"The commands are:\n{HELP}")


class _Connection:
    """A client that is kept between questions, and opened again after a stop."""

    def __init__(self, surface: Surface) -> None:
        self._surface = surface
        self._stack = AsyncExitStack()
        self._client: Client | None = None

    async def __aenter__(self) -> _Connection:
        return self

    async def __aexit__(self, *details: object) -> None:
        await self._stack.aclose()

    async def client(self) -> Client:
        """The client, connected on first use."""
        if self._client is None:
            self._client = await self._stack.enter_async_context(self._surface.reach())
        return self._client

    async def drop(self) -> None:
        """Disconnect from a running host, which then stops the turn; a local host has already stopped it."""
        if self._client is not None and self._client.running:
            self._client = None
            await self._stack.aclose()


@contextmanager
def _interrupts(stop: Callable[[], object]) -> Iterator[None]:
    """While the block runs, Ctrl-C stops the answer, not the program."""
    before = signal.getsignal(signal.SIGINT)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)


async def choose_model(found: Models, prompt: Prompt) -> str:
    """Show which models are available and ask for one; the demo model if nothing is typed."""
    vendors = {vendor["vendor"]: vendor for vendor in found["vendors"]}
    note("No model is set yet.")
    ollama = vendors["ollama"]
    if ollama["models"]:
        note(f"  Ollama is running: {', '.join('ollama:' + name for name in ollama['models'][:8])}")
    elif ollama["ready"]:
        note("  Ollama is running, but has no model yet: ollama pull qwen3")
    for vendor in vendors.values():
        if vendor["key"] and vendor["vendor"] != "ollama":
            note(f"  Found a key for {vendor['title']} ({vendor['key']}): {vendor['vendor']}:MODEL")
        elif vendor["keys"] and vendor["vendor"] != "ollama":
            note(f"  {vendor['title']} needs a key: toolcrib secret set {vendor['keys'][0]}")
        elif vendor["protocol"]:
            note(f"  {vendor['title']} at {vendor['address']}: {vendor['vendor']}:MODEL")
    note("  demo needs no account: a script that calls real tools.")
    note("Type a name, or press Enter for demo. To keep it: toolcrib settings set agent.model NAME")
    typed = await prompt.read()
    return (typed or "").strip() or DEMO
