"""OCR engines, one in each module."""
