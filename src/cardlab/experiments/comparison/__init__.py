"""Methods compared over their seeds: the matches, the figures and the page."""
