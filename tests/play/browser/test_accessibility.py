"""Accessibility: names, sizes, contrast and announcements."""

import pytest

from browser_user import TABLE_REQUESTS

pytestmark = pytest.mark.slow

TARGET = 44  # px, of controls
CONTRAST = 4.5  # WCAG 2.2 AA

# Visible controls with their accessible names and sizes.
_CONTROLS = """() => [...document.querySelectorAll('button, select, input, a[href], summary')]
  .filter((control) => control.checkVisibility() && !control.classList.contains('skip'))
  .map((control) => {
    const box = control.getBoundingClientRect();
    const label = control.closest('label')?.textContent ?? '';
    return {
      name: (control.getAttribute('aria-label') ?? (label || control.textContent)).trim(),
      html: control.outerHTML.slice(0, 120),
      width: box.width,
      height: box.height,
      small: control.type === 'checkbox',
    };
  })"""

# Texts with their painted text and background colours as [r, g, b].
_TEXTS = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const over = (below, colour) => {
    canvas.fillStyle = `rgb(${below.join(' ')})`;
    canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const grounds = (element) => {
    const chain = [];
    for (let at = element; at; at = at.parentElement) chain.unshift(at);
    return chain.reduce((below, at) => {
      const style = getComputedStyle(at);
      const shade = style.backgroundImage.match(/(rgb[^)]*\\)|#[0-9a-f]+|color\\([^)]*\\))/g);
      return over(below, shade ? shade[0] : style.backgroundColor);
    }, [255, 255, 255]);
  };
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const words = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join('');
    const ignored = '.visually-hidden, :disabled, option, .skip, title';
    if (!words || !element.checkVisibility() || element.closest(ignored)) continue;
    const ground = grounds(element);
    found.push({words, ground, colour: over(ground, getComputedStyle(element).color)});
  }
  return found;
}"""


@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_all_controls_have_names_and_are_large_enough(new_user, screen):
    one = new_user(screen)
    one.start()
    _check_controls(one)
    for table_request in TABLE_REQUESTS.values():
        one.open(table_request)
        one.choices()
        _check_controls(one)


def _check_controls(one):
    controls = one.page.evaluate(_CONTROLS)
    assert controls
    assert [control["html"] for control in controls if not control["name"]] == []
    small = [
        control for control in controls if min(control["width"], control["height"]) < TARGET and not control["small"]
    ]
    assert [(control["html"], control["width"], control["height"]) for control in small] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_enough_contrast(new_user, scheme):
    one = new_user(color_scheme=scheme)
    one.start()
    faint = _faint(one)
    for table_request in TABLE_REQUESTS.values():
        one.open(table_request)
        one.choices()
        faint += _faint(one)
    assert faint == []


def _faint(one):
    return [
        (text["words"], round(ratio, 2))
        for text in one.page.evaluate(_TEXTS)
        if (ratio := _contrast(text["colour"], text["ground"])) < CONTRAST
    ]


def _contrast(one, other):
    """WCAG contrast ratio of two colours [r, g, b], 0 to 255."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour):
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (c / 255 for c in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_moves_are_announced(new_user):
    one = new_user()
    one.open(TABLE_REQUESTS["big2"])
    enabled = one.choices()
    one.choose("pass" if "pass" in enabled else enabled[0])
    if "pass" not in enabled:
        one.choose("play")
    one.choices()
    said = one.page.locator("#polite p").all_inner_texts()
    assert said[::-1] == one.events()[: len(said)]


def test_every_card_has_a_name_and_a_drawing_of_its_own(new_user):
    one = new_user()
    one.start()
    drawn = one.page.evaluate(
        """async () => {
          const {drawCard} = await import('/scripts/cards.js');
          const cards = [...'23456789TJQKA'].flatMap((rank) => [...'cdhs'].map((suit) => drawCard(rank + suit)));
          return [...cards, drawCard(null)].map((card) => [card.getAttribute('aria-label'), card.innerHTML]);
        }"""
    )
    assert len(drawn) == len({name for name, _ in drawn}) == len({drawing for _, drawing in drawn}) == 53
    assert dict(drawn).keys() >= {"ace of spades", "10 of diamonds", "hidden card"}
