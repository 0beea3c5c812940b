// The work page: puts the parts together and keeps them up to date.

import { onPlace, place } from "./address.js";
import { annotatorsView } from "./annotators.js";
import { get, SESSION } from "./api.js";
import { openAssigning } from "./assigning.js";
import { drawCard, drawChoice, drawTrail, isAudited, redrawVoices } from "./card.js";
import { chooseNumber, declareAnyway, focusFilter, openNaming, startChoices, takeInstead } from "./choices.js";
import { drawClasses, openClasses } from "./classes.js";
import { drawClosing } from "./closing.js";
import { askName, drawTrouble } from "./dialogs.js";
import { byId, h, icon, kept, show } from "./dom.js";
import { exportMenu } from "./exporting.js";
import * as flow from "./flow.js";
import { drawGuidelines } from "./guidelines.js";
import { showHelp } from "./help.js";
import { historyView } from "./history.js";
import { keyed } from "./hotkeys.js";
import { drawInsight } from "./insight.js";
import { startKeys } from "./keys.js";
import { listen } from "./live.js";
import { mapView, startLasso } from "./map.js";
import { modelsButton, openModels } from "./models.js";
import { neighbourhoodView, setHops } from "./neighbourhood.js";
import { openPeople } from "./people.js";
import * as picking from "./picking.js";
import { progressView } from "./progress.js";
import { openRows, rowsButton } from "./rows.js";
import { focusSearch, startSearch } from "./search.js";
import { openSettings } from "./settings.js";
import { openSimilar } from "./similar.js";
import { on, set, state, unsaved } from "./store.js";
import { drawTable, leaveTable, openTable, showTable } from "./table.js";
import { makeTabs } from "./tabs.js";
import { drawTelling } from "./telling.js";
import { helpButton, nameButton, nextTheme, themeButton } from "./tools.js";
import { acceptModel } from "./voices.js";

// Whatever a panel can ask for; which of it a panel uses, it says itself.
const acts = {
  ...flow,
  ...picking,
  declareAnyway,
  takeInstead,
  openPeople,
  openAssigning: () => openAssigning(state, acts),
  openTable: (there = {}) => openTable(there, state, acts),
  openSettings: () => openSettings(state, acts),
  findRows: (words) => get(`/nodes?q=${encodeURIComponent(words)}&limit=12&annotator=${encodeURIComponent(state.me)}`),
  /** Show the rows most similar to the one that is shown. */
  showSimilar: () => {
    if (document.querySelector("dialog[open]") || state.card === null) return;
    if (isAudited(state)) flow.hint("this row measures the accuracy: rows like it are not labelled together");
    else openSimilar(state.card, state, acts);
  },
  reported: (report) => set({ report }),
  discard: () => unsaved.discard(),
  dismiss: () => set({ error: null }),
};

/** Draw a panel anew whenever one of these parts of the state is another. */
const follow = (names, draw) => on(names, () => draw(state, acts));

const choices = startChoices(state, acts);
const neighbourhood = neighbourhoodView(state, acts);
const map = mapView(state, acts);
const progress = progressView(state, acts);
const history = historyView(state, acts);
const annotators = annotatorsView(acts);
startSearch(acts);

const pictures = makeTabs(byId("pictures"), "Graph", [
  { name: "neighbourhood", title: "Neighbourhood", ...neighbourhood },
  { name: "map", title: "Map of the graph", ...map },
]);
const panels = makeTabs(byId("state"), "Progress", [
  { name: "progress", title: "Progress", ...progress },
  { name: "history", title: "History", ...history },
  { name: "annotators", title: "Annotators", ...annotators },
]);

// which parts of the state each is drawn from
follow("card nothing query", drawCard);
follow("trail query", drawTrail);
follow("choice status", drawChoice);
follow("phase", drawPhase);
follow("predicted query trail", redrawVoices);
follow("status card", drawGuidelines);
follow("card query gone trail nothing predicted choice status", drawInsight);
follow("status query trail card choice", choices.draw);
follow("phase sending", choices.drawPhase);
follow("saved sending failed error hint phase status", drawTelling);
follow("card nothing status looking report", drawClosing);
follow("nothing", () => {
  if (state.nothing && state.atHome) pictures.open("map"); // there is no neighbourhood to show
});
follow("card query", neighbourhood.draw);
follow("status", neighbourhood.redraw);
follow("card query role", map.draw);
follow("status", map.redraw);
follow("status", progress.draw);
follow("status", history.draw);
follow("status me", annotators.draw);
follow("status", drawClasses);
follow("status me", drawTable);
follow("error failed", drawTrouble);
drawTelling(state, acts);
drawPhase();

function drawPhase() {
  byId("card").setAttribute("aria-busy", String(["loading", "asking"].includes(state.phase)));
  document.body.dataset.phase = state.phase;
}

const openName = () => {
  if (state.person === null) askName(state.me, flow.rename);
};
const name = nameButton(openName);
const menu = exportMenu(flow.fail);
const classesButton = h(
  "button",
  {
    type: "button",
    class: "tool",
    id: "classes-button",
    title: "The classes: rename, merge, describe, order",
    on: { click: () => openClasses(state, acts) },
  },
  icon("tag"),
  h("span", { class: "tool-name" }, "Classes"),
);
const rows = rowsButton(() => openRows(state, acts));
const models = modelsButton(() => openModels(state, acts));
const forRole = () => {
  classesButton.hidden = rows.hidden = !state.isOwner;
  menu.box.hidden = models.hidden = !state.isJudge;
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
      on: { click: () => acts.openTable() },
    },
    icon("table"),
    h("span", { class: "tool-name" }, "Table"),
  ),
  classesButton,
  rows,
  models,
  h(
    "button",
    {
      type: "button",
      class: "tool",
      id: "settings-button",
      ...keyed("settings", "Settings of the session"),
      "aria-label": "Settings of the session",
      on: { click: acts.openSettings },
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
on("role", forRole);
show(byId("job"), SESSION);
document.title = `${SESSION} · nodewise studio`;

const commands = {
  accept: picking.enter,
  none: picking.chooseNone,
  class: openNaming,
  filter: focusFilter,
  model: () => acceptModel(state, acts),
  skip: flow.skip,
  undo: () => flow.undo(),
  retry: flow.retry,
  back: flow.back,
  search: focusSearch,
  help: showHelp,
  graph: pictures.next,
  hops: () => setHops(),
  panel: panels.next,
  export: () => {
    if (state.isJudge) menu.toggle();
  },
  settings: acts.openSettings,
  similar: acts.showSimilar,
  lasso: () => {
    pictures.open("map");
    startLasso();
  },
  theme: nextTheme,
  focus: () => setFocus(!focused()),
  Escape: () => {
    if (!state.atHome) flow.home();
    else setFocus(false);
  },
  table: () => acts.openTable(),
};
startKeys(state, commands, chooseNumber);

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
  if (up) flow.refresh(); // also the first time: something may have changed before anybody listened
}

function heard(message) {
  if (message.type === "changed") flow.refresh(); // also where only the predictions are new
}

/** Show what the address names: the table, a row, or the question. */
async function showPlace(/** @type {Record<string, string>} */ named) {
  const others = /** @type {NodeListOf<HTMLDialogElement>} */ (document.querySelectorAll("dialog[open]:not(.review)"));
  for (const other of others) other.close();
  if (named.view === "table") {
    showTable(named, state, acts);
    return;
  }
  leaveTable();
  const node = Number(named.row) - 1;
  if (Number.isInteger(node) && node >= 0 && node < state.status.nodes) await flow.look(node);
  else flow.home();
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
flow
  .meet()
  .then(introduced)
  .then(() => flow.start("look" in place()))
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
  if (event.persisted) flow.ask();
}); // back from the browser's memory: the node may be another one
