// The people who have links of their own: who they are, what they may do, a link for one more, and taking one away.

import { get, postToStudio } from "./api.js";
import { dialog } from "./dialogs.js";
import { ago, h, show } from "./dom.js";

const ROLES = {
  annotator: "is asked and labels",
  reviewer: "settles and reads",
  onlooker: "looks, and changes nothing",
  owner: "does everything",
};

/** Open the list of people over the page; for the owner. */
export function openPeople() {
  if (document.querySelector("dialog[open]")) return;
  const list = h("ul", { class: "people links" });
  const said = h("p", { role: "status" });
  const link = h("div", { class: "new-link" });
  const name = h("input", { id: "person-name", maxlength: "200", required: true, autocomplete: "off" });
  const role = h(
    "select",
    { id: "person-role" },
    Object.entries(ROLES).map(([value, does]) => h("option", { value }, `${value}: ${does}`)),
  );
  const add = h("button", { class: "primary" }, "Give a link");
  const form = h(
    "form",
    { class: "person-form", on: { submit: (event) => give(event) } },
    h("div", { class: "field" }, h("label", { for: "person-name" }, "Name"), name),
    h("div", { class: "field" }, h("label", { for: "person-role" }, "May do"), role),
    add,
  );
  const give = async (event) => {
    event.preventDefault();
    show(said);
    try {
      const made = await postToStudio("/people", { name: name.value, role: role.value });
      showLink(made);
      name.value = "";
      await load();
    } catch (error) {
      show(said, `No link was made: ${error.message}.`);
    }
  };
  const showLink = (made) => {
    const field = h("input", {
      readonly: true,
      value: `${location.origin}/?token=${made.token}`,
      "aria-label": `The link of ${made.name}`,
      on: { focus: () => field.select() },
    });
    const copy = h("button", { type: "button", class: "small", on: { click: () => take() } }, "Copy");
    const take = async () => {
      field.select();
      await navigator.clipboard?.writeText(field.value).catch(() => {});
      show(copy, "Copied");
    };
    show(
      link,
      h("p", {}, h("b", { dir: "auto" }, made.name), ` opens this link. It is shown once: send it to nobody else.`),
      h("div", { class: "link-line" }, field, copy),
    );
  };
  const revoke = async (person) => {
    show(said);
    try {
      draw(await postToStudio("/people/revoke", { name: person.name }));
      show(said, `${person.name} has no link any more. What they labelled stays.`);
      show(link);
    } catch (error) {
      show(said, `Nothing was changed: ${error.message}.`);
    }
  };
  const row = (person) => {
    const sure = h(
      "button",
      { type: "button", class: "small danger", hidden: true, on: { click: () => revoke(person) } },
      "Yes, take it away",
    );
    const first = h(
      "button",
      {
        type: "button",
        class: "small",
        "aria-label": `Take the link of ${person.name} away`,
        on: {
          click: () => {
            first.hidden = true;
            sure.hidden = false;
            sure.focus();
          },
        },
      },
      "Take away",
    );
    return h(
      "li",
      { class: person.revoked === null ? null : "undone", data: { person: person.name } },
      h("span", { class: "name", dir: "auto" }, person.name),
      h(
        "span",
        { class: "quiet" },
        `${person.role}, ${person.revoked === null ? ago(person.added) : `taken away ${ago(person.revoked)}`}`,
      ),
      person.revoked === null && [first, sure],
    );
  };
  const draw = ({ people, possible }) => {
    form.hidden = !possible;
    show(list, people.map(row));
    if (!possible)
      show(
        said,
        "Whoever reaches this studio is its owner, so a link would mean nothing. End it, and start it again with ",
        h("code", {}, "nodewise studio --token-file token.txt"),
        " (for people at other machines also ",
        h("code", {}, "--host 0.0.0.0"),
        "): then each person can have a link.",
      );
  };
  const load = async () => {
    try {
      draw(await get("/people"));
    } catch (error) {
      show(said, `The list could not be fetched: ${error.message}.`);
    }
  };
  dialog(
    "People and links",
    () =>
      h(
        "div",
        { class: "dialog-body" },
        h(
          "p",
          { class: "quiet" },
          "Each person has a link of their own, which gives them their name and what they may do.",
        ),
        form,
        link,
        said,
        list,
      ),
    "wide",
  );
  load();
}
