"""AI selection: the candidate list for the model, the request, the answer, and what stands around the call."""
