// The place within a session that the page's address names, behind the #: a row that is looked at, or the table with
// its filter. So a place can be sent to somebody, and the browser's Back stays in the studio.

/** What the address names, as texts by name. */
export const place = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

/** Put a place into the address; an empty one is the question. `instead`: it takes the place of the one before. */
export function goTo(values, instead = false) {
  const words = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "")).toString();
  const address = `${location.pathname}${location.search}${words ? `#${words}` : ""}`;
  if (words === location.hash.slice(1)) return;
  if (instead) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
}

/** Call it with the place whenever the browser goes back or forward, or somebody changes the address by hand. */
export function onPlace(action) {
  addEventListener("popstate", () => action(place()));
}
