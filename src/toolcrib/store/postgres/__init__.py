"""PostgreSQL as the database of hosts that share their decisions; imported only when it is used."""
