"""Operations: typed functions by subject, from which routes, clients and commands are made. The help, columns
and messages of a generated command are in the file of its operation."""
