"""PDF documents: the text of their pages, with the most pages and characters, and notes for scanned pages and
passwords."""

from __future__ import annotations

import io

from toolcrib.bundled.websearch.extraction.document import Extract, Unreadable, WebDocument, one_line
from toolcrib.bundled.websearch.extraction.rendering import tidy

MEDIA_TYPES = ("application/pdf", "application/x-pdf")
MAX_PAGES = 500
MAX_TEXT = 5_000_000


def read(document: WebDocument) -> Extract:
    """The text of all pages, each under its number."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(document.content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("The PDF is protected with a password.")
        about = reader.metadata
        count = len(reader.pages)
        text = _text(reader, min(count, MAX_PAGES))
    except (
        PyPdfError,
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        OSError,
        RecursionError,
    ) as error:
        raise Unreadable(f"The PDF is damaged ({type(error).__name__}).") from None
    if not text:
        raise Unreadable("The PDF has no text: its pages are probably pictures.")
    return Extract(
        kind="pdf",
        text=text,
        title=one_line(str(about.title or ""), 300) if about else "",
        author=one_line(str(about.author or ""), 120) if about else "",
        note=f"The first {MAX_PAGES} of {count} pages." if count > MAX_PAGES else "",
    )


def _text(reader: object, count: int) -> str:
    pages: list[str] = []
    length = 0
    for number in range(count):
        page = tidy(reader.pages[number].extract_text())  # type: ignore[attr-defined]
        length += len(page)
        if length > MAX_TEXT:
            break
        if page:
            pages.append(f"## Page {number + 1}\n\n{page}")
    return "\n\n".join(pages)
