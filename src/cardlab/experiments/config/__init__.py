"""Composition of configurations with Hydra, and the objects built from them. Only cli imports Hydra, too."""
