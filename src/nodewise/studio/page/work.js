// The work page: puts the parts together and keeps them up to date.

import { onPlace, place } from "./address.js";
import { annotatorsView } from "./annotators.js";
import { SESSION } from "./api.js";
import { showSimilar, startCard } from "./card.js";
import { startChoices } from "./choices.js";
import { openClasses } from "./classes.js";
import { startClosing } from "./closing.js";
import { askName } from "./dialogs.js";
import { byId, h, icon, kept, show } from "./dom.js";
import { exportMenu } from "./exporting.js";
import { ask, home, look, meet, refresh, rename, start } from "./flow.js";
import { startGuidelines } from "./guidelines.js";
import { showHelp } from "./help.js";
import { historyView, showHistory } from "./history.js";
import { keyed } from "./hotkeys.js";
import { startInsight } from "./insight.js";
import { startKeys } from "./keys.js";
import { listen } from "./live.js";
import { mapView, showMap, startLasso } from "./map.js";
import { modelsButton } from "./models.js";
import { neighbourhoodView, setHops, showNeighbourhood } from "./neighbourhood.js";
import { progressView, showProgress } from "./progress.js";
import { rowsButton } from "./rows.js";
import { focusSearch, startSearch } from "./search.js";
import { openSettings } from "./settings.js";
import { atHome, isJudge, isOwner, on, set, state } from "./store.js";
import { leaveTable, openTable, showTable } from "./table.js";
import { makeTabs } from "./tabs.js";
import { startTelling } from "./telling.js";
import { helpButton, nameButton, nextTheme, themeButton } from "./tools.js";

startCard();
startGuidelines();
startInsight();
startChoices();
startTelling();
startClosing(() => pictures.open("map"));
startSearch();

const pictures = makeTabs(byId("pictures"), "Graph", [
  { name: "neighbourhood", title: "Neighbourhood", view: neighbourhoodView(), shown: showNeighbourhood },
  { name: "map", title: "Map of the graph", view: mapView(), shown: showMap },
]);
const panels = makeTabs(byId("state"), "Progress", [
  { name: "progress", title: "Progress", view: progressView(), shown: showProgress },
  { name: "history", title: "History", view: historyView(), shown: showHistory },
  { name: "annotators", title: "Annotators", view: annotatorsView() },
]);

const openName = () => {
  if (state.person === null) askName(state.me, rename);
};
const name = nameButton(openName);
const menu = exportMenu();
const classesButton = h(
  "button",
  {
    type: "button",
    class: "tool",
    id: "classes-button",
    title: "The classes: rename, merge, describe, order",
    on: { click: openClasses },
  },
  icon("tag"),
  h("span", { class: "tool-name" }, "Classes"),
);
const forOwner = () => {
  classesButton.hidden = !isOwner();
  menu.box.hidden = !isJudge();
  document.body.dataset.role = state.role;
};
const focused = () => document.body.classList.contains("focused");
byId("tools").append(
  h(
    "button",
    {
      type: "button",
      class: "tool",
      id: "leave-focus",
      ...keyed("focus", "Show everything again: Esc, or its key"),
      on: { click: () => setFocus(false) },
    },
    icon("fit"),
    h("span", { class: "tool-name always" }, "Leave focus"),
  ),
  h(
    "button",
    {
      type: "button",
      class: "tool",
      id: "table-button",
      ...keyed("table", "The table of all rows"),
      on: { click: () => openTable() },
    },
    icon("table"),
    h("span", { class: "tool-name" }, "Table"),
  ),
  classesButton,
  rowsButton(),
  modelsButton(),
  h(
    "button",
    {
      type: "button",
      class: "tool",
      id: "settings-button",
      ...keyed("settings", "Settings of the session"),
      "aria-label": "Settings of the session",
      on: { click: openSettings },
    },
    icon("gear"),
  ),
  name.button,
  menu.box,
  themeButton(),
  helpButton(showHelp),
);
name.draw(state.me);
on("me person", () => name.draw(state.me, state.person !== null));
on("role", forOwner);
show(byId("job"), SESSION);
document.title = `${SESSION} · nodewise studio`;

startKeys({
  search: focusSearch,
  help: showHelp,
  graph: pictures.next,
  hops: () => setHops(),
  panel: panels.next,
  export: () => {
    if (isJudge()) menu.toggle();
  },
  settings: openSettings,
  similar: showSimilar,
  lasso: () => {
    pictures.open("map");
    startLasso();
  },
  theme: nextTheme,
  focus: () => setFocus(!focused()),
  Escape: () => {
    if (!atHome()) home();
    else setFocus(false);
  },
  table: () => openTable(),
});

function setFocus(now) {
  document.body.classList.toggle("focused", now);
}

// Nothing that was acknowledged can be lost with the connection; the page says so instead of looking frozen.
function connection(up) {
  set({ online: up });
  const banner = byId("connection");
  banner.hidden = up;
  if (!up)
    show(
      banner,
      h("span", { class: "spinner", "aria-hidden": "true" }),
      "Connection lost, your labels are safe. Trying again …",
    );
  if (up) refresh(); // also the first time: something may have changed before anybody listened
}

function heard(message) {
  if (message.type === "changed") refresh(); // also where only the predictions are new
}

/** Show what the address names: the table, a row, or the question. */
async function showPlace(/** @type {Record<string, string>} */ named) {
  const others = /** @type {NodeListOf<HTMLDialogElement>} */ (document.querySelectorAll("dialog[open]:not(.review)"));
  for (const other of others) other.close();
  if (named.view === "table") {
    showTable(named);
    return;
  }
  leaveTable();
  const node = Number(named.row) - 1;
  if (Number.isInteger(node) && node >= 0 && node < state.status.nodes) await look(node);
  else home();
}
onPlace(showPlace);

/** Who is labelling, asked before the first question. */
async function introduced() {
  if (state.me) return;
  await new Promise((done) => {
    const box = askName("", (who) => {
      kept.write("annotator", who);
      set({ me: who });
    });
    box.addEventListener("close", () => {
      if (!state.me) {
        kept.write("annotator", "me");
        set({ me: "me" });
      }
      done();
    });
  });
}

show(
  byId("card"),
  h(
    "p",
    { class: "quiet loading" },
    h("span", { class: "spinner", "aria-hidden": "true" }),
    "Reading the rows and choosing the first question …",
  ),
);
meet()
  .then(introduced)
  .then(() => start("look" in place()))
  .then(() => showPlace(place()))
  .then(() => listen(heard, connection))
  .catch((error) => {
    show(
      byId("card"),
      h(
        "div",
        { class: "closing" },
        h("h1", {}, "The session cannot be shown"),
        h("p", {}, `${error.message}.`),
        h(
          "div",
          { class: "buttons" },
          h("button", { type: "button", class: "primary", on: { click: () => location.reload() } }, "Try again"),
        ),
      ),
    );
  });
addEventListener("pageshow", (event) => {
  if (event.persisted) ask();
}); // back from the browser's memory: the node may be another one
