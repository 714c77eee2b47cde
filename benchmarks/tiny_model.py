"""A vendor of models that takes no time: chat completions over loopback, streamed, with asyncio alone.

It wants a tool called `add` in every round until it was answered as often as the model's name says
(`rounds-30`), and then says that it is done. Prints its port on the first line.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def plan(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The choices to be streamed."""
    done = sum(message["role"] == "assistant" for message in body["messages"])
    if done >= int(body["model"].rpartition("-")[2]):
        words = [{"content": word} for word in ("All ", "rounds ", "are ", "done.")]
        return [*({"delta": word, "finish_reason": None} for word in words), _end("stop")]
    arguments = json.dumps({"a": done, "b": 1})
    function = {"name": "add", "arguments": ""}
    head = {"index": 0, "id": f"call_{done}", "type": "function", "function": function}
    pieces = [arguments[start : start + 6] for start in range(0, len(arguments), 6)]
    calls = [head, *({"index": 0, "function": {"arguments": piece}} for piece in pieces)]
    return [*({"delta": {"tool_calls": [call]}, "finish_reason": None} for call in calls), _end("tool_calls")]


def _end(reason: str) -> dict[str, Any]:
    return {"delta": {}, "finish_reason": reason}


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            found = _LENGTH.search(head)
            body = json.loads(await reader.readexactly(int(found[1]) if found else 0))
            rest = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
            chunks = [{**rest, "choices": [{"index": 0, **choice}]} for choice in plan(body)]
            usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
            chunks.append({**rest, "choices": [], "usage": usage})
            texts = [*map(json.dumps, chunks), "[DONE]"]
            events = [f"data: {text}\n\n".encode() for text in texts]
            writer.write(_HEAD + b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in events) + b"0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    """Listen until killed."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 26)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
