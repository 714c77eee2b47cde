"""Understands what people paste after `toolcrib add`."""
