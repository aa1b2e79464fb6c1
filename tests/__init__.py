"""Suture's tests: the mirror of `src/suture`, the judges (`oracles`) and the data (`cases`)."""
