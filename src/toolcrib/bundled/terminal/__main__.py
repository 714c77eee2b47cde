"""`python -m toolcrib.bundled.terminal [FOLDER]`"""

from __future__ import annotations

from toolcrib.bundled.terminal import USAGE, create
from toolcrib.serverkit.stdio import serve

serve(create, USAGE)
