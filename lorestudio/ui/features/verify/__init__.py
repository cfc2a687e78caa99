"""What a chat recorded beside what the studio says."""
