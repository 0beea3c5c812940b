// The guidelines beside the card: of the job and of each class, folded together or open as one left them.

import { byId, h, kept, renew } from "./dom.js";
import { classMark } from "./marks.js";

const NARROW = matchMedia("(max-width: 900px)"); // there they are one line until one unfolds them

/** Show the guidelines wherever a row is shown. */
export function drawGuidelines({ status, card }) {
  const view = byId("guidelines");
  const classes = Object.entries(status?.descriptions ?? {});
  view.hidden = card === null || (!status?.guideline && classes.length === 0);
  if (view.hidden) return;
  renew(view, [status.guideline, classes], () => {
    const box = h(
      "details",
      { class: "guidelines", open: kept.read("guidelines", NARROW.matches ? "folded" : "open") === "open" },
      h("summary", {}, "Guidelines"),
      status.guideline && h("p", { class: "guideline", dir: "auto" }, status.guideline),
      classes.length > 0 &&
        h(
          "dl",
          {},
          classes.map(([name, text]) => [
            h("dt", { dir: "auto" }, classMark(name), name),
            h("dd", { dir: "auto" }, text),
          ]),
        ),
    );
    box.addEventListener("toggle", () => kept.write("guidelines", box.open ? "open" : "folded"));
    return box;
  });
}
