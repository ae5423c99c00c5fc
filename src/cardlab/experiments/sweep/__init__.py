"""Sweeps: search for the best hyperparameters of an experiment. Only this package imports Optuna."""
