"""The interface as an OpenAPI document: `GET /api/openapi.json`, or `python -m toolcrib.web.openapi`."""

from __future__ import annotations

import json
import sys
from typing import Any

from toolcrib import __version__
from toolcrib.web.contract import Described, contract

FAILURES = {
    "400": "The request makes no sense.",
    "401": "The page's key is not valid.",
    "403": "A rule or a person said no, or nobody has agreed yet.",
    "404": "There is no such thing.",
    "413": "The request is too large.",
    "415": "The body is no JSON.",
    "500": "Something went wrong inside.",
    "502": "A server or a model was reached and did not do it.",
    "503": "A server, or the host, cannot take it now.",
}


def document() -> dict[str, Any]:
    """All of it."""
    known = contract()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Toolcrib",
            "version": __version__,
            "summary": "What the page asks of the host. On loopback only, and with a key.",
        },
        "security": [{"key": []}],
        "paths": {
            **{f"/api/{one.name}": {"post": _operation(one)} for one in known.operations},
            "/api/live": {"get": _live(known.aliases["News"])},
        },
        "components": {
            "schemas": {**known.types, "Error": _error(known.failure)},
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(one: Described) -> dict[str, Any]:
    told = {"event": one.event if one.event is not None else {}, "result": one.result}
    described: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.about,
        "requestBody": {"content": {"application/json": {"schema": one.params}}},
        "responses": {
            "200": {
                "description": "The result; as a stream, what is told on the way and then the result.",
                "content": {
                    "application/json": {"schema": one.result},
                    "text/event-stream": {"schema": {"type": "string"}, "x-events": told},
                },
            },
            **{status: _failure(text) for status, text in FAILURES.items()},
        },
    }
    return {**described, "security": []} if one.name == "sign_in" else described


def _live(news: dict[str, Any]) -> dict[str, Any]:
    stream = {"text/event-stream": {"schema": {"type": "string"}, "x-events": {"message": news}}}
    last = {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}}
    return {
        "operationId": "live",
        "summary": "What happens in the host, from now on or from the event that was heard last.",
        "parameters": [last],
        "responses": {"200": {"description": "Events without end.", "content": stream}},
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
