"""Accessibility through AT-SPI, the protocol of GTK, Qt, Chromium and others."""
