// The theme is set before the first paint, so this is a plain script and no module: auto, dark or light, kept in this
// browser.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const read = () => {
    try {
      return localStorage.getItem("nodewise.theme") || "auto";
    } catch {
      return "auto";
    }
  };
  let choice = read();
  const apply = () => {
    const theme = choice === "auto" ? (dark.matches ? "dark" : "light") : choice;
    document.documentElement.dataset.theme = theme;
    document.documentElement.dataset.themeChoice = choice;
    document.dispatchEvent(new CustomEvent("theme", { detail: { theme, choice } }));
  };
  dark.addEventListener("change", apply);
  document.addEventListener("choose-theme", (/** @type {CustomEvent} */ event) => {
    choice = event.detail;
    try {
      localStorage.setItem("nodewise.theme", choice);
    } catch {
      /* a browser without storage forgets it */
    }
    apply();
  });
  apply();
})();
