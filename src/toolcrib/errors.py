"""All error classes, as one tree; each says what failed, where, and what to do next. Sets the exit code of
commands and whether a retry may help.

    ToolcribError
    ├── UsageError              the request is invalid
    │   └── InvalidArguments    arguments do not fit a tool's schema
    ├── ConfigError             a setting is wrong and must be fixed first
    │   ├── MissingVariable     ${VAR} is not set
    │   ├── MissingSecret       ${secret:NAME} is not stored
    │   ├── DatabaseUnreachable the shared database cannot be opened
    │   ├── DatabaseKeyMissing  this host has not the key of the shared database
    │   └── Conflict            someone else changed it in the meantime
    ├── DatabaseError           the database did not do what was asked
    │   ├── DatabaseUnavailable … at the moment; a retry may succeed
    │   └── DatabaseRefused     … and will not
    ├── SystemFailure           the operating system refused it: a full disk, a permission, a limit
    ├── HostRunning             another host already uses this home
    ├── NoHost                  this needs a running host
    ├── NotFound
    │   ├── FeatureMissing      a feature is not installed
    │   ├── UnknownServer
    │   └── UnknownTool
    │       └── ToolChanged     its definition is not the approved one
    ├── Denied                  a rule or the user denied the call
    │   └── ApprovalPending     the user has not answered yet; the same call takes the answer later
    ├── NetworkRefused          a URL leads to an address that is not allowed
    ├── NotTrusted              the user has not approved what would run
    ├── InstallFailed           a server could not be installed; nothing was changed
    ├── ServerUnavailable       the server cannot take calls now
    │   ├── ServerNotReady      starting, restarting or stopped
    │   ├── SpawnFailed         the command cannot be run
    │   ├── StartFailed         it was started but did not become ready
    │   │   └── ResourceShortage   not enough memory, processes or files
    │   ├── ConnectionLost      the connection was lost
    │   │   └── NotDelivered    … before the message was sent
    │   ├── RemoteUnreachable   no answer at that address
    │   └── AuthRequired        the server requires sign-in
    │       └── HostsNotConfirmed   … through hosts that the user has to confirm first
    ├── CallFailed              the server was reached and the call failed
    │   ├── CallTimeout
    │   ├── ResultTooLarge
    │   ├── FetchFailed         a URL could not be fetched
    │   └── PeerError           a JSON-RPC error, with its code and data
    └── ModelError              a language model did not answer
        ├── NoModel             none was chosen, or the name is unknown
        ├── ModelKeyRefused     the API key is missing or rejected
        ├── ModelBusy           rate limited or overloaded
        ├── ModelUnreachable    no answer at that address
        ├── AnswerCut           the answer ended early
        ├── ContextTooLong      the request exceeds the model's context
        └── PlanRefused         no valid workflow came of a request

The class decides what the supervisor does next (`recovery`) and how a command exits (`exit_code`).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

Recovery = Literal["retry", "retry_slowly", "sign_in", "configure"]


class ToolcribError(Exception):
    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    recovery: ClassVar[Recovery] = "retry"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def as_json(self) -> dict[str, Any]:
        """The form that every surface shows: kind, message, hint, and whether a retry may help."""
        return {"kind": self.kind, "message": self.message, "hint": self.hint, "retryable": self.retryable}


class UsageError(ToolcribError):
    """The request is invalid."""

    kind = "usage"
    exit_code = 2


class InvalidArguments(UsageError):
    """The arguments do not fit the tool's schema."""

    kind = "invalid_arguments"


class ConfigError(ToolcribError):
    """A setting is wrong; `line` and `column` point into the file if known."""

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
    """Someone else changed it in the meantime; `data` has the current state."""

    kind = "conflict"

    def __init__(self, message: str, *, hint: str = "", data: Any = None) -> None:
        super().__init__(message, hint=hint)
        self.data = data


class DatabaseUnreachable(ConfigError):
    """The shared database of the settings cannot be opened."""

    kind = "database_unreachable"
    exit_code = 5


class DatabaseKeyMissing(ConfigError):
    """This host has no key of the shared database, or that of another one."""

    kind = "database_key_missing"


class DatabaseError(ToolcribError):
    kind = "database"
    exit_code = 5


class DatabaseUnavailable(DatabaseError):
    """The connection was lost, or the server cannot take writes now; a retry may succeed."""

    kind = "database_unavailable"
    retryable = True


class DatabaseRefused(DatabaseError):
    """The database refused a statement or a value."""

    kind = "database_refused"


class SystemFailure(ToolcribError):
    """The operating system refused something that is not about a server."""

    kind = "system"


class HostRunning(ToolcribError):
    """Another host already uses this home."""

    kind = "host_running"
    exit_code = 5


class NoHost(ToolcribError):
    """The request needs a running host."""

    kind = "no_host"
    exit_code = 5


class NotFound(ToolcribError):
    kind = "not_found"
    exit_code = 3


class FeatureMissing(NotFound):
    """The feature that this belongs to is not installed."""

    kind = "feature_missing"


class UnknownServer(NotFound):
    kind = "unknown_server"


class UnknownTool(NotFound):
    kind = "unknown_tool"


class ToolChanged(UnknownTool):
    """The tool's definition is not the approved one; the call was not made."""

    kind = "tool_changed"


class Denied(ToolcribError):
    """A rule or the user denied the call."""

    kind = "denied"
    exit_code = 4


class ApprovalPending(Denied):
    """The user has not answered yet; the same call takes the answer later."""

    kind = "approval_pending"
    retryable = True

    def __init__(self, message: str, *, question: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.question = question

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "id": self.question}


class NetworkRefused(ToolcribError):
    """A URL leads to an address, port or scheme that is not allowed; nothing was sent there."""

    kind = "network_refused"
    exit_code = 4
    recovery = "configure"


class NotTrusted(ToolcribError):
    """The user has not approved what the server would run."""

    kind = "needs_trust"
    exit_code = 4
    recovery = "configure"


class InstallFailed(ToolcribError):
    """A server could not be installed; the previous version is unchanged."""

    kind = "install_failed"
    exit_code = 5
    retryable = True


class ServerUnavailable(ToolcribError):
    """The server cannot take calls now."""

    kind = "server_unavailable"
    exit_code = 5
    retryable = True


class ServerNotReady(ServerUnavailable):
    """The server is starting, restarting or stopped."""

    kind = "server_not_ready"


class ServerLacks(ServerNotReady):
    """The server runs, but its tools need something first, such as an account."""

    kind = "server_lacks"
    recovery = "configure"
    retryable = False

    def __init__(self, message: str, *, needs: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.data = {"needs": needs}


class SpawnFailed(ServerUnavailable):
    """The command cannot be run: not found, not executable, wrong architecture."""

    kind = "spawn_failed"
    recovery = "configure"
    retryable = False


class StartFailed(ServerUnavailable):
    """The server was started but did not become ready."""

    kind = "start_failed"


class ResourceShortage(StartFailed):
    """Not enough memory, processes or files on this machine; the server is not at fault."""

    kind = "resource_shortage"
    recovery = "retry_slowly"


class ConnectionLost(ServerUnavailable):
    """The connection was lost."""

    kind = "connection_lost"


class NotDelivered(ConnectionLost):
    """The connection was lost before the message was sent, so sending it again is safe."""


class RemoteUnreachable(ServerUnavailable):
    """No answer at the server's address."""

    kind = "unreachable"
    recovery = "retry_slowly"


class AuthRequired(ServerUnavailable):
    """The server requires sign-in (401 or 403)."""

    kind = "needs_auth"
    recovery = "sign_in"
    retryable = False


class HostsNotConfirmed(AuthRequired):
    """A sign-in would use hosts that may not belong together; `data` names them by their part in it."""

    kind = "hosts_not_confirmed"

    def __init__(self, message: str, *, hint: str = "", data: Any = None) -> None:
        super().__init__(message, hint=hint)
        self.data = data


class CallFailed(ToolcribError):
    """The server was reached and the call failed."""

    kind = "call_failed"
    exit_code = 6


class CallTimeout(CallFailed):
    """No answer within the timeout."""

    kind = "timeout"
    retryable = True


class ResultTooLarge(CallFailed):
    """The answer exceeds the size limit."""

    kind = "result_too_large"


class FetchFailed(CallFailed):
    """A URL could not be fetched: no connection, no answer in time, or an answer over a limit."""

    kind = "fetch_failed"
    retryable = True


class PeerError(CallFailed):
    """The server answered with a JSON-RPC error."""

    kind = "peer_error"

    def __init__(self, message: str, *, code: int, data: Any = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.data = data


class ModelError(ToolcribError):
    """A language model did not answer."""

    kind = "model_error"
    exit_code = 5


class NoModel(ModelError):
    """No model was chosen, or the name is unknown."""

    kind = "no_model"
    exit_code = 2


class ModelKeyRefused(ModelError):
    """The API key is missing or rejected."""

    kind = "model_key"
    exit_code = 4


class ModelBusy(ModelError):
    """Rate limited or overloaded."""

    kind = "model_busy"
    retryable = True

    def __init__(self, message: str, *, hint: str = "", wait: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.wait = wait
        """Seconds after which the vendor accepts a retry, if it says so."""


class ModelUnreachable(ModelError):
    """No answer at the model's address."""

    kind = "model_unreachable"
    retryable = True


class AnswerCut(ModelError):
    """The answer ended early."""

    kind = "answer_cut"
    retryable = True


class ContextTooLong(ModelError):
    """The request exceeds the model's context."""

    kind = "context_too_long"


class PlanRefused(ModelError):
    """The model gave no valid workflow for a request, or says that there is none."""

    kind = "plan_refused"
    exit_code = 6
