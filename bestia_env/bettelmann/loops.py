"""Bettelmann's compiled batch loops."""

from bestia_env._loops import make_loops
from bestia_env.bettelmann.engine import advance, apply, begin, forfeit, is_legal, mask, pick, prepare, shuffle
from bestia_env.bettelmann.observe import observe
from bestia_env.bettelmann.redeal import redeal
from bestia_env.bettelmann.tensor import encode

LOOPS = make_loops(
    "bettelmann",
    prepare=prepare,
    shuffle=shuffle,
    begin=begin,
    advance=advance,
    apply=apply,
    forfeit=forfeit,
    is_legal=is_legal,
    mask=mask,
    pick=pick,
    observe=observe,
    encode=encode,
    redeal=redeal,
)
