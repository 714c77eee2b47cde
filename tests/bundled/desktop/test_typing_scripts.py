"""Three hundred texts in twelve scripts and four layouts, typed exactly, with and without empty keys."""

from __future__ import annotations

import contextlib
import random
import subprocess

import pytest

from tests.bundled.desktop.conftest import Programs, eventually, window_of
from tests.bundled.desktop.full_layout import FullLayout
from toolcrib.bundled.desktop.backend import Backend
from toolcrib.bundled.desktop.elements.search import wait_for
from toolcrib.bundled.desktop.elements.selector import parse_selector

SCRIPTS = {
    "ascii": range(0x21, 0x7F),
    "latin": [*range(0x41, 0x5B), *range(0xC0, 0xD7), *range(0x100, 0x17F)],
    "greek": range(0x3B1, 0x3CA),
    "cyrillic": range(0x410, 0x450),
    "hebrew": range(0x5D0, 0x5EB),
    "arabic": range(0x627, 0x63B),
    "devanagari": range(0x905, 0x93A),
    "thai": range(0xE01, 0xE2F),
    "kana": range(0x30A1, 0x30F7),
    "han": range(0x4E00, 0x9000, 37),
    "hangul": range(0xAC00, 0xD7A3, 101),
    "emoji": range(0x1F600, 0x1F640),
}
LAYOUTS = ("us", "de", "fr", "ru")
TEXTS_EACH = 7


def texts(seed: int) -> list[str]:
    chance = random.Random(seed)
    made = []
    for letters in SCRIPTS.values():
        for _ in range(TEXTS_EACH):
            words = ("".join(map(chr, chance.choices(list(letters), k=6))) for _ in range(5))
            made.append(" ".join(words))
    return made


@pytest.mark.acceptance
@pytest.mark.timeout(600)
@pytest.mark.parametrize("is_full", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
async def test_every_text_arrives_exactly(
    backend: Backend, programs: Programs, layout: str, is_full: bool
) -> None:
    process = programs.start("mousepad")
    window = await window_of(backend, process)
    area = parse_selector({"attributes": {"multi_line": "true", "editable": "true", "visible": "true"}})
    field = (await wait_for(backend, process.pid, area, 20)).matches[0]
    await backend.windows.focus(window.id)
    environment = programs.target.environment
    subprocess.run(["setxkbmap", layout], env=environment, check=True)
    keys, wrong = FullLayout(programs.target), []
    if is_full:
        keys.fill_empty()
    before = keys.described()
    try:
        for text in texts(LAYOUTS.index(layout)):
            assert await backend.accessibility.write(field.ref, "")
            await backend.input.type_text(text, window.id)

            async def has_arrived(expected: str = text) -> bool:
                now = await backend.accessibility.read(field.ref)
                return now is not None and now.text == expected

            with contextlib.suppress(TimeoutError):
                await eventually(has_arrived, 20)
                continue
            now = await backend.accessibility.read(field.ref)
            wrong.append((text, now.text if now else None))
        assert not is_full or keys.described() == before
    finally:
        keys.close()
        subprocess.run(["setxkbmap", "us"], env=environment, check=True)
    assert wrong == []
