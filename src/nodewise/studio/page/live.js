// One websocket that says that something has changed. It is opened again for as long as the page is open.

import { at } from "./api.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 8000;

/**
 * Listen to the studio.
 *
 * @param {(message: object) => void} heard called with every message.
 * @param {(up: boolean) => void} changed called when the connection comes or is lost.
 */
export function listen(heard, changed) {
  let wait = FIRST_WAIT;
  let timer = null;

  function open() {
    timer = null;
    const socket = new WebSocket(
      `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${at("/updates")}`,
    );
    socket.addEventListener("open", () => {
      wait = FIRST_WAIT;
      changed(true);
    });
    socket.addEventListener("message", (event) => {
      let message = null;
      try {
        message = JSON.parse(event.data);
      } catch {
        return;
      }
      heard(message);
    });
    socket.addEventListener("close", () => {
      changed(false);
      timer = setTimeout(open, wait * (0.75 + Math.random() / 2));
      wait = Math.min(LONGEST_WAIT, wait * 1.7);
    });
  }

  // A phone that wakes, or a network that is back, should not wait for the next attempt.
  const now = () => {
    if (timer !== null) {
      clearTimeout(timer);
      open();
    }
  };
  addEventListener("online", now);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) now();
  });
  open();
}
