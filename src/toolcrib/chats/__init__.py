"""One model of a chat's turn and one reducer: what was asked, called and answered, live or from the store."""
