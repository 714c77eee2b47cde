"""The process that parses documents: reads requests from stdin, answers on stdout, ends with its input.
Decides its memory and CPU time, and which format a document is if its media type is missing or wrong.

It limits its own memory and processor time: a document that exhausts the parser ends this process only.
The format is chosen by the media type, and by the first bytes where servers are often wrong.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import os
import re
import struct
import sys
from functools import cache
from typing import Any, BinaryIO

from toolcrib import plugins
from toolcrib.bundled.websearch.extraction.document import Extract, Unreadable, WebDocument

FOLDER = "toolcrib.bundled.websearch.extraction.formats"
_UNSURE = ("", "application/octet-stream", "binary/octet-stream", "text/plain", "application/x-download")
_HTML = re.compile(rb"^\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_FEED = re.compile(rb"^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:rss|feed|rdf:RDF)\b", re.DOTALL)
_HEAD = 2048

LENGTHS = struct.Struct(">II")

MAX_MEMORY = 1536 * 1024 * 1024
"""Address space, of which Python and its libraries take 300 MB."""
MAX_CPU = 20
"""Seconds for one document."""


def read(document: WebDocument) -> Extract:
    """Extract a document; raises `Unreadable` if no format reads it."""
    return format_for(actual_type(document))(document)  # type: ignore[no-any-return]


def actual_type(document: WebDocument) -> str:
    """The media type to go by."""
    head = document.content[:_HEAD].removeprefix(b"\xef\xbb\xbf")
    if head.startswith(b"%PDF-"):
        return "application/pdf"
    if document.media_type.startswith("image/") or document.media_type not in (
        *_UNSURE,
        "text/xml",
        "application/xml",
    ):
        return _feed_in_html(document.media_type, head)
    if _HTML.match(head):
        return "text/html"
    if _FEED.match(head):
        return "application/rss+xml"
    if document.media_type in ("text/plain", "text/xml", "application/xml"):
        return document.media_type
    return "text/plain" if not document.media_type and _is_text(document.content) else document.media_type


@cache
def format_for(media_type: str) -> Any:
    """The function that reads this type."""
    best: tuple[int, Any] | None = None
    for name in plugins.names(FOLDER):
        module = plugins.find(FOLDER, name)
        for pattern in module.MEDIA_TYPES:
            # The longest pattern that fits is the most specific one.
            if fnmatch.fnmatchcase(media_type, pattern) and (best is None or len(pattern) > best[0]):
                best = len(pattern), module.read
    if best is None:
        raise Unreadable(f"A document of type {media_type or 'unknown'} cannot be read as text.")
    return best[1]


def _feed_in_html(media_type: str, head: bytes) -> str:
    return "application/rss+xml" if media_type == "text/html" and _FEED.match(head) else media_type


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\x00" not in content


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """One message."""
    encoded = json.dumps(header).encode()
    return LENGTHS.pack(len(encoded), len(body)) + encoded + body


def unpack_header(data: bytes) -> dict[str, Any]:
    """The header of a message."""
    header: dict[str, Any] = json.loads(data)
    return header


def main() -> None:
    """Answer until the input ends."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not become part of an answer
    _limit_memory()
    while (request := _receive(incoming)) is not None:
        _limit_time()
        outgoing.write(pack(_answer(*request)))
        outgoing.flush()


def _receive(incoming: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    lengths = incoming.read(LENGTHS.size)
    if len(lengths) < LENGTHS.size:
        return None
    header, body = LENGTHS.unpack(lengths)
    return unpack_header(incoming.read(header)), incoming.read(body)


def _answer(header: dict[str, Any], body: bytes) -> dict[str, Any]:

    try:
        return {"extract": dataclasses.asdict(read(WebDocument(content=body, **header)))}
    except Unreadable as error:
        return {"unreadable": str(error)}
    except (MemoryError, RecursionError):
        return {"unreadable": "The document is too large or too deeply nested."}
    except Exception as error:  # noqa: BLE001 - a parser may raise anything; the server reports it
        return {"unreadable": f"The document cannot be parsed ({type(error).__name__})."}


def _limit_memory() -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time() -> None:
    """Another allowance for each document; the system ends the process when it is used up."""
    if sys.platform != "win32":
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + MAX_CPU, hard))


if __name__ == "__main__":
    main()
