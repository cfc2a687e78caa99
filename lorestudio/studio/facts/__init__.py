"""Fact memory of chats: drawing facts out, looking after them, and replaying a chat with them."""
