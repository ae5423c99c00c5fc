"""Deals: all chance of a game from one secret seed, and ids from which nobody can tell it."""

import hashlib
import hmac
import os
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cardlab.games.protocol import Game, States

SEED_BYTES = 32
ID_BYTES = 16


@dataclass(frozen=True)
class Deal:
    """One deal: `seed` decides the cards, all later chance, and the chance that agents have at it."""

    seed: bytes

    def states(self, game: Game) -> States:
        """[1] the game as it is dealt."""
        return game.deal(1, self._rng(b"cards"))

    def stream(self, number: int, player: int) -> np.random.Generator:
        """The chance of `player` at the decision after `number` actions."""
        return self._rng(f"{player} {number}".encode())

    def _rng(self, use: bytes) -> np.random.Generator:
        return np.random.default_rng(int.from_bytes(hmac.digest(self.seed, use, "sha256")))


@dataclass(frozen=True)
class Secret:
    """The key of the server: who does not know it can guess neither a day's deal nor the id of one."""

    key: bytes

    def fresh(self) -> Deal:
        """A deal that nobody has seen."""
        return Deal(secrets.token_bytes(SEED_BYTES))

    def daily(self, game: str, date: str) -> Deal:
        """The deal of `game` on a day, as 2026-11-21."""
        return Deal(self._hash(f"daily {game} {date}".encode()))

    def deal_id(self, deal: Deal, setting: str) -> str:
        """The public id of `deal`, played in a `setting` (game, options, seats): a keyed hash of 128 bits."""
        return _text(self._hash(b"deal " + deal.seed + setting.encode())[:ID_BYTES])

    def _hash(self, message: bytes) -> bytes:
        return hmac.digest(self.key, message, hashlib.sha256)


def new_id() -> str:
    """A random name of 128 bits that nobody can guess."""
    return _text(secrets.token_bytes(ID_BYTES))


def load_secret(path: Path, given: str | None = None) -> Secret:
    """The secret that is `given`, else the one in the file `path`, which is made when it is not there."""
    if given:
        return Secret(hashlib.sha256(given.encode()).digest())
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return Secret(_read(path))
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(SEED_BYTES))
    return Secret(_read(path))


class SecretError(ValueError):
    """The file of the secret is not one."""


def _read(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) != SEED_BYTES:
        raise SecretError(f"{path}: is not a secret of {SEED_BYTES} bytes: remove it and a new one is made")
    return key


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
