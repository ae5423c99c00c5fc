"""Games small enough to be solved by enumeration, or to be played in a moment; each a full `Game`."""
