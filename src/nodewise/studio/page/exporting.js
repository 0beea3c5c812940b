// Taking the work along: labels and predictions in several forms, or the whole session.

import { cancellable, download } from "./api.js";
import { announce, h, icon, show } from "./dom.js";
import { keyed } from "./hotkeys.js";

const FORMS = [
  ["/export/csv", "CSV", "one line a row: label, prediction, probabilities"],
  ["/export/full", "Full CSV", "the original columns and texts, labels, every vote, notes"],
  ["/export/votes", "Who said what", "one line an answer: who, what, when, how long it took"],
  ["/export/xlsx", "Excel", "what the full CSV holds, as a sheet"],
  ["/export/label-studio", "Label Studio", "tasks with votes and predictions, to import there"],
  ["/export/json", "JSON", "labels, votes and predictions, for programs"],
  ["/export/npz", "npz", "rows, links, labels and predictions, for numpy"],
  ["/export/pt", "PyTorch", "tensors, for PyTorch Geometric"],
  ["/backup", "Backup", "the whole session in one file, to go on with elsewhere"],
];

/** Buttons for every form; `fail` is told why one could not be made. */
export function exportButtons(fail, done = () => {}) {
  return FORMS.map(([path, name, what]) => {
    const button = h(
      "button",
      { type: "button", class: "form", role: "menuitem", data: { export: name.toLowerCase() } },
      h("b", {}, name),
      h("span", { class: "quiet" }, what),
    );
    const said = button.lastElementChild;
    let work = null;
    button.addEventListener("click", async () => {
      if (work !== null) {
        work.cancel();
        return;
      }
      work = cancellable();
      button.setAttribute("aria-busy", "true");
      show(said, h("span", { class: "spinner", "aria-hidden": "true" }), "being made; press again to cancel");
      try {
        announce(`${await download(path === "/backup" ? path : work.path(path), work.signal)} is downloaded`);
        done();
      } catch (error) {
        done();
        if (!work.cancelled()) fail(`The ${name} could not be made: ${error.message}.`);
        else announce(`The ${name} was cancelled`);
      }
      work = null;
      show(said, what);
      button.removeAttribute("aria-busy");
    });
    return button;
  });
}

/** A button that opens a menu of them. */
export function exportMenu(fail) {
  const menu = h("div", { class: "menu", role: "menu", "aria-label": "Export", hidden: true });
  const button = h(
    "button",
    {
      type: "button",
      class: "tool",
      id: "export-button",
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      ...keyed("export", "Export labels and predictions"),
    },
    icon("export"),
    h("span", { class: "tool-name" }, "Export"),
  );
  const open = (now) => {
    menu.hidden = !now;
    button.setAttribute("aria-expanded", String(now));
    if (now) menu.querySelector("button").focus();
  };
  menu.append(
    ...exportButtons(fail, () => {
      open(false);
      button.focus();
    }),
  );
  const box = h(
    "div",
    {
      class: "menu-box",
      on: {
        keydown: (event) => {
          const items = [...menu.querySelectorAll("button")];
          const at = items.indexOf(document.activeElement);
          if (event.key === "Escape" && !menu.hidden) {
            event.preventDefault();
            open(false);
            button.focus();
          } else if (event.key === "ArrowDown" && at >= 0) {
            event.preventDefault();
            items[(at + 1) % items.length].focus();
          } else if (event.key === "ArrowUp" && at >= 0) {
            event.preventDefault();
            items[(at - 1 + items.length) % items.length].focus();
          }
        },
      },
    },
    button,
    menu,
  );
  button.addEventListener("click", () => open(menu.hidden));
  document.addEventListener("pointerdown", (event) => {
    if (!box.contains(event.target)) open(false);
  });
  box.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !box.contains(event.relatedTarget)) open(false);
  });
  return { box, toggle: () => open(menu.hidden) };
}
