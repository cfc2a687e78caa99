"""Other tools' files: SillyTavern chats and their metadata, scenarios for bug reports."""
