"""Sweeps: which hyperparameters make an experiment strongest. The only door to Optuna."""
