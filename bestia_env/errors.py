"""Errors of the library: each names the field or argument, its value and what is allowed."""

__all__ = ["BestiaError", "IllegalActionError", "RecordError", "RulesError"]


class BestiaError(ValueError):
    """Base of every error the library raises for bad input; the state is untouched when it is raised."""


class RulesError(BestiaError):
    """A field of the rules, of the session or of a deal has a value the game does not allow."""


class IllegalActionError(BestiaError):
    """An action that the game does not offer in this state."""


class RecordError(BestiaError):
    """A deal record or a set-up position that contradicts itself or the rules."""
