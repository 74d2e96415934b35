"""The smallest kind of stage: one question, answered about each of some items by choosing an option.

It is here to be read: `docs/stages.md` explains it line by line as the pattern for kinds of your own.
"""
