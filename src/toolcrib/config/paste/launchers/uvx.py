"""Programs that download and run a Python package: `uvx`, `uv tool run`, `pipx run`; which of their options
are left out.
"""

from __future__ import annotations

from toolcrib.config.paste.pasted import CommandLine, Install, Pasted, pypi_reference, short_name

NAMES = ("uvx", "uv", "pipx")
_BEFORE = {"uv": ["tool", "run"], "pipx": ["run"], "uvx": []}
_SILENT = frozenset(
    {"-q", "--quiet", "--no-progress", "--isolated", "--offline", "--no-cache", "-n", "--refresh"}
)
_PACKAGE = ("--from", "--spec")
_PYTHON = ("--python", "-p")


def understand(command: CommandLine) -> Pasted | None:
    """The package and its arguments; what wants more than one package stays a command."""
    words = list(command.words[1:])
    before = _BEFORE[command.program]
    if words[: len(before)] != before:
        return None
    words = words[len(before) :]
    package = python = None
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in _SILENT:
            continue
        name, sign, value = option.partition("=")
        if name not in (*_PACKAGE, *_PYTHON) or (not sign and not words):
            return None
        value = value if sign else words.pop(0)
        package, python = (value, python) if name in _PACKAGE else (package, value)
    if not words:
        return None
    first = words.pop(0)
    reference = pypi_reference(package or first)
    if reference is None:
        return None
    program = first.partition("@")[0] if package else None
    return Install(
        reference=reference,
        name=short_name(reference.removeprefix("pypi:")),
        args=tuple(words),
        env=command.env,
        program=program,
        python=python,
    )
