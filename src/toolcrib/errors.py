"""Everything that can go wrong, as one tree; each error says what failed, which thing, and what to do next.

    ToolcribError
    ├── UsageError              the request makes no sense as asked
    │   └── InvalidArguments    arguments do not fit a tool's schema
    ├── ConfigError             a setting is wrong; nothing will run until it is mended
    │   ├── MissingVariable     ${VAR} is not set
    │   ├── MissingSecret       ${secret:NAME} is not stored
    │   └── Conflict            somebody else changed it meanwhile
    ├── HostRunning             another host already owns this home
    ├── NoHost                  this needs a running host
    ├── NotFound
    │   ├── UnknownServer
    │   └── UnknownTool
    │       └── ToolChanged     it is not the tool that was approved
    ├── Denied                  a rule or a person said no
    ├── NotTrusted              a person has to agree to what would run
    ├── InstallFailed           a server could not be installed; what was there before still is
    ├── ServerUnavailable       the server cannot take the call now
    │   ├── ServerNotReady      starting, restarting or stopped
    │   ├── SpawnFailed         the command cannot be run at all
    │   ├── StartFailed         it ran, but never became ready
    │   │   └── ResourceShortage   no room for another process or file
    │   ├── ConnectionLost      it was there and is gone
    │   │   └── NotDelivered    … before the message was handed over
    │   ├── RemoteUnreachable   nobody answers at that address
    │   └── AuthRequired        the server wants a sign-in
    ├── CallFailed              the server was reached and the call did not succeed
    │   ├── CallTimeout
    │   ├── ResultTooLarge
    │   └── PeerError           a JSON-RPC error, with its code and data
    └── ModelError              a language model did not answer
        ├── NoModel             none was chosen, or there is none of that name
        ├── ModelKeyRefused     no key, or one that the vendor does not take
        ├── ModelBusy           too many requests, or the vendor is overloaded
        ├── ModelUnreachable    nobody answers at that address
        ├── AnswerCut           the answer broke off
        └── ContextTooLong      more was sent than the model can hold

The class tells the supervisor what comes next (`recovery`) and a surface what to exit with (`exit_code`).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

Recovery = Literal["retry", "retry_slowly", "sign_in", "configure"]


class ToolcribError(Exception):
    """The root of the tree."""

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    recovery: ClassVar[Recovery] = "retry"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def as_json(self) -> dict[str, Any]:
        """The form every surface shows: kind, message, hint, and whether trying again may help."""
        return {"kind": self.kind, "message": self.message, "hint": self.hint, "retryable": self.retryable}


class UsageError(ToolcribError):
    """The request makes no sense as asked."""

    kind = "usage"
    exit_code = 2


class InvalidArguments(UsageError):
    """The arguments do not fit the tool's schema."""

    kind = "invalid_arguments"


class ConfigError(ToolcribError):
    """A setting is wrong; `line` and `column` point into the file where they are known."""

    kind = "config"
    exit_code = 2
    recovery = "configure"

    def __init__(
        self, message: str, *, hint: str = "", line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.line = line
        self.column = column


class MissingVariable(ConfigError):
    """`${VAR}` names an environment variable that is not set."""

    kind = "missing_variable"


class MissingSecret(ConfigError):
    """`${secret:NAME}` names a secret that is not stored."""

    kind = "missing_secret"


class Conflict(ConfigError):
    """Somebody else changed what was to be changed; `data` says when."""

    kind = "conflict"

    def __init__(self, message: str, *, hint: str = "", data: Any = None) -> None:
        super().__init__(message, hint=hint)
        self.data = data


class HostRunning(ToolcribError):
    """Another host already owns this home."""

    kind = "host_running"
    exit_code = 5


class NoHost(ToolcribError):
    """The request needs a running host and there is none."""

    kind = "no_host"
    exit_code = 5


class NotFound(ToolcribError):
    """The named thing does not exist."""

    kind = "not_found"
    exit_code = 3


class UnknownServer(NotFound):
    """No server has this name."""

    kind = "unknown_server"


class UnknownTool(NotFound):
    """No tool has this name."""

    kind = "unknown_tool"


class ToolChanged(UnknownTool):
    """The tool is there, but its definition is not the one that was approved; the call was not made."""

    kind = "tool_changed"


class Denied(ToolcribError):
    """A rule or a person refused the call."""

    kind = "denied"
    exit_code = 4


class NotTrusted(ToolcribError):
    """A person has not agreed to what the server would run."""

    kind = "needs_trust"
    exit_code = 4
    recovery = "configure"


class InstallFailed(ToolcribError):
    """A server could not be installed; whatever was in place before is untouched."""

    kind = "install_failed"
    exit_code = 5
    retryable = True


class ServerUnavailable(ToolcribError):
    """The server cannot take the call now."""

    kind = "server_unavailable"
    exit_code = 5
    retryable = True


class ServerNotReady(ServerUnavailable):
    """The server is starting, restarting or stopped."""

    kind = "server_not_ready"


class SpawnFailed(ServerUnavailable):
    """The command cannot be run at all: not found, not executable, wrong architecture."""

    kind = "spawn_failed"
    recovery = "configure"
    retryable = False


class StartFailed(ServerUnavailable):
    """The server was started but never became ready."""

    kind = "start_failed"


class ResourceShortage(StartFailed):
    """This machine or this process has no room for another server right now; the server is not at fault."""

    kind = "resource_shortage"
    recovery = "retry_slowly"


class ConnectionLost(ServerUnavailable):
    """The connection was there and is gone."""

    kind = "connection_lost"


class NotDelivered(ConnectionLost):
    """The connection was gone before the message was handed over: sending it again does nothing twice."""


class RemoteUnreachable(ServerUnavailable):
    """Nobody answers at the server's address."""

    kind = "unreachable"
    recovery = "retry_slowly"


class AuthRequired(ServerUnavailable):
    """The server wants a sign-in (401 or 403)."""

    kind = "needs_auth"
    recovery = "sign_in"
    retryable = False


class CallFailed(ToolcribError):
    """The server was reached and the call did not succeed."""

    kind = "call_failed"
    exit_code = 6


class CallTimeout(CallFailed):
    """No answer within the call's deadline."""

    kind = "timeout"
    retryable = True


class ResultTooLarge(CallFailed):
    """The answer is larger than we are willing to hold."""

    kind = "result_too_large"


class PeerError(CallFailed):
    """The other side answered with a JSON-RPC error."""

    kind = "peer_error"

    def __init__(self, message: str, *, code: int, data: Any = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.data = data


class ModelError(ToolcribError):
    """A language model was asked and did not answer."""

    kind = "model_error"
    exit_code = 5


class NoModel(ModelError):
    """No model was chosen, or there is none of that name."""

    kind = "no_model"
    exit_code = 2


class ModelKeyRefused(ModelError):
    """There is no key, or the vendor does not take it."""

    kind = "model_key"
    exit_code = 4


class ModelBusy(ModelError):
    """Too many requests, or the vendor has too much to do."""

    kind = "model_busy"
    retryable = True

    def __init__(self, message: str, *, hint: str = "", wait: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.wait = wait
        """Seconds after which the vendor wants to be asked again, where it says so."""


class ModelUnreachable(ModelError):
    """Nobody answers at the model's address."""

    kind = "model_unreachable"
    retryable = True


class AnswerCut(ModelError):
    """The answer broke off before its end."""

    kind = "answer_cut"
    retryable = True


class ContextTooLong(ModelError):
    """More was sent than the model can hold."""

    kind = "context_too_long"
