// The buttons in the head of a page that both pages have: theme and, on the work page, name, export and help.

import { h, icon, short, show } from "./dom.js";
import { keyed } from "./hotkeys.js";

const NEXT = { auto: "dark", dark: "light", light: "auto" };

/** Auto, dark, light in turn. */
export function themeButton() {
  const glyph = h("span", { class: "glyph" });
  const name = h("span", { class: "tool-name" });
  const button = h(
    "button",
    { type: "button", class: "tool", id: "theme-button", on: { click: nextTheme } },
    glyph,
    name,
  );
  const draw = () => {
    const choice = document.documentElement.dataset.themeChoice;
    show(glyph, icon(choice));
    show(name, choice.charAt(0).toUpperCase() + choice.slice(1));
    button.title = button.ariaLabel = `Theme: ${choice}`;
  };
  document.addEventListener("theme", draw);
  draw();
  return button;
}

export function nextTheme() {
  document.dispatchEvent(
    new CustomEvent("choose-theme", { detail: NEXT[document.documentElement.dataset.themeChoice] }),
  );
}

export function nameButton(open) {
  const name = h("span", { class: "tool-name always" });
  const button = h(
    "button",
    { type: "button", class: "tool", id: "name-button", on: { click: open } },
    icon("person"),
    name,
  );
  return {
    button,
    draw: (who, fixed = false) => {
      show(name, short(who, 18));
      button.title = fixed ? `Your link is ${who}’s` : `You label as ${who}; click to change`;
      button.ariaLabel = button.title;
    },
  };
}

export function helpButton(open) {
  return h(
    "button",
    {
      type: "button",
      class: "tool",
      id: "help-button",
      ...keyed("help", "Keys and help"),
      "aria-label": "Keys and help",
      on: { click: open },
    },
    icon("help"),
  );
}
