/** Drops hasty presses: those that were meant for another button, which changed or moved under the pointer, the second
 * click of a double click that would send a form twice, and a key held down. */

const BUTTONS = "button, [role=button], a.btn";

interface Pressed {
  button: Element | null;
  /** What it said when it was pressed. */
  name: string;
}

const NOTHING: Pressed = { button: null, name: "" };

/** Watches every press in a page, before anything else hears it. */
export function guardPresses(page: Document): void {
  let down = NOTHING;
  let first = NOTHING;
  page.addEventListener("pointerdown", (event) => void (down = pressedAt(event.target)), true);
  page.addEventListener(
    "click",
    (event) => {
      const now = pressedAt(event.target);
      if (event.detail === 0 || now.button === null) return; // By a key or by a script.
      if (event.detail === 1) first = now;
      const again = event.detail > 1; // The second click of a double click.
      if (!same(now, again ? first : down) || (again && actsOnce(now.button))) drop(event);
    },
    true,
  );
  // A key that is held down presses a button once.
  page.addEventListener(
    "keydown",
    (event) => {
      if (event.repeat && event.key === "Enter" && pressedAt(event.target).button !== null) event.preventDefault();
    },
    true,
  );
}

function pressedAt(target: EventTarget | null): Pressed {
  const button = target instanceof Element ? target.closest(BUTTONS) : null;
  if (button === null) return NOTHING;
  const name = button.getAttribute("aria-label") ?? button.textContent;
  return { button, name: name.replaceAll(/\d+/g, "") }; // A number that counts on changes no meaning.
}

function actsOnce(button: Element): boolean {
  return button.matches(".primary, [type=submit]");
}

function same(one: Pressed, other: Pressed): boolean {
  return one.button === other.button && one.name === other.name;
}

function drop(event: Event): void {
  event.preventDefault();
  event.stopImmediatePropagation();
}
