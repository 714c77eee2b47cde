"""`python -m toolcrib.bundled.discord`"""

from __future__ import annotations

from toolcrib.bundled.discord import USAGE, create
from toolcrib.serverkit.stdio import serve

serve(create, USAGE)
