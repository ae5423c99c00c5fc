"""Records single games of a match."""

from collections.abc import Sequence

import numpy as np

from cardlab.core.options import check_whole
from cardlab.evaluation.game_record import (
    GameRecord,
    GameRecorder,
    RecordError,
    dealt_state,
    finished_records,
    game_options,
    load_record,
    save_record,
)
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.seating import Entry, make_lineup
from cardlab.evaluation.workers import ChunkJob, ChunkPlayer, deal_block, make_jobs
from cardlab.games.catalogue import without_training_options
from cardlab.games.protocol import Game, States

__all__ = ["GameRecord", "RecordError", "dealt_state", "game_options", "load_record", "record_game", "save_record"]


def record_game(
    game: Game, entries: Sequence[Entry], options: ArenaOptions, *, deal: int = 0, seating: int = 0
) -> GameRecord:
    """Game `seating` of deal number `deal` of the match that `play_match` plays with these options.

    The random stream of agents belongs to the chunk, so the whole chunk is played. InvalidOption for a deal or seating
    outside of the match.
    """
    game = without_training_options(game)
    lineup = make_lineup(game, entries)
    check_whole("deal", deal, 0, options.deals - 1)
    check_whole("seating", seating, 0, lineup.num_seatings - 1)
    jobs = make_jobs([lineup], [0], options)
    job = next(job for job in jobs if job.first <= deal < job.last)
    player = ChunkPlayer(game, [lineup])
    row = (deal - job.first) * lineup.num_seatings + seating
    deals = deal_block(game, job.seed, job.first, job.last)
    recorder = _played(player, job, deals, row)
    records = finished_records(game, deals, lineup.group_names, lineup.seatings, recorder)
    return next(record for number, (_, _, record) in enumerate(records) if number == row)


def _played(player: ChunkPlayer, job: ChunkJob, deals: States, row: int) -> GameRecorder:
    """Play the chunk until game `row` is over."""
    lineup = player.lineups[job.lineups[0]]
    states = States(np.repeat(deals, lineup.num_seatings))
    recorder = GameRecorder(len(states))
    agents = player.agents(lineup)
    for moves in player.moves(job, 0, states):
        recorder.add(moves, agents)
        if player.game.is_over(States(states[row : row + 1]))[0]:
            break
    return recorder
