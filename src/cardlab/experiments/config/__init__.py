"""From configuration to objects: Hydra composes it, and what comes out is checked and built here.

With `cardlab.cli` the only importer of Hydra.
"""
