"""The Rams group: Bestia and its cousins, one engine whose games are rows of values."""
