"""A desktop on another machine or display, through a gRPC server such as `toolcrib desktop serve --grpc`.

Used when one of the variables in `target.CHOOSING` is set, and on macOS, where MacosUseServer controls the
desktop.
"""

from __future__ import annotations

from toolcrib.bundled.desktop.backend import Backend, SetupProblem
from toolcrib.bundled.desktop.backends.remote.target import RemoteTarget, is_chosen
from toolcrib.errors import UsageError

__all__ = [
    "FALLBACK_FOR",
    "PLATFORM",
    "RemoteTarget",
    "open_backend",
    "probe",
    "suits_session",
    "user_target",
]

PLATFORM = ""
"""All of them."""
FALLBACK_FOR = ("darwin",)
suits_session = is_chosen
user_target = RemoteTarget.of_environment


def probe(target: RemoteTarget) -> list[SetupProblem]:
    """What is wrong with the settings; whether the server answers is seen when it is used."""
    if not isinstance(target, RemoteTarget):
        return [
            SetupProblem(
                "A remote desktop is set (MACOS_USE_SERVER_…), so this server cannot have its own display.",
                "Leave out --headless, or unset those variables.",
            )
        ]
    try:
        target.check()
    except UsageError as error:
        return [SetupProblem(error.message, error.hint)]
    return []


async def open_backend(target: RemoteTarget) -> Backend:
    """Connects with the first call, and again after each loss."""
    from toolcrib.bundled.desktop.grpc import EXTRA
    from toolcrib.serverkit.extras import ensure

    await ensure(EXTRA)
    from toolcrib.bundled.desktop.backends.remote.desktop import RemoteBackend

    return RemoteBackend(target)
