"""An MCP server without any library that shows what it was sent, and says for how long its lists hold.

Arguments: its era, and for how many milliseconds its lists and resources hold.
"""

import json
import sys

ERA, TTL = sys.argv[1], int(sys.argv[2])
HINTS = {"ttlMs": TTL, "cacheScope": "public"} if ERA == "modern" else {}
CAPABILITIES = {"tools": {}, "prompts": {}, "resources": {}}
listed = 0


def tool(params):
    shown = {key: value for key, value in params.items() if key not in ("name", "arguments")}
    return {"content": [{"type": "text", "text": json.dumps({"params": shown, "listed": listed})}]}


def prompts(params):
    global listed
    listed += 1
    return {"prompts": [{"name": "greet"}], **HINTS}


METHODS = {
    "initialize": lambda params: {
        "protocolVersion": "2025-06-18",
        "capabilities": CAPABILITIES,
        "serverInfo": {"name": "mirror", "version": "1"},
    },
    "server/discover": lambda params: {
        "supportedVersions": ["2026-07-28"],
        "capabilities": CAPABILITIES,
        **HINTS,
    },
    "tools/list": lambda params: {"tools": [{"name": "mirror", "inputSchema": {"type": "object"}}], **HINTS},
    "tools/call": tool,
    "prompts/list": prompts,
    "resources/list": lambda params: {"resources": [{"name": "page", "uri": "page://one"}], **HINTS},
    "resources/templates/list": lambda params: {"resourceTemplates": [], **HINTS},
    "resources/read": lambda params: {"contents": [{"uri": params["uri"], "text": "one"}], **HINTS},
}
del METHODS["server/discover" if ERA == "legacy" else "initialize"]

for line in sys.stdin:
    message = json.loads(line)
    method, answer = message.get("method"), {"jsonrpc": "2.0", "id": message.get("id")}
    if "id" not in message or method == "subscriptions/listen":
        continue
    if method in METHODS:
        result = METHODS[method](message.get("params", {}))
        answer["result"] = {"resultType": "complete", **result} if ERA == "modern" else result
    else:
        answer["error"] = {"code": -32601, "message": f"no {method}"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
