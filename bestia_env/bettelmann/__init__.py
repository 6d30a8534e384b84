"""Bettelmann (Beggar-my-neighbour): nothing to decide, and published games to be exact about."""
