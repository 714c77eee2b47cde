"""An MCP server without any library, in the era of its first argument, that offers everything but tools."""

import json
import sys

ERA = sys.argv[1]
OPTIONS = sys.argv[2:]
META = "io.modelcontextprotocol/"
NOT_FOUND = -32602 if ERA == "modern" else -32002
CAPABILITIES = {
    "tools": {},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "completions": {},
    "logging": {},
}
WHICH = {
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
    "notifications/resources/updated": "resourceSubscriptions",
}
INFO = {"name": "offering", "version": "1"}
PROMPTS = [{"name": "greet", "arguments": [{"name": "who", "required": True}], "x-unknown": {"b": 1, "a": 2}}]
RESOURCES = [
    {"uri": "memo://shared", "name": "shared", "x-unknown": [1]},
    {"uri": "memo://data", "name": "data", "mimeType": "application/octet-stream"},
]
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
RICH = {
    "memo://picture": {"mimeType": "image/png", "blob": PICTURE},
    "memo://long": {"mimeType": "text/plain", "text": "word " * 50_000},
}
if "rich" in OPTIONS:
    RESOURCES += [{"uri": uri, "name": uri, "mimeType": one["mimeType"]} for uri, one in RICH.items()]
    RESOURCES += ["rubbish", {"name": "without an address"}]
TEMPLATES = [{"uriTemplate": "memo://{topic}/notes", "name": "notes"}]
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("log", "grow", "touch")]
listening = {}
subscribed = set()
held_back = []
level = "warning"


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tell(method, params=None):
    if ERA == "legacy" and method == "notifications/resources/updated" and not subscribed:
        return
    if ERA == "legacy" or method == "notifications/message":
        send({"method": method, "params": params or {}})
        return
    for stream, asked in listening.items():
        if not asked.get(WHICH[method]):
            continue
        send({"method": method, "params": {**(params or {}), "_meta": {META + "subscriptionId": stream}}})


def log(params):
    wanted = params.get("_meta", {}).get(META + "logLevel") if ERA == "modern" else level
    tell("notifications/message", {"level": ["odd"], "data": "nobody can read this"})
    for one in ("debug", "info", "error"):
        if wanted is not None and (wanted != "warning" or one == "error"):
            tell("notifications/message", {"level": one, "logger": "workshop", "data": f"a word of {one}"})


def call(params):
    if params["name"] == "log":
        log(params)
    elif params["name"] == "grow":
        PROMPTS.append({"name": "grown"})
        RESOURCES.append({"uri": "memo://grown", "name": "grown"})
        tell("notifications/prompts/list_changed")
        tell("notifications/resources/list_changed")
    else:
        tell("notifications/resources/updated", {"uri": "memo://shared"})
    return {"content": [{"type": "text", "text": "done"}]}


def read(params):
    uri = params["uri"]
    if uri in RICH:
        return {"contents": [{"uri": uri, **RICH[uri]}]}
    if uri == "memo://data":
        return {"contents": [{"uri": uri, "blob": "AAEC/w=="}]}
    known = uri in ("memo://shared", "memo://secret", "memo://grown") or (
        uri.endswith("/notes") and "nothing" not in uri
    )
    if not known:
        raise LookupError(uri)
    return {"contents": [{"uri": uri, "text": f"{OPTIONS[-1:] or ['']}: {uri}"}]}


def prompt(params):
    if params["name"] == "grown":
        return {"messages": []}
    if params["name"] != "greet":
        raise LookupError(params["name"])
    if ERA == "modern" and "asks" in OPTIONS and "inputResponses" not in params:
        question = {
            "message": "How?",
            "requestedSchema": {"type": "object", "properties": {"how": {"type": "string"}}},
        }
        return {
            "resultType": "input_required",
            "inputRequests": {"q": {"method": "elicitation/create", "params": question}},
            "requestState": "mine",
        }
    how = params.get("inputResponses", {}).get("q", {}).get("content", {}).get("how", "Hello")
    text = f"{how} {params['arguments']['who']}"
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def complete(params):
    reference, given = params["ref"], params["argument"]["value"]
    known = {"greet": ["Ada", "Alan"], "memo://{topic}/notes": ["art", "alchemy"]}
    values = [one for one in known[reference.get("name") or reference.get("uri")] if one.startswith(given)]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


def set_level(params):
    global level
    level = params["level"]
    return {}


METHODS = {
    "tools/list": lambda params: {"tools": TOOLS},
    "tools/call": call,
    "prompts/list": lambda params: {"prompts": PROMPTS},
    "prompts/get": prompt,
    "resources/list": lambda params: {"resources": RESOURCES},
    "resources/templates/list": lambda params: {"resourceTemplates": TEMPLATES},
    "resources/read": read,
    "completion/complete": complete,
}
if ERA == "legacy":
    METHODS["initialize"] = lambda params: {
        "protocolVersion": "2025-06-18",
        "capabilities": CAPABILITIES,
        "serverInfo": INFO,
    }
    METHODS["ping"] = lambda params: {}
    METHODS["resources/subscribe"] = lambda params: subscribed.add(params["uri"]) or {}
    METHODS["resources/unsubscribe"] = lambda params: subscribed.discard(params["uri"]) or {}
    METHODS["logging/setLevel"] = set_level
else:
    METHODS["server/discover"] = lambda params: {
        "supportedVersions": ["2026-07-28"],
        "capabilities": CAPABILITIES,
        "ttlMs": 0,
        "cacheScope": "public",
    }


def answer(message):
    method, params = message["method"], message.get("params", {})
    if "mute" in OPTIONS and method in ("prompts/list", "resources/list", "resources/templates/list"):
        held_back.append(message)
        return
    if method == "tools/call" and params["name"] == "touch" and held_back:
        OPTIONS.remove("mute")
        for request in held_back:
            answer(request)
    if ERA == "modern" and method == "subscriptions/listen":
        listening[message["id"]] = params["notifications"]
        acknowledged = {
            "notifications": params["notifications"],
            "_meta": {META + "subscriptionId": message["id"]},
        }
        send({"method": "notifications/subscriptions/acknowledged", "params": acknowledged})
        return
    if method not in METHODS:
        send({"id": message["id"], "error": {"code": -32601, "message": f"no {method}"}})
        return
    try:
        result = METHODS[method](params)
    except LookupError as missing:
        code = NOT_FOUND if method == "resources/read" else -32602
        send({"id": message["id"], "error": {"code": code, "message": f"no {missing}"}})
        return
    send({"id": message["id"], "result": {"resultType": "complete", **result} if ERA == "modern" else result})


for line in sys.stdin:
    message = json.loads(line)
    if "method" in message and "id" in message:
        answer(message)
    elif message.get("method") == "notifications/cancelled":
        listening.pop(message["params"]["requestId"], None)
