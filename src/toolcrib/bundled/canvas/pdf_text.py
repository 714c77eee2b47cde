"""Text of a PDF, read in a process of its own: a crafted file may take forever or all memory. Limits:
seconds, memory, pages, length of the text; notes about scanned pages.

`python -m toolcrib.bundled.canvas.pdf_text < file.pdf` prints the text.
"""

from __future__ import annotations

import asyncio
import os
import sys

from toolcrib.serverkit.context import ToolContext, ToolFailure
from toolcrib.serverkit.extras import ensure

SECONDS = 60
MEMORY = 2 * 1024**3
MAX_PAGES = 500
MAX_TEXT = 5_000_000
_DAMAGED = ToolFailure("The PDF is damaged, or too large to be read.", "Save the file and open it yourself.")


async def pdf_text(content: bytes, context: ToolContext | None = None) -> str:
    """The text of all pages; raises `ToolFailure`."""
    await ensure("canvas", context)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
    )
    try:
        async with asyncio.timeout(SECONDS):
            output, _ = await process.communicate(content)
    except TimeoutError:
        raise _DAMAGED from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise _DAMAGED
    text = output.decode("utf-8", "replace").strip()
    return text or "(The PDF has no text: its pages are probably pictures.)"


def _main() -> None:
    import io
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(sys.stdin.buffer.read()))
    left = MAX_TEXT
    for number in range(min(len(reader.pages), MAX_PAGES)):
        text = reader.pages[number].extract_text()[:left]
        left -= len(text)
        page = f"Page {number + 1}\n{text}\n\n"
        sys.stdout.buffer.write(page.encode("utf-8", "replace"))
        if left <= 0:
            break


if __name__ == "__main__":
    _main()
