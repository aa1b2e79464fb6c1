"""Speed and memory, as ratios measured side by side: commands, not tests."""
