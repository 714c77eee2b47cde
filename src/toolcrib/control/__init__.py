"""What commands ask of a host: of a running one over its local socket, or of one opened for the purpose."""
