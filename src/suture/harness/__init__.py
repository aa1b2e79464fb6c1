"""The agent: a durable turn loop that can be killed at any instant and goes on."""
