"""What Scribe keeps about a chat: notes of its session."""
