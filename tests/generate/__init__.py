"""Builders of valid histories, one file a format, all of one shape: `history(dice, turns)`; and what breaks them.

They take a seeded source of chance and are plain functions, so that ten thousand of them cost seconds. A history built
here is beyond doubt: what is only tolerated (malformed arguments, empty messages, an id reused in Responses) is left to
the mutations.
"""
