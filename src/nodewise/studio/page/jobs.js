// The list of jobs: rows, progress, date, strategy, size; open, copy, put into the archive or bring back.

import { get, pageOf, post } from "./api.js";
import { ago, bytes, count, h, short, show } from "./dom.js";
import { bar } from "./marks.js";

/**
 * @param {boolean} owner whether whoever looks may copy and archive.
 * @param {(text: string) => void} trouble told what went wrong.
 */
export function jobList(owner, trouble) {
  const box = h("section", { class: "box", "aria-labelledby": "others", hidden: true });
  const act = async (path, body, button) => {
    button.setAttribute("aria-busy", "true");
    trouble("");
    try {
      await post(path, body);
      await load();
    } catch (error) {
      trouble(error.message);
    }
    button.removeAttribute("aria-busy");
  };
  const open = async (name, button) => {
    button.setAttribute("aria-busy", "true");
    trouble("");
    try {
      await post("/session/open", { name });
      location.assign(pageOf(name));
    } catch (error) {
      button.removeAttribute("aria-busy");
      trouble(`${name} could not be opened: ${error.message}`);
    }
  };
  const button = (text, label, action) =>
    h(
      "button",
      {
        type: "button",
        "aria-label": label,
        class: text === "Open" ? null : "small",
        on: { click: (event) => action(event.currentTarget) },
      },
      text,
    );
  const facts = (job) =>
    job.problem
      ? h("span", { class: "bad" }, short(job.problem, 160))
      : h(
          "span",
          { class: "quiet" },
          [
            job.rows === null ? null : count(job.rows, "row"),
            count(job.classes, "class", "classes"),
            job.strategy,
            bytes(job.bytes),
            job.changed === null ? null : ago(job.changed),
          ]
            .filter(Boolean)
            .join(" · "),
        );
  const done = (job) =>
    job.budget !== null &&
    h(
      "span",
      { class: "done" },
      h("span", { class: "quiet" }, `${job.labels} of ${job.budget} labels`),
      bar(job.labels / Math.max(1, job.budget), -1),
    );
  const load = async () => {
    const { jobs, archived } = await get("/jobs");
    box.hidden = jobs.length + archived.length === 0;
    const taken = jobs.map((job) => job.name);
    show(
      box,
      h("h2", { id: "others" }, "Go on with a session"),
      h(
        "ul",
        { class: "sessions" },
        jobs.map((job) =>
          h(
            "li",
            { data: { job: job.name } },
            h(
              "span",
              { class: "about" },
              h("b", { class: "name", title: job.name, dir: "auto" }, job.name),
              facts(job),
            ),
            done(job),
            h(
              "span",
              { class: "job-tools" },
              button("Open", `Open ${job.name}`, (pressed) => open(job.name, pressed)),
              owner &&
                button("Copy", `Copy ${job.name}`, (pressed) =>
                  act("/jobs/duplicate", { name: job.name, new_name: freeCopy(job.name, taken) }, pressed),
                ),
              owner &&
                button("Archive", `Move ${job.name} into the archive`, (pressed) =>
                  act("/jobs/archive", { name: job.name }, pressed),
                ),
            ),
          ),
        ),
      ),
      archived.length > 0 &&
        h(
          "details",
          { class: "archived" },
          h("summary", {}, `Archive: ${count(archived.length, "session")}`),
          h(
            "ul",
            { class: "sessions" },
            archived.map((job) =>
              h(
                "li",
                {},
                h("span", { class: "about" }, h("b", { class: "name", dir: "auto" }, job.name), facts(job)),
                done(job),
                owner &&
                  button("Bring back", `Bring ${job.name} back`, (pressed) =>
                    act("/jobs/restore", { name: job.name }, pressed),
                  ),
              ),
            ),
          ),
        ),
    );
  };
  load().catch((error) => trouble(error.message));
  return box;
}

/** A name for a copy that is not taken. */
function freeCopy(name, taken) {
  for (let number = 2; ; number++) {
    const copy = `${name.slice(0, 90)} (${number})`;
    if (!taken.includes(copy)) return copy;
  }
}
