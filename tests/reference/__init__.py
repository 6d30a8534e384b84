"""The second implementation: slow, obvious Python written from the rule pages alone.

It shares no code with the library. Where the two disagree, one of them misread the rules.
"""
