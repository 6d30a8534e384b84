"""The Rams group's compiled batch loops."""

from bestia_env._loops import make_loops
from bestia_env.rams.engine import advance, apply, begin, forfeit, is_legal, mask, pick
from bestia_env.rams.observe import observe
from bestia_env.rams.redeal import redeal
from bestia_env.rams.session import prepare
from bestia_env.rams.stock import shuffle
from bestia_env.rams.tensor import encode

LOOPS = make_loops(
    "rams",
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
