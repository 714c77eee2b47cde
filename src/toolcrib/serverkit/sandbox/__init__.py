"""What sandboxes of commands and of servers share."""
