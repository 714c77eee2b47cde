"""What an approval question shows of a call: the message as it will be sent, with its recipients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcrib.bundled.mail.attachments import ListedFile
from toolcrib.bundled.mail.headers import Mailto
from toolcrib.bundled.mail.mailbox import OpenMessage
from toolcrib.bundled.mail.writing import Letter, file_name

MAX_TEXT = 20_000


def letter_preview(
    action: str, account: str, sender: Mailto, letter: Letter, files: Sequence[ListedFile]
) -> dict[str, Any]:
    """A message to be sent or stored as a draft."""
    return {
        "kind": "email",
        "action": action,
        "account": account,
        "from": str(sender),
        "to": [str(each) for each in letter.to],
        "cc": [str(each) for each in letter.cc],
        "bcc": [str(each) for each in letter.bcc],
        "subject": letter.subject,
        "text": _shortened(letter.body),
        "attachments": [{"name": file_name(file.name), "size": file.size} for file in files],
    }


def _shortened(text: str) -> str:
    """The user must see that there is more than is shown."""
    left = len(text) - MAX_TEXT
    return text if left <= 0 else f"{text[:MAX_TEXT]}\n\n[… {left:,} more characters are not shown]"


def message_preview(action: str, account: str, message: OpenMessage, text: str) -> dict[str, Any]:
    """A message that exists."""
    headers = message.headers
    return {
        "kind": "email",
        "action": action,
        "account": account,
        "from": headers.sender,
        "to": [str(each) for each in headers.addresses("to")],
        "cc": [str(each) for each in headers.addresses("cc")],
        "bcc": [],
        "subject": headers.text("subject"),
        "text": text,
        "attachments": [],
    }
