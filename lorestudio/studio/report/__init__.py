"""Reports of one turn or of a whole chat: what happened, with pictures and tables, in one file that can be given away.

`source` gathers what a report tells (and takes a person's words out of it), `page` makes HTML, Markdown and JSON of it.
"""
