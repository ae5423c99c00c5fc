"""Outcomes of finished games, one module per game.

A file has `read(states)`, and may have ACTION_NAMES with ACTION_GROUPS [A], the place of each action's name among them.
"""
