"""Commands that run whole chats, to score settings, compare and check."""
