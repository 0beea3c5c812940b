// Tabs that follow the usual keys: arrows move, Home and End jump.

import { h, put } from "./dom.js";

/**
 * Put tabs into an element.
 *
 * @param {HTMLElement} element where.
 * @param {string} label what the tabs are about.
 * @param {{name: string, title: string, view: HTMLElement, shown?: (now: boolean) => void}[]} tabs
 * @returns {{open: (name: string) => void, next: () => void, current: () => string}}
 */
export function makeTabs(element, label, tabs) {
  let current = null;
  const buttons = tabs.map(({ name, title }) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${name}`,
        "aria-controls": `view-${name}`,
        class: "tab",
        on: { click: () => open(name) },
      },
      title,
    ),
  );
  const views = tabs.map(({ name, view }) =>
    h(
      "div",
      { role: "tabpanel", id: `view-${name}`, "aria-labelledby": `tab-${name}`, class: "tabview", hidden: true },
      view,
    ),
  );

  function open(name) {
    if (name === current) return;
    current = name;
    tabs.forEach((tab, number) => {
      const now = tab.name === name;
      buttons[number].setAttribute("aria-selected", String(now));
      buttons[number].tabIndex = now ? 0 : -1;
      views[number].hidden = !now;
      tab.shown?.(now);
    });
  }

  const step = (by) =>
    open(tabs[(tabs.findIndex(({ name }) => name === current) + by + tabs.length) % tabs.length].name);
  const list = h(
    "div",
    {
      role: "tablist",
      "aria-label": label,
      class: "tabs",
      on: {
        keydown: (event) => {
          const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (by) step(by);
          else if (event.key === "Home") open(tabs[0].name);
          else if (event.key === "End") open(tabs.at(-1).name);
          else return;
          event.preventDefault();
          buttons[tabs.findIndex(({ name }) => name === current)].focus();
        },
      },
    },
    buttons,
  );
  put(element, list, views);
  open(tabs[0].name);
  return { open, next: () => step(1), current: () => current };
}
