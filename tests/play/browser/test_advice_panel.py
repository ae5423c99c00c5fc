"""The advice panel shows the server's analysis of a decision, and the table shows its probabilities."""

import re

import pytest

from browser_user import TABLE_REQUESTS

pytestmark = pytest.mark.slow


def _advice(table):
    """Advice for the first decision of Five-O: the second column with probability 0.9."""
    actions = [move["action"] for move in table["legal"]]
    shares = [0.9 if action == actions[1] else 0.1 / (len(actions) - 1) for action in actions]
    options = [
        {"action": move["action"], "text": move["text"], "probability": share, "visits": None, "search_value": None}
        | {"value": share - 0.5, "margin": 0.1}
        for move, share in zip(table["legal"], shares, strict=True)
    ]
    return {
        "agent": {"agent": "champion", "search": None, "title": "Champion"},
        "number": table["number"],
        "action": actions[1],
        "text": options[1]["text"],
        "value": 0.25,
        "margin": 0.1,
        "win_probability": 0.6,
        "deals": 64,
        "played_by": "Champion",
        "verdict": {"agrees": False, "action": actions[0], "text": "As to column 1", "difference": 0.5, "margin": 0.2},
        "simulations": None,
        "options": options,
        "belief": {"source": "network", "cards": [{"card": "As", "probabilities": [0.0, 0.25], "elsewhere": 0.75}]},
        "observation": [
            {"name": "own_columns", "shape": [2, 3], "values": [0.0, 1.0, -0.5, 0.0, 0.0, 0.25]},
            {"name": "turn", "shape": [1], "values": [1.0]},
        ],
    }


def test_advice_is_shown_on_demand(new_user):
    user = new_user("phone")
    table = user.open({**TABLE_REQUESTS["five_o"], "practice": True})
    advice = _advice(table)
    asked = []

    def answer(route):
        asked.append(route.request.url)
        route.fulfill(json=advice)

    user.page.route("**/advice**", answer)
    user.choices()
    assert asked == []  # advice is computed on demand only
    user.page.get_by_text("What would the agent do?").tap()
    panel = user.page.locator(".advice")
    panel.locator(".options").wait_for()
    for part in panel.locator("summary").all():
        part.tap()
    assert panel.locator(".options .best .number").first.inner_text().endswith("90 %")
    assert panel.locator(".options li").count() == len(advice["options"])
    broken = (
        "(all) => all.filter((one) => one.getClientRects().length && one.offsetHeight > 30).map((one) => one.innerText)"
    )
    assert panel.locator(".options .number").evaluate_all(broken) == []  # numbers do not wrap
    assert panel.locator(".win-probability b").inner_text() == "60 %"
    assert panel.locator(".belief td[title]").get_attribute("title") == "ace of spades: Reflex 1 25 %, the deck 75 %"
    assert panel.locator(".observation dt").count() == panel.locator(".observation svg").count() == 2
    assert panel.locator(".observation rect").count() == 7
    words = panel.inner_text()
    assert "[object" not in words
    assert "The playouts disagree: A♠ to column 1 does 0.50 ± 0.20 better on the same 64 deals." in words
    assert user.page.locator('.felt [data-key="column 1"]').get_attribute("data-share") == "90 %"


def with_signs(text):
    """`take Td` as the page shows it: take 10♦."""
    signs = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
    return re.sub(r"\b([2-9TJQKA])([cdhs])\b", lambda card: card[1].replace("T", "10") + signs[card[2]], text)


def test_playout_values_are_shown_with_their_margin(new_user):
    user = new_user("phone")
    user.open({**TABLE_REQUESTS["thirty_one"], "options": {"num_players": 2, "lives": 1}, "practice": True})
    user.choices()
    with user.page.expect_response(lambda reply: "/advice" in reply.url) as answer:
        user.page.get_by_text("What would the agent do?").tap()
    advice = answer.value.json()
    panel = user.page.locator(".advice")
    panel.get_by_text(f"on the same {advice['deals']} deals of the hidden cards").wait_for()
    guesses = panel.locator(".options .estimate").all_inner_texts()
    assert len(guesses) == len(advice["options"])
    assert all("±" in guess for guess in guesses)
    assert with_signs(advice["text"]) in panel.locator(".options li").first.inner_text()


def test_undo_and_hint_in_a_practice_game(new_user):
    user = new_user("phone")
    table = user.open({**TABLE_REQUESTS["poker_squares"], "practice": True})
    undo = user.page.get_by_role("button", name="Undo")
    assert undo.is_disabled()  # there is no move to take back
    user.choose(user.choices()[7])
    user.wait_until("document.querySelector('.squares [data-card]')")
    user.choices()
    assert len(user.events()) == 2
    undo.tap()
    user.wait_until("!document.querySelector('.squares [data-card]')")
    assert user.ask(f"/api/tables/{table['id']}")["number"] == 0
    assert len(user.events()) == 1
    user.page.get_by_role("button", name="Hint").tap()
    hint = user.page.get_by_text("Champion plays")
    hint.wait_for()
    user.choose(user.choices()[0])
    hint.wait_for(state="detached")


def test_a_game_that_counts_has_no_advice_undo_or_hint(new_user):
    user = new_user()
    user.open(TABLE_REQUESTS["poker_squares"])
    user.choices()
    assert user.page.get_by_text("This game counts").is_visible()
    for name in ("Undo", "Hint"):
        assert not user.page.get_by_role("button", name=name).is_visible()
    assert not user.page.get_by_text("What would the agent do?").is_visible()
