"""Programs that people start servers with, one family a file.

A module offers `NAMES`, the words that it goes by, and `understand(command)`, which gives a `Pasted`, or None
where the words are beyond it: they are then taken as a plain command.
"""
