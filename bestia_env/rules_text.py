"""Rules as text: ``bestia(num_players=5, penalty_cap=30)`` and back.

The grammar is a call with keyword arguments whose values are numbers, fractions (``3/2``), ``True``/``False``/``None``,
bare words, tuples of these, or ``Pack(suits=cdhs, ranks="A K Q")``. Nothing is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from fractions import Fraction

from bestia_env.cards import Pack
from bestia_env.errors import RulesError

__all__ = ["format_call", "parse_call"]


def format_call(name: str, values: Mapping[str, object]) -> str:
    """The text of a name and its keyword arguments."""
    return f"{name}({', '.join(f'{key}={_format(value)}' for key, value in values.items())})"


def _format(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(_format(item) for item in value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, Pack):
        return value.name or f'Pack(suits={value.suits}, ranks="{" ".join(value.ranks)}")'
    return str(value)


def parse_call(text: str) -> tuple[str, dict[str, object]]:
    """Name and keyword arguments of a rules text: the inverse of :func:`format_call`.

    Raises:
        RulesError: the text is not of the form ``name(field=value, …)``.
    """
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise RulesError(f"rules text {text!r} cannot be read; expected name(field=value, …)") from error
    if isinstance(node, ast.Name):
        return node.id, {}
    name, keywords = _call(node, text)
    return name, {keyword: _value(value, text) for keyword, value in keywords.items()}


def _call(node: ast.expr, text: str) -> tuple[str, dict[str, ast.expr]]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
        raise RulesError(f"rules text {text!r} cannot be read; expected name(field=value, …)")
    keywords: dict[str, ast.expr] = {}
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in keywords:
            raise RulesError(f"rules text {text!r}: {keyword.arg or '**'} cannot be given twice or as a mapping")
        keywords[keyword.arg] = keyword.value
    return node.func.id, keywords


def _value(node: ast.expr, text: str) -> object:
    match node:
        case ast.Constant(value=bool() | int() | str() | None as constant):
            return constant
        case ast.Name(id=word):
            return word
        case ast.Tuple(elts=items):
            return tuple(_value(item, text) for item in items)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return -number
        case ast.BinOp(
            left=ast.Constant(value=int() as top), op=ast.Div(), right=ast.Constant(value=int() as bottom)
        ) if bottom:
            return Fraction(top, bottom)
        case ast.Call():
            name, keywords = _call(node, text)
            values = {keyword: _value(value, text) for keyword, value in keywords.items()}
            suits, ranks = values.pop("suits", "cdhs"), values.pop("ranks", None)
            if name == "Pack" and not values and isinstance(suits, str) and isinstance(ranks, str):
                return Pack(suits=suits, ranks=tuple(ranks.split()))
    raise RulesError(
        f"rules text {text!r}: {ast.unparse(node)!r} is no number, fraction, word, tuple or Pack(suits=, ranks=)"
    )
