"""The clipboard of a Wayland session without XWayland, through the programs of wl-clipboard."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Mapping, Sequence

from toolcrib.bundled.desktop.backend import ClipboardContent
from toolcrib.serverkit.context import ToolFailure

TEXT = "text/plain;charset=utf-8"
PATIENCE = 5.0
LARGEST = 64 << 20
PREFERRED = ("image/png", "text/uri-list", "text/html")


class WlClipboard:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    async def read(self, media_type: str | None = None) -> ClipboardContent | None:
        code, listed = await self._run(["wl-paste", "--list-types"])
        offered = [name for name in listed.decode("utf-8", "replace").split("\n") if "/" in name]
        chosen = _choose(offered, media_type)
        if code != 0 or chosen is None:
            return None
        code, data = await self._run(["wl-paste", "--no-newline", "--type", chosen])
        if code != 0:
            return None
        shown = TEXT if chosen.startswith("text/plain") else chosen
        available = dict.fromkeys(TEXT if name.startswith("text/plain") else name for name in offered)
        return ClipboardContent(shown, data, tuple(available))

    async def write(self, contents: Mapping[str, bytes]) -> None:
        """One format, because wl-copy offers one: the text if there is one."""
        if sum(map(len, contents.values())) > LARGEST:
            raise ToolFailure(f"The clipboard takes at most {LARGEST >> 20} MiB.")
        if not contents:
            await self._checked(["wl-copy", "--clear"], b"")
            return
        chosen = TEXT if TEXT in contents else next(iter(contents))
        await self._checked(["wl-copy", "--type", chosen], contents[chosen])

    async def _checked(self, command: Sequence[str], data: bytes) -> None:
        code, _ = await self._run(command, data)
        if code != 0:
            raise ToolFailure("The clipboard cannot be written.", "The compositor may not allow it.")

    async def _run(self, command: Sequence[str], data: bytes = b"") -> tuple[int, bytes]:
        program = shutil.which(command[0], path=self._environment.get("PATH"))
        if program is None:
            raise ToolFailure(
                "The clipboard of this Wayland session cannot be used.", "Install the package wl-clipboard."
            )
        process = await asyncio.create_subprocess_exec(
            program,
            *command[1:],
            env=dict(self._environment),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE if command[0] == "wl-paste" else asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(PATIENCE):
                output = await _exchange(process, data)
                return await process.wait(), output
        except TimeoutError:
            raise ToolFailure(f"{command[0]} did not end within {PATIENCE:g} s.", "Try again.") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()


async def _exchange(process: asyncio.subprocess.Process, data: bytes) -> bytes:
    """Send the input and read a limited output; the copy that wl-copy leaves behind keeps none open."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()
    if process.stdout is None:
        return b""
    parts: list[bytes] = []
    while part := await process.stdout.read(1 << 16):
        parts.append(part)
        if sum(map(len, parts)) > LARGEST:
            raise ToolFailure(f"The clipboard holds more than {LARGEST >> 20} MiB.")
    return b"".join(parts)


def _choose(offered: Sequence[str], media_type: str | None) -> str | None:
    text = next((name for name in offered if name.startswith("text/plain")), None)
    if media_type is None:
        return text or next((name for name in (*PREFERRED, *offered) if name in offered), None)
    if media_type.startswith("text/plain"):
        return text
    return media_type if media_type in offered else None
