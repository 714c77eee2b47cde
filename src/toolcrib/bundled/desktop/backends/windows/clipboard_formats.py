"""What Windows puts on its clipboard for HTML, pictures and files, as media types and back."""

from __future__ import annotations

import re
import struct

import cv2
import numpy

HTML = (
    "Version:0.9\r\nStartHTML:{start:010d}\r\nEndHTML:{end:010d}\r\n"
    "StartFragment:{first:010d}\r\nEndFragment:{last:010d}\r\n"
)
OPENING, CLOSING = b"<html><body><!--StartFragment-->", b"<!--EndFragment--></body></html>"
FILE_HEADER = 14
_FRAGMENT = re.compile(rb"StartFragment:\s*(\d+).*?EndFragment:\s*(\d+)", re.DOTALL)
_BIT_FIELDS, _MASKS = 3, 12
_PLAIN_HEADER = 40
_PALETTE_BITS = 8


def pack_html(fragment: bytes) -> bytes:
    """The format `HTML Format`: a header with byte offsets into what follows it."""
    start = len(HTML.format(start=0, end=0, first=0, last=0))
    first = start + len(OPENING)
    last = first + len(fragment)
    header = HTML.format(start=start, end=last + len(CLOSING), first=first, last=last)
    return header.encode() + OPENING + fragment + CLOSING


def unpack_html(data: bytes) -> bytes:
    found = _FRAGMENT.search(data[:1024])
    return data[int(found[1]) : int(found[2])] if found else data.rstrip(b"\0")


def png_from_bitmap(bitmap: bytes) -> bytes | None:
    """Of a device-independent bitmap (CF_DIB), which is a BMP file without its first header."""
    if len(bitmap) < _PLAIN_HEADER:
        return None
    header, bits, compression = bitmap[:4], *struct.unpack_from("<HI", bitmap, 14)
    size = int.from_bytes(header, "little")
    colours = struct.unpack_from("<I", bitmap, 32)[0] or (1 << bits if bits <= _PALETTE_BITS else 0)
    masks = _MASKS if compression == _BIT_FIELDS and size == _PLAIN_HEADER else 0
    offset = FILE_HEADER + size + masks + colours * 4
    file = struct.pack("<2sIHHI", b"BM", FILE_HEADER + len(bitmap), 0, 0, offset) + bitmap
    pixels = cv2.imdecode(numpy.frombuffer(file, numpy.uint8), cv2.IMREAD_COLOR)
    if pixels is None:
        return None
    return bytes(cv2.imencode(".png", pixels)[1])


def bitmap_from_png(png: bytes) -> bytes | None:
    """For programs that paste no PNG."""
    pixels = cv2.imdecode(numpy.frombuffer(png, numpy.uint8), cv2.IMREAD_COLOR)
    return bytes(cv2.imencode(".bmp", pixels)[1])[FILE_HEADER:] if pixels is not None else None
