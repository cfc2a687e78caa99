"""A retrieval system as anybody may add one: notes whose titles were said, the most urgent first."""
