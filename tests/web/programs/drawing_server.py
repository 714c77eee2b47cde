"""A small MCP server of the older era with one tool, which answers with a few words and a picture."""

import base64
import json
import struct
import sys
import zlib

WIDTH, HEIGHT = 1360, 380


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\x3a" * WIDTH) * HEIGHT
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


INPUT = {"type": "object", "properties": {"element": {"type": "string"}}}
PICTURE = {"type": "image", "data": base64.b64encode(png()).decode(), "mimeType": "image/png"}
ANSWERS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "drawing", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "draw", "description": "Draw it.", "inputSchema": INPUT}]},
    "tools/call": {"content": [{"type": "text", "text": "Export dashboard"}, PICTURE]},
    "ping": {},
}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    known = ANSWERS.get(message["method"])
    refused = {"error": {"code": -32601, "message": "not known"}}
    told = {"jsonrpc": "2.0", "id": message["id"], **(refused if known is None else {"result": known})}
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()
