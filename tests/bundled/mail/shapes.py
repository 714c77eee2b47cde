"""Messages of many shapes: character sets, transfer encodings, structures and header forms."""

from __future__ import annotations

import email.policy
from collections.abc import Iterator
from email.header import Header
from email.message import EmailMessage
from email.mime.application import MIMEApplication
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.mime.text import MIMEText
from email.utils import formataddr

TEXTS = {
    "us-ascii": "Plain text, nothing else.",
    "utf-8": "Grüße, привет, 你好, שלום, 🎉",
    "iso-8859-1": "Fête à Köln",
    "iso-8859-15": "Preis: 20 €, œuvre",
    "windows-1252": "“Quotes” – and € signs…",
    "iso-8859-2": "Zażółć gęślą jaźń",
    "koi8-r": "Привет, как дела?",
    "windows-1251": "Добрый день",
    "iso-8859-7": "Καλημέρα κόσμε",
    "windows-1255": "שלום עולם",
    "windows-1256": "مرحبا بالعالم",
    "gb2312": "你好世界",
    "gb18030": "中文邮件𠀀",
    "big5": "繁體中文",
    "euc-jp": "日本語のメール",
    "shift_jis": "カタカナとかな",
    "iso-2022-jp": "日本語のメール",
    "euc-kr": "안녕하세요",
    "utf-16": "Grüße in sixteen bits",
    "utf-7": "Grüße",
}
ENCODINGS = ("base64", "quoted-printable", "8bit")
LONG_NAME = "很长的文件名" * 8 + ".docx"
NAMES = ("plain.txt", "Grüße an alle.pdf", LONG_NAME, 'a"b;c.txt', "no-ending", "ünï.tar.gz")


def all_shapes() -> Iterator[tuple[str, bytes]]:
    """A name and the bytes of each."""
    yield from _texts()
    yield from _subjects()
    yield from _attachments()
    yield from _structures()


def _texts() -> Iterator[tuple[str, bytes]]:
    for charset, text in TEXTS.items():
        for encoding in ENCODINGS:
            if encoding == "8bit" and charset == "utf-16":
                continue
            part = MIMENonMultipart("text", "plain", charset=charset)
            part["Content-Transfer-Encoding"] = encoding
            body = text.encode(charset)
            yield f"{charset}-{encoding}", _headed(part, f"{charset} {encoding}") + _encoded(body, encoding)


def _encoded(body: bytes, encoding: str) -> bytes:
    import base64
    import quopri

    if encoding == "base64":
        return base64.encodebytes(body)
    return quopri.encodestring(body) if encoding == "quoted-printable" else body + b"\n"


def _headed(part: MIMEBase, subject: str) -> bytes:
    part["Subject"] = subject
    part["From"] = "Bob <bob@example.com>"
    part["To"] = "ann@example.org"
    return part.as_bytes().rstrip(b"\n") + b"\n\n"


def _subjects() -> Iterator[tuple[str, bytes]]:
    for charset, text in TEXTS.items():
        if charset.startswith("utf-") and charset != "utf-8":
            continue
        message = MIMEText("x")
        message["Subject"] = Header(f"{text} " * 6, charset).encode()
        message["From"] = formataddr((str(Header(text, charset)), "bob@example.com"))
        message["To"] = f'"Lee, Ann" <ann@example.org>, {formataddr((text, "x@example.org"))}'
        yield f"subject-{charset}", message.as_bytes()


def _attachments() -> Iterator[tuple[str, bytes]]:
    for number, name in enumerate(NAMES):
        for inline in (False, True):
            message = _letter(f"file {number} {inline}")
            message.add_attachment(
                bytes(range(256)) * (number + 1),
                maintype="application",
                subtype="octet-stream",
                filename=name,
                disposition="inline" if inline else "attachment",
            )
            yield f"file-{number}-{inline}", message.as_bytes()
    old = MIMEMultipart()
    old["Subject"], old["From"] = "old names", "bob@example.com"
    old.attach(MIMEText("see file", "plain", "utf-8"))
    file = MIMEApplication(b"data", "pdf", name=Header("Rechnung März.pdf", "utf-8").encode())
    old.attach(file)
    yield "file-rfc2047", old.as_bytes()


def _letter(subject: str) -> EmailMessage:
    message = EmailMessage(policy=email.policy.SMTP)
    message["Subject"], message["From"], message["To"] = subject, "bob@example.com", "ann@example.org"
    message.set_content(f"Text of {subject}\n")
    return message


def _structures() -> Iterator[tuple[str, bytes]]:
    both = _letter("alternative")
    both.add_alternative("<p>Text of <b>alternative</b></p>", subtype="html")
    yield "alternative", both.as_bytes()

    rich = _letter("related")
    rich.add_alternative("<p>Text of related <img src='cid:x'></p>", subtype="html")
    rich.get_payload()[1].add_related(b"GIF89a", "image", "gif", cid="<x>")  # type: ignore[index, union-attr]
    rich.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="a.pdf")
    yield "related-in-alternative-in-mixed", rich.as_bytes()

    html = EmailMessage(policy=email.policy.SMTP)
    html["Subject"], html["From"] = "html only", "bob@example.com"
    html.set_content("<html><body><p>Nur <i>HTML</i> für dich</p></body></html>", subtype="html")
    yield "html-only", html.as_bytes()

    outer = _letter("forward")
    outer.add_attachment(_letter("inner message"))
    yield "forwarded", outer.as_bytes()

    nested: MIMEBase = MIMEText("deep text", "plain", "utf-8")
    for _ in range(12):
        shell = MIMEMultipart("mixed")
        shell.attach(nested)
        nested = shell
    nested["Subject"], nested["From"] = "nested", "bob@example.com"
    yield "nested", nested.as_bytes()

    signed = MIMEMultipart("signed", protocol="application/pgp-signature", micalg="pgp-sha256")
    signed["Subject"], signed["From"] = "signed", "bob@example.com"
    signed.attach(MIMEText("signed text", "plain", "utf-8"))
    signed.attach(MIMEApplication(b"-----BEGIN PGP SIGNATURE-----", "pgp-signature"))
    yield "signed", signed.as_bytes()

    invitation = MIMEMultipart("alternative")
    invitation["Subject"], invitation["From"] = "invitation", "bob@example.com"
    invitation.attach(MIMEText("come", "plain", "utf-8"))
    invitation.attach(MIMEText("BEGIN:VCALENDAR\r\nEND:VCALENDAR", "calendar", "utf-8"))
    yield "invitation", invitation.as_bytes()

    exchange = _letter("winmail")
    exchange.add_attachment(b"\x78\x9f", maintype="application", subtype="ms-tnef", filename="winmail.dat")
    yield "winmail", exchange.as_bytes()

    flowed = MIMEText("a " * 400, "plain", "utf-8")
    flowed["Subject"], flowed["From"] = "long lines", "bob@example.com"
    yield "long-lines", flowed.as_bytes()

    empty = MIMEText("", "plain", "utf-8")
    empty["Subject"], empty["From"] = "", "bob@example.com"
    yield "empty", empty.as_bytes()
