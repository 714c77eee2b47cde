"""Which X display and session bus to use, and the environment of programs that are started there: without
variables that look like secrets, and with accessibility turned on."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|^TOOLCRIB_", re.IGNORECASE)
"""Variables that programs on the desktop have no use for."""
ACCESSIBLE = {"QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1", "GNOME_ACCESSIBILITY": "1", "NO_AT_BRIDGE": "0"}
"""Has Qt, Firefox and GTK offer their elements."""


@dataclass(frozen=True)
class DisplayTarget:
    display: str
    """Such as `:0`."""
    cookie: bytes | None = field(default=None, repr=False)
    """The secret that admits clients; None to read it from the user's Xauthority file."""
    bus_address: str = ""
    """The session bus, on which accessibility is found."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    process_group: int | None = None
    """Programs that are started join this group and end with it."""

    @classmethod
    def of_user(cls) -> DisplayTarget:
        """The display of the user's own session; `display` is empty if there is none."""
        runtime = os.environ.get("XDG_RUNTIME_DIR", "")
        address = os.environ.get("DBUS_SESSION_BUS_ADDRESS") or (
            f"unix:path={runtime}/bus" if runtime else ""
        )
        passed = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
        return cls(os.environ.get("DISPLAY", ""), None, address, {**passed, **ACCESSIBLE})
