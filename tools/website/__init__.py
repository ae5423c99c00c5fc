"""What `make docs` adds to the pages of docs/: generated tables, equations, links; and the pictures of docs/images."""
