from stores import root, store

__all__ = ["root", "store"]
