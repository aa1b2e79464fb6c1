"""Judges that share no code with the library: the contracts read anew, and official code."""
