"""Opponents of the learner while experience is collected.

Agent 0 is the learner with its current network; only its decisions become samples.
"""
