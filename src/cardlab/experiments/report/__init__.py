"""Pictures of results, one module each, and the report that shows them: one page that opens offline."""
