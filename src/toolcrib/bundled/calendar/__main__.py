"""`python -m toolcrib.bundled.calendar`"""

from __future__ import annotations

from toolcrib.bundled.calendar import USAGE, create
from toolcrib.serverkit.stdio import serve

serve(create, USAGE)
