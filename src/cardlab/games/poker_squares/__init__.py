"""Poker Squares: one player, 25 cards on a 5×5 grid, ten poker hands."""
