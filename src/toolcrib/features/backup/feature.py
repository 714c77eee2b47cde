"""Declares backups: one file with everything of a home, encrypted or not, and its way back."""

from __future__ import annotations

from toolcrib.feature import Feature

FEATURE = Feature(
    name="backup",
    title="Backups",
    package="toolcrib.features.backup",
    docs="backup",
    commands={"backup": "commands.backup", "restore": "commands.restore"},
)
