"""Programs that download and run an npm package: `npx`, `bunx`, `npm exec`, `pnpm dlx`, `yarn dlx`; which of
their options are left out.
"""

from __future__ import annotations

from toolcrib.config.paste.pasted import CommandLine, Install, Pasted, npm_reference, short_name

NAMES = ("npx", "bunx", "npm", "pnpm", "yarn", "bun", "pnpx")
_SECOND = {"npm": ("exec", "x"), "pnpm": ("dlx", "exec"), "yarn": ("dlx",), "bun": ("x",)}
_SILENT = frozenset(
    {"-y", "--yes", "-q", "--quiet", "--silent", "--prefer-offline", "--offline", "--bun", "--"}
)
_PACKAGE = ("-p", "--package")


def understand(command: CommandLine) -> Pasted | None:
    """The package and its arguments."""
    words = list(command.words[1:])
    if command.program in _SECOND and (not words or words.pop(0) not in _SECOND[command.program]):
        return None
    package = None
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in _SILENT:
            continue
        name, sign, value = option.partition("=")
        if name not in _PACKAGE or package is not None or (not sign and not words):
            return None
        package = value if sign else words.pop(0)
    if not words:
        return None
    first = words.pop(0)
    reference = npm_reference(package or first)
    if reference is None:
        return None
    return Install(
        reference=reference,
        name=short_name(package or first),
        args=tuple(words),
        env=command.env,
        program=first if package else None,
    )
