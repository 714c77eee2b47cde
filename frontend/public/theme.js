// Before anything is drawn, so that nothing flashes: the chosen theme and text size, or the system's.
(() => {
  const root = document.documentElement;
  const chosen = localStorage.getItem("toolcrib.theme");
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "dark" : "light";
  const size = Number(localStorage.getItem("toolcrib.text-size"));
  if (size >= 100 && size <= 130) root.style.fontSize = `${size}%`;
})();
