"""The process that parses documents: reads requests from stdin, answers on stdout, ends with its input.

It limits its own memory and processor time: a document that exhausts the parser ends this process only.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from typing import Any, BinaryIO

from toolcrib.bundled.websearch.extraction.document import Unreadable, WebDocument
from toolcrib.bundled.websearch.extraction.frames import LENGTHS, pack, unpack_header

MAX_MEMORY = 1536 * 1024 * 1024
"""Address space, of which Python and its libraries take 300 MB."""
MAX_CPU = 20
"""Seconds for one document."""


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
    from toolcrib.bundled.websearch.extraction import media

    try:
        return {"extract": dataclasses.asdict(media.read(WebDocument(content=body, **header)))}
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
