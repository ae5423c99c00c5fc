"""The advice panel shows the server's analysis of a decision, and the table shows its probabilities."""

import pytest

from browser_user import TABLE_REQUESTS, with_signs

pytestmark = pytest.mark.slow
# Texts of more than one line.
_BROKEN = """(all) => all.filter((one) => {
  const range = document.createRange();
  range.selectNodeContents(one);
  return range.getClientRects().length > 1;
}).map((one) => one.innerText)"""
MARKS = ["Champion’s choice", "best result"]


def _advice(table):
    """Advice for the first decision of Five-O: the agent plays the second column, the first has the best result."""
    actions = [move["action"] for move in table["legal"]]
    shares = [0.9 if action == actions[1] else 0.1 / (len(actions) - 1) for action in actions]
    options = [
        {"action": move["action"], "text": move["text"], "probability": share, "visits": None, "search_value": None}
        | {"value": 0.4 - place / 10, "margin": 0.1}
        for place, (move, share) in enumerate(zip(table["legal"], shares, strict=True))
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
        "verdict": {"agrees": False, "action": actions[0], "text": "As to column 1", "difference": 0.5, "margin": 0.2}
        | {"recommended": {"action": actions[0], "text": "As to column 1"}},
        "simulations": None,
        "options": options,
        "belief": {"source": "network", "cards": [{"card": "As", "probabilities": [0.0, 0.25], "elsewhere": 0.75}]},
        "observation": [],
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
    user.page.get_by_text("Compare your moves").tap()
    panel = user.page.locator(".advice")
    panel.locator(".options").wait_for()
    for part in panel.locator("summary").all():
        part.tap()
    heads = panel.locator(".options thead th").all_inner_texts()
    assert heads == ["move", "how\u00a0often Champion plays it", "chance to win"]
    rows = [row.split() for row in panel.locator(".options tbody tr").all_inner_texts()]
    assert len(rows) == len(advice["options"])
    assert rows[0][-8:] == ["best", "result", "3", "%", "70", "±", "5", "%"]
    assert rows[1][-8:] == ["Champion’s", "choice", "90", "%", "65", "±", "5", "%"]
    assert panel.locator(".options .best").count() == 1
    assert "best result" in panel.locator(".options .best").inner_text()
    assert panel.locator(".options td.number").evaluate_all(_BROKEN) == []  # numbers do not wrap
    assert panel.locator(".win-probability b").inner_text() == "60 %"
    assert panel.locator(".belief td[title]").get_attribute("title") == "ace of spades: Reflex 1 25 %, the deck 75 %"
    words = panel.inner_text()
    assert "[object" not in words
    assert "Recommended: A♠ to column\u00a01. It wins 25 ± 10 more games in 100 than " in words
    assert "which Champion would play." in words
    advised = user.page.locator(".felt .advised")
    assert advised.get_attribute("data-key") == "column 0"
    assert user.page.get_by_role("button", name="Hint").is_visible()


def test_playout_values_are_shown_with_their_margin(new_user):
    user = new_user("phone")
    user.open({**TABLE_REQUESTS["thirty_one"], "options": {"num_players": 2, "lives": 1}, "practice": True})
    user.choices()
    with user.page.expect_response(lambda reply: "/advice" in reply.url) as answer:
        user.page.get_by_text("Compare your moves").tap()
    advice = answer.value.json()
    panel = user.page.locator(".advice")
    panel.get_by_text(f"Each move was played out {advice['deals']} times").wait_for()
    guesses = panel.locator(".options .estimate").all_inner_texts()
    assert len(guesses) == len(advice["options"])
    assert all("±" in guess for guess in guesses)
    assert guesses == sorted(guesses, key=lambda guess: -int(guess.split()[0]))  # the best result is above
    marked = {mark: panel.locator(".options tr", has_text=mark).locator(".what").inner_text() for mark in MARKS}
    assert with_signs(advice["text"]) in marked[f"{advice['agent']['title']}’s choice"]
    assert with_signs(advice["verdict"]["text"]) in marked["best result"]
    assert with_signs(advice["verdict"]["recommended"]["text"]) in panel.locator(".options .best .what").inner_text()


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
    hint = user.page.get_by_text("Champion advises")
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
    assert not user.page.get_by_text("Compare your moves").is_visible()
