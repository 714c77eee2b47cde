"""`python -m toolcrib.bundled.canvas`"""

from __future__ import annotations

from toolcrib.bundled.canvas import USAGE, create
from toolcrib.serverkit.stdio import serve

serve(create, USAGE)
