"""Operations: typed functions by subject, from which routes, clients and commands are made."""
