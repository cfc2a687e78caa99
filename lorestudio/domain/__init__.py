"""What things are: notes and entries, chats and their state, fields, tokens. Plain frozen data, no input or output."""
