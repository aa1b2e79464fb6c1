"""Pairing, rules and settling. Pure: no IO, no clock; knows nothing of any provider's format."""

__all__: list[str] = []
