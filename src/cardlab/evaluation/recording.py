"""One game as its deal and its actions: a replay, a golden test and a bug report."""

from collections.abc import Sequence

import numpy as np

from cardlab.core.options import check_range
from cardlab.evaluation.game_record import (
    Keeper,
    Record,
    RecordError,
    dealt_state,
    game_options,
    kept_records,
    load_record,
    save_record,
)
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.seating import Entry, make_lineup
from cardlab.evaluation.workers import ChunkPlayer, Job, deal_block, make_jobs
from cardlab.games.catalogue import for_matches
from cardlab.games.protocol import Game, States

__all__ = ["Record", "RecordError", "dealt_state", "game_options", "load_record", "record_game", "save_record"]


def record_game(
    game: Game, entries: Sequence[Entry], options: ArenaOptions, *, deal: int = 0, seating: int = 0
) -> Record:
    """Game `seating` of deal number `deal` of the match that `play_match` plays with these options.

    The agents' randomness is that of the whole chunk, so the whole chunk is played. InvalidOption for a deal or a
    seating that the match has not.
    """
    game = for_matches(game)
    lineup = make_lineup(game, entries)
    check_range("deal", deal, 0, options.deals - 1, whole=True)
    check_range("seating", seating, 0, lineup.num_seatings - 1, whole=True)
    jobs = make_jobs([lineup], [0], options)
    job = next(job for job in jobs if job.first <= deal < job.last)
    player = ChunkPlayer(game, [lineup])
    row = (deal - job.first) * lineup.num_seatings + seating
    deals = deal_block(game, job.seed, job.first, job.last)
    keeper = _played(player, job, deals, row)
    records = kept_records(game, deals, lineup.group_names, lineup.seatings, keeper)
    return next(record for number, (_, _, record) in enumerate(records) if number == row)


def _played(player: ChunkPlayer, job: Job, deals: States, row: int) -> Keeper:
    """The games of the chunk, until that of `row` is over."""
    lineup = player.lineups[job.lineups[0]]
    states = States(np.repeat(deals, lineup.num_seatings))
    keeper = Keeper(len(states))
    agents = player.agents(lineup)
    for moves in player.moves(job, 0, states):
        keeper.add(moves, agents)
        if player.game.is_over(States(states[row : row + 1]))[0]:
            break
    return keeper
