"""Fact memory: facts are drawn out of a conversation once it has fallen silent, and found again by similarity.

Two ways of doing it: strict does what the original does, slips included; safe (the default) mends what loses data
(rules: fact-memory 13). All text fields are spelled as in the original wherever they leave the program.
"""
