"""Help from a model, as proposals only: a summary, better keys, a draft from the chat. Nothing is written unaccepted.

`planning` says which notes are asked about, `making` asks, `judging` makes proposals of answers and of what a person
typed, `accepting` writes them through the change log.
"""
