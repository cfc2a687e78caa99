"""What a run decided, and the words for it.

`model` is the record that a run writes. Everything that people see of a run is made from it here, without a look at the
engine: `explain` (codes in words, with what to change), `journey` (one entry through the stages), `diff` (what differs
between two runs), `summary` (one sentence, and counts by stage), `ai_selection` (what a model was asked, and what its
answer was matched to), `text` (to copy) and `storage` (JSON, and all runs, kept).
"""
