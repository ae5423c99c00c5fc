"""Games of OpenSpiel (Lanctot et al. 2019, arXiv 1908.09453) as games of cardlab."""
