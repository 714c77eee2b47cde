"""OAuth sign-in to remote servers: once by the user in a browser, then with stored credentials."""
