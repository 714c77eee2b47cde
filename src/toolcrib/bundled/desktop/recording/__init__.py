"""Records what the user does into a macro: elements by name instead of places, and no passwords."""

from __future__ import annotations

from toolcrib.bundled.desktop.recording.recorder import (
    STOP_KEYS,
    MacroRecorder,
    RecordOptions,
    record_macro,
    record_to_store,
)

__all__ = ["STOP_KEYS", "MacroRecorder", "RecordOptions", "record_macro", "record_to_store"]
