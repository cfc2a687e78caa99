"""Help from a model, as proposals only: a summary, better keys, a draft from the chat. Nothing is written unaccepted.

`planning` says which notes are asked about, and asks; `judging` makes proposals of answers and of what a person typed,
and writes accepted ones through the change log.
"""
