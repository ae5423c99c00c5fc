"""No address is shown with its credentials."""

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardlab.core.messages import InvalidOption, without_password, without_passwords
from cardlab.tracking.connection import TrackingUnavailable, first_line

SECRETS = st.text("abXY09/?#:@!$&'()*+,;=%-._~ ", min_size=1).map(lambda text: f"SECRET{text}SECRET")
ADDRESSES = st.one_of(
    SECRETS.map(lambda secret: f"postgresql+psycopg://me:{secret}@server:5432/cards"),
    SECRETS.map(lambda secret: f"https://{secret.replace(':', '').replace(' ', '')}@server/path"),
    SECRETS.map(lambda secret: f"postgresql://server/cards?sslmode=require&password={secret.replace(' ', '')}"),
)


@given(ADDRESSES)
def test_credentials_are_in_no_message_and_no_parameter(address: str) -> None:
    shown = [
        without_password(f"command: cardlab sweep 'sweep.storage={address}' sweep.workers=2"),
        json.dumps(without_passwords({"sweep": {"storage": address, "others": [address]}})),
        str(InvalidOption("sweep.storage", address, "an address")),
        str(TrackingUnavailable(address, RuntimeError(f"cannot reach {address}"))),
        first_line(RuntimeError(address)),
    ]
    for text in shown:
        assert "SECRET" not in text


def test_a_child_process_can_raise_it_in_its_parent() -> None:
    error = TrackingUnavailable("http://me:secret@server", RuntimeError("away\nat noon"))
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "tracking store http://me:…@server: away"
    assert first_line(copy) == first_line(error) == "away"


@pytest.mark.parametrize(
    "address",
    ["sqlite:////a/b.db", "http://[::1]:5000", "s3://bucket/folder", "postgresql://server/db?sslmode=require"],
)
def test_an_address_without_credentials_stays(address: str) -> None:
    assert without_password(address) == address
    text = f"{address} and http://server:5000/a b, then write to me@server"
    assert without_password(text) == text


def test_a_password_with_a_space_is_not_shown() -> None:
    assert without_password("at https://me:hunt er@server/x now") == "at https://me:…@server/x now"
