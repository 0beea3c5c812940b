// How far the job is: budget, audit, class balance, and the report on when to stop with its curve.

import { cancellable, get } from "./api.js";
import { curve } from "./curve.js";
import { byId, count, h, percent, sentence, settle, short, show } from "./dom.js";
import { inRows, numberOf, several } from "./labels.js";
import { bar, classMark } from "./marks.js";

const SLOW = 700; // milliseconds, before it is said that the report is being made
const ENOUGH = 10; // answers of the audit, before an accuracy is told
let visible = true;
let report = null;
let waiting = false;
let halted = false; // the report was cancelled, so it waits for a press
let later = null;
const parts = {};
/** @type {{status: any}} what it is drawn from */
let seen;
/** @type {{reported: (report: any) => void, openTable: (place: Record<string, string>) => void}} what it tells, asks */
let acts;

/** The progress, for a tab. */
export function progressView(/** @type {typeof seen} */ given, /** @type {typeof acts} */ heard) {
  [seen, acts] = [given, heard];
  parts.figures = h("dl", { class: "figures" });
  parts.balance = h("div", { class: "balance" });
  parts.report = h("div", { class: "report" });
  parts.making = h("p", { class: "quiet making-report", role: "status" });
  const fetchSoon = settle(() => fetchReport(), 1500, 6000);
  const view = h(
    "div",
    { class: "view progress", tabindex: "0", role: "group", "aria-label": "Progress" },
    parts.figures,
    h(
      "div",
      { class: "columns" },
      h("section", {}, h("h3", { role: "heading", "aria-level": "2" }, "Labels by class"), parts.balance),
      h(
        "section",
        {},
        h("h3", { id: "curve-title", role: "heading", "aria-level": "2" }, "How accurate?"),
        parts.making,
        parts.report,
      ),
    ),
  );
  return {
    view,
    draw: () => {
      draw();
      fetchSoon();
    },
    shown: (now) => {
      visible = now;
      if (now) fetchReport();
    },
  };
}

async function fetchReport() {
  const { status } = seen;
  if (!visible || !status || waiting || halted || report?.from === status.last) return;
  if (status.told + status.given === 0) {
    report = null;
    drawReport("The curve begins with the first label.");
    return;
  }
  waiting = true;
  const work = cancellable();
  const slow = setTimeout(
    () =>
      show(
        parts.making,
        h("span", { class: "spinner", "aria-hidden": "true" }),
        "A new report is being made … ",
        h("button", { type: "button", class: "small", on: { click: work.cancel } }, "Cancel"),
      ),
    SLOW,
  );
  try {
    report = await get(work.path("/report"), work.signal);
    drawReport();
    // The studio makes it in the background, so it may be some labels old: then it is fetched again later.
    const behind = report.labels < status.told + status.given || (report.audit?.nodes ?? 0) < status.audit.labelled;
    clearTimeout(later);
    if (behind) later = setTimeout(fetchReport, 3000);
  } catch (error) {
    if (work.cancelled()) halted = true;
    else if (report === null)
      drawReport(
        error.status === 409
          ? "The curve begins with the first label."
          : `The report could not be fetched: ${error.message}.`,
      );
  }
  waiting = false;
  clearTimeout(slow);
  show(
    parts.making,
    halted && [
      "No new report is made. ",
      h(
        "button",
        {
          type: "button",
          class: "small",
          on: {
            click: () => {
              halted = false;
              fetchReport();
            },
          },
        },
        "Make it",
      ),
    ],
  );
  acts.reported(report);
}

function draw() {
  const { status } = seen;
  if (!status) return;
  drawBudget(status);
  const figure = (name, value, title) => [h("div", { title }, h("dt", {}, name), h("dd", {}, value))];
  show(
    parts.figures,
    figure("labels", `${status.told} of ${status.budget}`, "Rows labelled one by one, of the budget"),
    status.audit.of > 0 &&
      figure(
        "audit",
        `${status.audit.labelled} of ${status.audit.of}`,
        "Rows drawn at random, on top of the budget, that measure the accuracy",
      ),
    status.given > 0 && figure("given", status.given.toLocaleString("en"), "Labels that came with the file"),
    figure("skipped", status.skipped, "Rows whose class somebody could not tell"),
    status.outdated.length > 0 &&
      figure(
        "changed",
        status.outdated.length.toLocaleString("en"),
        `Labelled rows that were changed since: ${status.outdated.slice(0, 20).join(", ")}`,
      ),
    figure("rows", status.nodes.toLocaleString("en"), "Rows in all"),
  );
  const most = Math.max(1, ...Object.values(status.balance));
  show(
    parts.balance,
    h(
      "ul",
      { class: "bars" },
      status.classes.map((name) =>
        h(
          "li",
          {},
          classMark(name),
          h("span", { class: "name", title: name }, name),
          bar((status.balance[name] ?? 0) / most, numberOf(name)),
          h("span", { class: "figure" }, status.balance[name] ?? 0),
        ),
      ),
    ),
    status.classes.length === 0 && h("p", { class: "quiet" }, "There are no classes yet."),
    h("p", { class: "quiet sum" }, sumOf(status)),
  );
}

/** Which labels the bars count: all that there are, by where they come from. */
function sumOf({ balance, told, audit, bulk, given, none }) {
  if (several()) return none ? `${count(none, "row")} with none of them. A row counts for each of its classes.` : "";
  const total = Object.values(balance).reduce((sum, number) => sum + number, 0);
  const parts = [
    told && `${told} asked for`,
    audit.labelled && `${audit.labelled} of the audit`,
    bulk && `${bulk} given in bulk`,
    given && `${given} that came with the file`,
  ].filter(Boolean);
  return total === told ? "" : `${count(total, "label")} in all: ${parts.join(", ")}.`;
}

/** The bar in the head of the page. */
function drawBudget(status) {
  const share = Math.min(1, status.told / Math.max(1, status.budget));
  const fill = h("span", { class: "fill" });
  fill.style.setProperty("width", `${share * 100}%`);
  show(
    byId("budget"),
    h(
      "span",
      { class: "words" },
      h("b", {}, status.told),
      ` of ${status.budget} labels`,
      status.audit.of > 0 && h("span", { class: "quiet" }, ` · audit ${status.audit.labelled}/${status.audit.of}`),
    ),
    h(
      "span",
      {
        class: "track",
        role: "progressbar",
        "aria-label": "Budget",
        "aria-valuemin": "0",
        "aria-valuemax": status.budget,
        "aria-valuenow": Math.min(status.told, status.budget),
      },
      fill,
    ),
  );
}

function drawReport(instead = null) {
  if (instead !== null) {
    show(parts.report, h("p", { class: "quiet" }, instead));
    return;
  }
  const { audit } = report;
  const enough = audit !== null && audit.nodes >= ENOUGH;
  const { key } = report;
  const exactly = several() ? "exactly " : ""; // with all of its classes and no other
  show(
    parts.report,
    enough &&
      h(
        "p",
        { class: "headline" },
        h("b", {}, percent(audit.mean)),
        h(
          "span",
          { class: "quiet" },
          ` ${several() ? "exactly right" : "accurate"}, ${percent(audit.low)} to ${percent(audit.high)}`,
        ),
      ),
    enough && report.audit_f1 && f1(report.audit_f1, " Micro-F1 over all classes, on the audit"),
    seen.status?.audit.of > 0 &&
      !enough &&
      h(
        "p",
        { class: "headline quiet" },
        `The accuracy is told after ${ENOUGH} answers of the audit; ${seen.status.audit.labelled} of them are there.`,
      ),
    key &&
      key.of > 0 &&
      h(
        "p",
        { class: "headline" },
        h("b", {}, percent(key.right / key.of)),
        h(
          "span",
          { class: "quiet" },
          ` ${exactly}right by the answer key, of ${count(key.of, "row")} that nobody has labelled` +
            `${key.micro_f1 === null ? "" : `; Micro-F1 over all classes ${percent(key.micro_f1)}`}`,
        ),
      ),
    report.left_out &&
      h(
        "p",
        { class: "headline left-out" },
        h("b", {}, percent(report.left_out.mean)),
        h(
          "span",
          { class: "quiet" },
          ` of your ${count(report.left_out.nodes, "label")} are predicted ${exactly}right from the others`,
        ),
        h("span", { class: "quiet bias" }, report.left_out_bias ? biasWords(report.left_out_bias) : CHOSEN),
      ),
    report.left_out_f1 && f1(report.left_out_f1, " Micro-F1 over all classes, of labels predicted from the others"),
    h("p", { class: "quiet as-of" }, `As of ${count(report.labels, "label")}.`),
    report.unlike > 0 &&
      h(
        "p",
        { class: "unlike" },
        `${report.unlike === 1 ? "1 row stands" : `${report.unlike.toLocaleString("en")} rows stand`} out as unlike ` +
          "all labelled rows. A class that nobody has named may be among them. ",
        h(
          "button",
          { type: "button", class: "small", on: { click: () => acts.openTable({ filter: "unlike", sort: "unlike" }) } },
          "Look at them",
        ),
      ),
    (enough || audit === null) && curve(report),
    h(
      "ul",
      { class: "reasons" },
      report.words
        .filter((line) => !/^predicted from all the others/.test(line) && line !== report.left_out_lack)
        .filter((line) => !/unlike all labelled rows/.test(line))
        .filter((line) => enough || !/^accuracy on \d+ /i.test(line))
        .map((line) => h("li", {}, sentence(inRows(short(line, 400))))),
    ),
  );
}

const CHOSEN = "Your labels were chosen, not drawn at random, so this can lie above or below the truth.";

/** Micro-F1 with its interval. */
const f1 = (score, words) =>
  h(
    "p",
    { class: "headline" },
    h("b", {}, percent(score.mean)),
    h("span", { class: "quiet" }, `${words}, ${percent(score.low)} to ${percent(score.high)}`),
  );

/** How far such an estimate was from the truth elsewhere: it is no measurement, and is told with its bias. */
const biasWords = (bias) =>
  `Your labels were chosen, not drawn at random: on ${bias.graphs} public data sets this lay ` +
  `${Math.abs(bias.mean).toFixed(0)} points ${bias.mean < 0 ? "below" : "above"} the true accuracy on average ` +
  `(${signed(bias.low)} to ${signed(bias.high)}).`;

const signed = (points) => `${points < 0 ? "−" : "+"}${Math.abs(points).toFixed(0)}`;
