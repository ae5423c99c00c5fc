"""What happened in finished games, one file for each game: how their players ended up, and what they did on the way.

A file has `read(states)`, and may have ACTION_NAMES with ACTION_GROUPS [A], the place of each action's name among them.
"""
