"""JSON views of each game, made from InfoStates only."""
