"""Playing in a browser: tables of one person against agents, served over HTTP."""
