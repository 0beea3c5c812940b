// One tooltip for all canvases. What it says is text, whatever the text looks like.

import { h, show } from "./dom.js";

const box = h("div", { class: "tooltip", role: "tooltip", hidden: true });

/** Show lines of text near a point of the window; the first line is the strongest. */
export function tip(x, y, lines) {
  if (!box.isConnected) document.body.append(box);
  show(box, lines.filter(Boolean).map((line, place) => h("span", { class: place === 0 ? "strong" : "line" }, line)));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = Math.max(6, Math.min(innerWidth - width - 6, x + 14));
  const top = y + 18 + height > innerHeight ? y - height - 12 : y + 18;
  box.style.setProperty("transform", `translate(${Math.round(left)}px, ${Math.round(Math.max(6, top))}px)`);
}

export function untip() {
  box.hidden = true;
}
