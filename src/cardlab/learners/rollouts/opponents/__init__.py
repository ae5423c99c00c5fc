"""Who sits beside the learner while it gathers experience.

Agent 0 is always the learner as it is now; only its decisions become samples.
"""
