"""The fast look at a history, one format a file: which messages may break a rule.

It knows the common forms of a healthy history and passes over them in one loop; all else is suspect and is then read in
full. It may suspect a healthy message, which costs time; it never misses a broken one, which a test holds against the
full reading.
"""

__all__: list[str] = []
