"""Plain frozen data that every layer speaks; no behaviour beyond what a value knows about itself."""
