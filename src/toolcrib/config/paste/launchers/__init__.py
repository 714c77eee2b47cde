"""Programs that start servers, one family per file.

A module offers `NAMES`, the program's names, and `understand(command)`, which returns a `Pasted`, or None
for arguments it does not know: the command is then used unchanged.
"""
