"""Looking ahead: values of actions in any game, by Monte Carlo, expectimax or tree search, with any leaf."""
