"""The methods of the protocol: a module for each subject, whose `METHODS` map names to handlers."""
