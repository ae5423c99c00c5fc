"""Files that are torn, foreign, of another time or hostile are named in one line, and nothing in them is run."""

import json
import os
import pickle
import random
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.agents.policy_descriptions import FORMATS, PolicyError
from cardlab.agents.policy_files import describe, load_policy, save_policy
from cardlab.core.messages import ConfigurationError
from cardlab.evaluation.game_record import RecordError, load_record
from cardlab.experiments.policy_groups import policy_config
from cardlab.experiments.stage_code import load_params
from cardlab.games.make_game import make_game
from cardlab.networks.mlp_options import MLPOptions
from cardlab.training.checkpoint_files import CheckpointError, find_checkpoint
from plays import PLAYS
from training.test_resume import experiment_of, run


class Bomb:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return Path.touch, (self.mark,)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    game = make_game("poker_squares")
    options = MLPOptions(widths=(8,))
    save_policy(tmp_path / "policy", describe(game, options, PLAYS["softmax"], {}), options.build(game.spec))
    load_policy(game, tmp_path / "policy")
    return tmp_path / "policy"


def refused(policy: Path, match: str, game: str = "poker_squares") -> None:
    with pytest.raises(PolicyError, match=match) as raised:
        load_policy(make_game(game), policy)
    assert "\n" not in str(raised.value)
    assert str(policy) in str(raised.value)


def bombs(mark: Path, folder: Path) -> dict[str, bytes]:
    """A bomb as a plain pickle, as torch writes it, and inside the archive that torch writes."""
    torch.save({"learner": {"iterations_done": 1}}, folder / "whole")
    with zipfile.ZipFile(folder / "whole") as whole, zipfile.ZipFile(folder / "zipped", "w") as zipped:
        for name in whole.namelist():
            content = pickle.dumps(Bomb(mark)) if name.endswith("data.pkl") else whole.read(name)
            zipped.writestr(name, content)
    torch.save(Bomb(mark), folder / "saved")
    return {
        "pickle": pickle.dumps(Bomb(mark)),
        "saved": (folder / "saved").read_bytes(),
        "zipped": (folder / "zipped").read_bytes(),
    }


def test_the_bomb_goes_off_where_files_are_trusted(tmp_path: Path) -> None:
    for name, content in bombs(tmp_path / "mark", tmp_path).items():
        (tmp_path / "bomb").write_bytes(content)
        if name == "pickle":
            pickle.loads(content)
        else:
            torch.load(tmp_path / "bomb", weights_only=False)
        assert (tmp_path / "mark").exists(), "else the tests below show nothing"
        (tmp_path / "mark").unlink()


@pytest.mark.parametrize("kind", ["pickle", "saved", "zipped"])
@pytest.mark.parametrize("name", ["weights.safetensors", "policy.json"])
def test_a_bomb_as_a_policy_is_not_run(policy: Path, tmp_path: Path, kind: str, name: str) -> None:
    (policy / name).write_bytes(bombs(tmp_path / "mark", tmp_path)[kind])
    refused(policy, name)
    assert not (tmp_path / "mark").exists()


@pytest.mark.parametrize("kind", ["pickle", "saved", "zipped"])
def test_a_bomb_as_a_checkpoint_is_not_run(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "run" / "checkpoint.ckpt"
    file.parent.mkdir()
    file.write_bytes(bombs(tmp_path / "mark", tmp_path)[kind])
    with pytest.raises(CheckpointError, match=r"checkpoint\.ckpt: is not a checkpoint of this run .*; delete it$"):
        run(experiment_of("td"), tmp_path)
    assert not (tmp_path / "mark").exists()


def test_a_policy_of_another_game(policy: Path) -> None:
    refused(policy, "was trained for game=poker_squares, the game has game=thirty_one", "thirty_one")


@pytest.mark.parametrize("version", [FORMATS["policy.json"] - 2, FORMATS["policy.json"] + 1])
def test_a_policy_of_another_format(policy: Path, version: int) -> None:
    content = json.loads((policy / "policy.json").read_text())
    (policy / "policy.json").write_text(json.dumps(content | {"format": version}))
    refused(policy, rf"policy\.json: format {version}, this version reads 3; train it again")


@pytest.mark.parametrize("name", ["weights.safetensors", "policy.json"])
@pytest.mark.parametrize("part", [0.0, 0.3, 0.99])
def test_a_torn_policy(policy: Path, name: str, part: float) -> None:
    content = (policy / name).read_bytes()
    (policy / name).write_bytes(content[: int(part * len(content))])
    refused(policy, name)


def test_a_flipped_bit_is_named_or_harms_nothing(policy: Path) -> None:
    """Harmless are those in the name under which the checksum stands: the numbers are whole."""
    file, chance = policy / "weights.safetensors", random.Random(0)
    whole, expected = file.read_bytes(), load_file(file)
    header = 8 + int.from_bytes(whole[:8], "little")
    places = [chance.randrange(header) for _ in range(60)] + [chance.randrange(header, len(whole)) for _ in range(60)]
    harmless = 0
    for place in places:
        torn = bytearray(whole)
        torn[place] ^= 1 << chance.randrange(8)
        file.write_bytes(torn)
        try:
            loaded = load_policy(make_game("poker_squares"), policy)
        except PolicyError:
            refused(policy, r"weights\.safetensors")
        else:
            harmless += 1
            assert place < header, "a number was flipped, and nobody noticed"
            assert isinstance(loaded, SoftmaxAgent)
            weights = loaded.network.state_dict()
            assert all(torch.equal(weights[name], tensor) for name, tensor in expected.items())
    assert harmless < 10
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    refused(policy, r"weights\.safetensors: .*checksum")


def test_a_policy_of_before_there_were_checksums(policy: Path) -> None:
    weights = load_file(policy / "weights.safetensors")
    save_file(weights, policy / "weights.safetensors")
    load_policy(make_game("poker_squares"), policy)


def test_a_policy_that_is_gone(policy: Path) -> None:
    shutil.rmtree(policy)
    refused(policy, r"is not a policy's folder: no policy\.json in it")


@pytest.mark.parametrize("part", [0.0, 0.5, 0.99])
def test_a_torn_checkpoint_is_named_in_plain_words(tmp_path: Path, part: float) -> None:
    file = tmp_path / "run" / "checkpoint.ckpt"
    file.parent.mkdir()
    torch.save({"learner": {"iterations_done": 1}}, file)
    content = file.read_bytes()[: int(part * file.stat().st_size)]
    file.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"this run \(it is incomplete or damaged\); delete it$"):
        run(experiment_of("td"), tmp_path)
    assert file.read_bytes() == content


ODD = ["device", "pipe", "sparse", "expanding"]


def make_odd(path: Path, kind: str) -> None:
    """Replace the file by what must not be read to its end."""
    path.unlink(missing_ok=True)
    if kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(2**30)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("archive/data.pkl", bytes(2**26))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", ["weights.safetensors", "policy.json"])
def test_an_odd_file_as_a_policy_is_not_read(policy: Path, kind: str, name: str) -> None:
    make_odd(policy / name, kind)
    refused(policy, name)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ODD)
def test_an_odd_file_as_a_record_or_checkpoint_is_not_read(tmp_path: Path, kind: str) -> None:
    make_odd(tmp_path / "odd", kind)
    with pytest.raises(RecordError, match=r"/odd: is not a record of a game \([^\n]*\)$"):
        load_record(tmp_path / "odd")
    with pytest.raises(CheckpointError, match=r"/odd: is not a checkpoint of this run \([^\n]*\); delete it$"):
        find_checkpoint(tmp_path / "odd", 1, print)


def test_huge_weights_are_refused(policy: Path) -> None:
    weights = load_file(policy / "weights.safetensors")
    next(iter(weights.values()))[0] = 3e38
    save_file(weights, policy / "weights.safetensors")
    refused(policy, r"numbers that are NaN, infinite or above 1e\+12")


@pytest.mark.parametrize("content", ["[]", "null", "3", '"text"'])
def test_json_that_is_no_object(policy: Path, content: str) -> None:
    (policy / "policy.json").write_text(content)
    refused(policy, "in place of an object")


@pytest.mark.parametrize("content", ["[]", '{"arena": []}', '{"game": "text"}', '{"seed": "text"}', "null", "{"])
def test_a_foreign_configuration_of_a_run_counts_as_unknown(policy: Path, content: str) -> None:
    (policy.parent / "config.json").write_text(content)
    assert policy_config(policy) == {}


MERGED = "seed: 1\n<<<<<<< HEAD\nexperiments: {}\n=======\nexperiments: {a: null}\n>>>>>>> branch\n"


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (MERGED, r"^params\.yaml: cannot be read \(.*line 2, .*\); `cardlab compose` writes it again$"),
        ("experiments: {}\nseed: 1\nseed: 2\n", "found duplicate key seed"),
        ("experiments: {a: {name: a", r"^params\.yaml: cannot be read"),
        ("experiments: {a: null}\n", r"^experiments\.a=null: must be a mapping"),
        ("experiments: {}\ncompare: null\n", r"^compare=null: must be a mapping"),
        ("experiments: {}\ntune: text\n", r"^tune=text: must be a mapping"),
        ("- a\n", r"^experiments=\(left out\)"),
    ],
)
def test_a_damaged_params_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, match: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text(content)
    with pytest.raises(ConfigurationError, match=match) as raised:
        load_params()
    assert "\n" not in str(raised.value)
