"""Error types of the desktop with a reason that a program can act on, named as in the gRPC interface: not
found, ambiguous, out of range, not supported, timeout, protected window."""

from __future__ import annotations

from toolcrib.serverkit.context import ToolFailure


class ApplicationNotFound(ToolFailure):
    kind = "application_not_found"
    reason = "APPLICATION_NOT_FOUND"


class AmbiguousApplication(ToolFailure):
    kind = "ambiguous_application"
    reason = "AMBIGUOUS_APPLICATION_MATCH"


class WindowNotFound(ToolFailure):
    kind = "window_not_found"
    reason = "WINDOW_NOT_FOUND"


class AmbiguousWindow(ToolFailure):
    kind = "ambiguous_window"
    reason = "AMBIGUOUS_WINDOW_MATCH"


class ElementNotFound(ToolFailure):
    kind = "element_not_found"
    reason = "ELEMENT_NOT_FOUND"


class AmbiguousElement(ToolFailure):
    kind = "ambiguous_element"
    reason = "AMBIGUOUS_ELEMENT_MATCH"


class DisplayNotFound(ToolFailure):
    kind = "display_not_found"
    reason = "DISPLAY_NOT_FOUND"


class InvalidResourceName(ToolFailure):
    kind = "invalid_resource_name"
    reason = "INVALID_RESOURCE_NAME"


class InvalidPageToken(ToolFailure):
    kind = "invalid_page_token"
    reason = "INVALID_PAGE_TOKEN"


class MissingField(ToolFailure):
    """A parameter that is needed here is missing."""

    kind = "missing_field"
    reason = "EMPTY_FIELD"


class InvalidFormat(ToolFailure):
    """A parameter has a value of the wrong form."""

    kind = "invalid_value"
    reason = "INVALID_FORMAT"


class OutOfRange(ToolFailure):
    kind = "out_of_range"
    reason = "OUT_OF_RANGE"


class NotSupported(ToolFailure):
    """This desktop cannot do it."""

    kind = "not_supported"
    reason = "UNIMPLEMENTED"


class OperationTimeout(ToolFailure):
    kind = "operation_timeout"
    reason = "TIMEOUT"


class ProtectedWindow(ToolFailure):
    """The window shows Toolcrib's own page, where the user decides about approvals."""

    kind = "protected_window"
    reason = "PERMISSION_DENIED"


class TargetChanged(ToolFailure):
    """The call would act on something else than the user was asked about."""

    kind = "target_changed"
