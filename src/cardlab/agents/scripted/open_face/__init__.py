"""Agents for Open-face that need no training."""

from cardlab.agents.scripted.open_face.greedy_start import GreedyStart
from cardlab.agents.scripted.open_face.random_fills import RandomFills

AGENTS = {"greedy_start": GreedyStart, "random_fills": RandomFills}
