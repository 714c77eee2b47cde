"""The API as an OpenAPI document: `GET /api/openapi.json`, or `python -m toolcrib.web.openapi`."""

from __future__ import annotations

import json
import sys
from typing import Any

from toolcrib import __version__
from toolcrib.web.contract import Described, contract

FAILURES = {
    "400": "The request is not valid.",
    "401": "The page's key is not valid.",
    "403": "Denied by a rule or by the user, or not approved yet.",
    "404": "Not found.",
    "413": "The request is too large.",
    "415": "The body is not JSON.",
    "500": "Internal error.",
    "502": "A server or a model failed.",
    "503": "A server or the host is not available now.",
}


def document() -> dict[str, Any]:
    known = contract()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Toolcrib",
            "version": __version__,
            "summary": "The API of the web page. On loopback only, with a key.",
        },
        "security": [{"key": []}],
        "paths": {
            **{f"/api/{described.name}": {"post": _operation(described)} for described in known.operations},
            "/api/live": {"get": _live(known.aliases["News"])},
        },
        "components": {
            "schemas": {**known.types, "Error": _error(known.failure)},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(described: Described[Any]) -> dict[str, Any]:
    events = {"event": described.event if described.event is not None else {}, "result": described.result}
    document: dict[str, Any] = {
        "operationId": described.name,
        "summary": described.about,
        "requestBody": {"content": {"application/json": {"schema": described.params}}},
        "responses": {
            "200": {
                "description": "The result; as a stream, events followed by the result.",
                "content": {
                    "application/json": {"schema": described.result},
                    "text/event-stream": {"schema": {"type": "string"}, "x-events": events},
                },
            },
            **{status: _failure(text) for status, text in FAILURES.items()},
        },
    }
    return {**document, "security": []} if described.name == "sign_in" else document


def _live(events: dict[str, Any]) -> dict[str, Any]:
    stream = {"text/event-stream": {"schema": {"type": "string"}, "x-events": {"message": events}}}
    last = {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}}
    return {
        "operationId": "live",
        "summary": "Live events of the host, from now on or after the last received event.",
        "parameters": [last],
        "responses": {"200": {"description": "An endless stream of events.", "content": stream}},
    }


def _failure(text: str) -> dict[str, Any]:
    return {
        "description": text,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }


def _error(failure: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"error": failure}, "required": ["error"]}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(document(), indent=2) + "\n")
