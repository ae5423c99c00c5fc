"""What a person sees of each game, as JSON made from InfoStates alone."""
