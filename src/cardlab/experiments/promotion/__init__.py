"""Champions: who may become one, and how it is kept."""
