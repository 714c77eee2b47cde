"""`python -m toolcrib.bundled.desktop`"""

from __future__ import annotations

from toolcrib.bundled.desktop import USAGE, create
from toolcrib.serverkit.stdio import serve

serve(create, USAGE)
