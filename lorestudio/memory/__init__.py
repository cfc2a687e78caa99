"""What a chat remembers: notes, summaries, recaps and facts."""
