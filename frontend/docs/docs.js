// Search over all pages, from the keyboard, and a Copy button at each block of code.
const root = document.currentScript.dataset.root;
const field = document.querySelector("input");
const list = document.querySelector("#results");
const MOST = 12;
let sections;

// As theme.js has it at the start, unless a theme was chosen in Toolcrib's settings.
const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => {
  if (!localStorage.getItem("toolcrib.theme")) document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
});

async function load() {
  sections ??= await (await fetch(`${root}search.json`)).json();
}

/** A word without its ending, so that "approve" finds "approvals". */
function stem(word) {
  return word.length > 5 ? word.replace(/(ing|ed|es|e|s)$/, "") : word;
}

/** How well a section fits: every word must occur, and counts most in a title. */
function rate([title, heading, , text], words) {
  let sum = 0;
  for (const word of words) {
    const at = text.toLowerCase().indexOf(word);
    const inHeading = heading.toLowerCase().includes(word);
    const inTitle = title.toLowerCase().includes(word);
    if (at < 0 && !inHeading && !inTitle) return 0;
    sum += (inHeading ? 8 : 0) + (inTitle ? (heading ? 4 : 10) : 0) + (at < 0 ? 0 : 1);
  }
  return sum;
}

/** The text around the first word that occurs. */
function excerpt(text, words) {
  const found = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const from = found.length ? Math.max(0, Math.min(...found) - 40) : 0;
  return `${from ? "…" : ""}${text.slice(from, from + 130)}${text.length > from + 130 ? "…" : ""}`;
}

function result([title, heading, address, text], words, at) {
  const link = document.createElement("a");
  link.href = root + address;
  link.id = `result-${at}`;
  link.role = "option";
  link.tabIndex = -1;
  link.ariaSelected = "false";
  const name = document.createElement("b");
  name.textContent = heading ? `${title} › ${heading}` : title;
  link.append(name, excerpt(text, words));
  return link;
}

function show(links) {
  list.replaceChildren(...links);
  list.hidden = !links.length;
  field.ariaExpanded = String(!list.hidden);
  field.removeAttribute("aria-activedescendant");
}

async function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean).map(stem);
  if (!words.length) return show([]);
  await load();
  const rated = sections.map((section) => [rate(section, words), section]).filter(([sum]) => sum);
  rated.sort(([a], [b]) => b - a);
  const links = rated.slice(0, MOST).map(([, section], at) => result(section, words, at));
  if (links.length) return show(links);
  const nothing = document.createElement("p");
  nothing.textContent = "No results.";
  show([nothing]);
}

function choose(step) {
  const links = [...list.querySelectorAll("a")];
  if (!links.length) return;
  const now = links.findIndex((link) => link.ariaSelected === "true");
  const next = links[(now + step + links.length + (now < 0 && step < 0 ? 1 : 0)) % links.length];
  links.forEach((link) => (link.ariaSelected = String(link === next)));
  next.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", next.id);
}

field.addEventListener("focus", load, { once: true });
field.addEventListener("input", search);
field.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    choose(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter") {
    (list.querySelector("[aria-selected=true]") ?? list.querySelector("a"))?.click();
  } else if (event.key === "Escape") {
    show([]);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target === field) return;
  event.preventDefault();
  field.select();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest("search")) show([]);
});
list.addEventListener("click", () => show([]));

/** What is to be typed: of a session in a terminal the commands, without what they print. */
function typed(code) {
  const text = code.textContent;
  if (code.dataset.language !== "console") return text;
  return text.replace(/^(?!\$ | {2}).*\n/gm, "").replace(/^\$ /gm, "");
}

for (const code of document.querySelectorAll(".code")) {
  const around = document.createElement("div");
  const button = document.createElement("button");
  around.className = "copied";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(typed(code));
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  code.replaceWith(around);
  around.append(code, button);
}
