"""Deals: all random numbers of a game from one secret seed, and public ids that do not reveal it."""

import hashlib
import hmac
import os
import secrets
from base64 import urlsafe_b64encode
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cardlab.core.options import InvalidOption
from cardlab.games.protocol import Game, States

SEED_BYTES = 32
ID_BYTES = 16


@dataclass(frozen=True)
class Deal:
    """One deal: `seed` determines the cards and the random numbers of the agents."""

    seed: bytes

    def states(self, game: Game) -> States:
        """[1] the dealt game."""
        return game.deal(1, self._rng(b"cards"))

    def rng(self, number: int, player: int) -> np.random.Generator:
        """The random generator of `player` for the decision after `number` actions."""
        return self._rng(f"{player} {number}".encode())

    def _rng(self, purpose: bytes) -> np.random.Generator:
        return np.random.default_rng(int.from_bytes(hmac.digest(self.seed, purpose, "sha256")))


@dataclass(frozen=True)
class Secret:
    """The server's key. Daily deals and deal ids cannot be predicted without it."""

    key: bytes

    def daily(self, game: str, date: str) -> Deal:
        """The deal of `game` on a date such as 2026-11-21."""
        return Deal(self._hash(f"daily {game} {date}".encode()))

    def deal_id(self, deal: Deal, setting: str) -> str:
        """The public id of `deal` with a `setting` (game, options, seats): a keyed hash of 128 bits."""
        digest = self._hash(b"deal " + deal.seed + setting.encode())[:ID_BYTES]
        return urlsafe_b64encode(digest).rstrip(b"=").decode()

    def _hash(self, message: bytes) -> bytes:
        return hmac.digest(self.key, message, hashlib.sha256)


def new_seed() -> bytes:
    """The seed of a new random deal."""
    return secrets.token_bytes(SEED_BYTES)


def new_id() -> str:
    """A random id of 128 bits."""
    return secrets.token_urlsafe(ID_BYTES)


def load_secret(path: Path, given: str | None = None) -> Secret:
    """The secret from the text `given`, else from the file `path`. A missing file is created.

    Raises InvalidOption for a file of another length.
    """
    if given:
        return Secret(hashlib.sha256(given.encode()).digest())
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(SEED_BYTES))
    key = path.read_bytes()
    if len(key) != SEED_BYTES:
        raise InvalidOption("play.secret", path, f"a file of {SEED_BYTES} bytes; remove it to create a new secret")
    return Secret(key)
