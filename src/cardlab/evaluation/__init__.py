"""Who is stronger, by how much, how sure: duplicate matches, evaluations, tournaments, replays."""
