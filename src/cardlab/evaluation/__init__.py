"""Scores of agents and their intervals: duplicate matches, evaluations, tournaments, replays."""
