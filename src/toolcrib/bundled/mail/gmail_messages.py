"""Messages as the Gmail API represents them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from toolcrib.bundled.mail.decoding import decode_words
from toolcrib.bundled.mail.headers import Headers
from toolcrib.bundled.mail.mailbox import OpenMessage, Summary
from toolcrib.bundled.mail.structure import MAX_DEPTH, Part, has_attachments, read_parameters, valid_type

Json = Mapping[str, Any]


_PART = "partId,mimeType,filename,headers"
SUMMARY_FIELDS = (
    "id,threadId,labelIds,snippet,internalDate,sizeEstimate,"
    f"payload({_PART},parts({_PART},parts({_PART},parts({_PART}))))"
)
"""What is asked for of a message in a list: its structure, without the content."""


def summary(message: Json) -> Summary:
    """From `messages.get` with `SUMMARY_FIELDS`, or with `format=metadata`, which has no structure."""
    payload = message.get("payload") or {}
    return Summary(
        id=str(message.get("id", "")),
        thread=str(message.get("threadId", "")),
        headers=_headers(payload),
        received=_received(message),
        size=int(message.get("sizeEstimate") or 0),
        labels=tuple(message.get("labelIds") or ()),
        snippet=_snippet(str(message.get("snippet") or "")),
        has_attachments=has_attachments(_part(payload, 0)) if "filename" in payload else None,
    )


def open_message(message: Json) -> OpenMessage:
    """From `messages.get` with `format=full`."""
    payload = message.get("payload") or {}
    return OpenMessage(
        id=str(message.get("id", "")),
        thread=str(message.get("threadId", "")),
        headers=_headers(payload),
        root=_part(payload, 0),
        received=_received(message),
        labels=tuple(message.get("labelIds") or ()),
    )


def decode_base64url(data: str) -> bytes:
    """Google leaves out the padding at times."""
    try:
        return base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))
    except (binascii.Error, ValueError):
        return b""


def _headers(payload: Json) -> Headers:
    fields = payload.get("headers") or ()
    return Headers((str(each.get("name", "")), str(each.get("value", ""))) for each in fields)


def _part(payload: Json, depth: int) -> Part:
    headers = _headers(payload)
    body = payload.get("body") or {}
    media_type = valid_type(str(payload.get("mimeType") or ""))
    nested = () if media_type == "message/rfc822" or depth >= MAX_DEPTH else payload.get("parts") or ()
    return Part(
        section=str(payload.get("partId", "")),
        media_type=media_type,
        parameters=_parameters(headers.raw("content-type")),
        disposition=headers.raw("content-disposition").partition(";")[0].strip().lower(),
        name=decode_words(str(payload.get("filename") or "")),
        size=int(body.get("size") or 0),
        handle=str(body.get("attachmentId") or ""),
        inline=decode_base64url(str(body["data"])) if body.get("data") else None,
        children=tuple(_part(child, depth + 1) for child in nested),
    )


def _parameters(content_type: str) -> dict[str, str]:
    pairs = [each.partition("=") for each in content_type.split(";")[1:]]
    return read_parameters([text.strip().strip('"') for name, _, value in pairs for text in (name, value)])


def _received(message: Json) -> datetime | None:
    try:
        return datetime.fromtimestamp(int(message["internalDate"]) / 1000, UTC)
    except (KeyError, ValueError, TypeError, OverflowError, OSError):
        return None


def _snippet(text: str) -> str:
    """Gmail escapes it as HTML."""
    import html

    return decode_words(html.unescape(text))[:200]
