"""The web table: one player against agents in a browser. Needs the extra `play`."""
