"""A real Chromium on a page of somebody else: it can neither read nor tell, and a link to the studio works."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="needs the studio: pip install 'nodewise[studio]'")

from tests.studio.browsing import chromium
from tests.studio.jobs import job
from tests.studio.serving import running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.slow]

KNOWN = "localStorage.setItem('nodewise.annotator', 'me')"
"""A browser that has been here before."""
TOKEN = "correct-horse_battery.staple"
ATTACK = """async (target) => {
  const found = {};
  const body = JSON.stringify({labels: [{node: 7, label: "a"}]});
  const attempt = async (name, act) => {
    try { found[name] = await act(); } catch (error) { found[name] = "refused"; } };
  const read = async (path, options) => {
    const answer = await fetch(target + path, options);
    return answer.type === "opaque" ? "opaque" : await answer.text();
  };
  const post = (type, mode) => ({method: "POST", mode, credentials: "include", headers: {"Content-Type": type}, body});
  await attempt("read", () => read("/api/v1/status", {credentials: "include"}));
  await attempt("read opaque", () => read("/api/v1/status", {mode: "no-cors", credentials: "include"}));
  await attempt("tell json", () => read("/api/v1/tell", post("application/json", "cors")));
  await attempt("tell plain", () => read("/api/v1/tell", post("text/plain", "no-cors")));
  await attempt("beacon", () => { navigator.sendBeacon(target + "/api/v1/tell", new Blob([body], {type: "text/plain"}));
    return "sent"; });
  const loads = (tag, path) => new Promise((resolve) => {
    const one = document.createElement(tag);
    one.onload = () => resolve("loaded"); one.onerror = () => resolve("refused");
    one[tag === "link" ? "href" : tag === "object" ? "data" : "src"] = target + path;
    if (tag === "link") one.rel = "stylesheet";
    document.body.append(one);
  });
  for (const [tag, path] of [
    ["img", "/api/v1/nodes/0/picture"], ["script", "/api/v1/status"],
    ["script", "/page/work.js"], ["link", "/page/base.css"]])
    await attempt(tag + path, () => loads(tag, path));
  await attempt("form", () => new Promise((resolve) => {
    const frame = document.createElement("iframe"); frame.name = "sink"; document.body.append(frame);
    const form = document.createElement("form");
    Object.assign(form, {action: target + "/api/v1/tell", method: "post", enctype: "text/plain", target: "sink"});
    const field = document.createElement("input");
    field.name = '{"labels":[{"node":7,"label":"a"}],"annotator":"';
    field.value = '"}'; form.append(field);
    document.body.append(form); frame.onload = () => resolve("sent"); form.submit();
  }));
  await attempt("frame", () => new Promise((resolve) => {
    const frame = document.createElement("iframe"); frame.src = target + "/"; document.body.append(frame);
    frame.onload = () => {
      try { resolve(frame.contentDocument ? "empty" : "no document"); } catch { resolve("refused"); } };
  }));
  await attempt("websocket", () => new Promise((resolve) => {
    const socket = new WebSocket(target.replace("http", "ws") + "/api/v1/updates");
    socket.onopen = () => resolve("open"); socket.onerror = () => resolve("refused");
  }));
  await attempt("events", () => new Promise((resolve) => {
    const source = new EventSource(target + "/api/v1/updates");
    source.onopen = () => resolve("open"); source.onerror = () => resolve("refused");
  }));
  return found;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium for which every name that ends in .test is this machine, as an attacker's name server would have it."""
    with chromium("--host-resolver-rules=MAP *.test 127.0.0.1") as started:
        yield started


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def foreign_site(folder: Path, text: str) -> Iterator[int]:
    """Somebody else's page on another port; gives the port."""
    folder.mkdir()
    (folder / "index.html").write_text(f"<!doctype html><title>elsewhere</title><body>{text}", encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("token", [None, TOKEN])
@pytest.mark.parametrize("name", ["evil.test", "127.0.0.1", "localhost"])
def test_a_foreign_page_reads_and_tells_nothing(browser: Browser, tmp_path: Path, name: str, token: str | None) -> None:
    """Another site, another port of the same site: with the owner's cookies, by everything that a page can send."""
    with running(tmp_path, job(tmp_path), token=token) as client, foreign_site(tmp_path / "site", "hello") as port:
        own = str(client.base_url)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        before = client.get("/api/v1/status", headers=headers).json()["last"]
        with browser.new_context() as context:
            page = context.new_page()
            answer = page.goto(f"{own}/" + (f"?token={token}" if token else ""))
            assert answer is not None and answer.status == 200, "the owner has the page open, and the cookie"
            stranger = context.new_page()
            stranger.goto(f"http://{name}:{port}/")
            found = stranger.evaluate(ATTACK, own)
        harmless = {"refused", "opaque", "sent", "no document"}
        assert set(found.values()) <= harmless, found
        assert {
            found[key]
            for key in ("read", "tell json", "websocket", "events", "script/page/work.js", "link/page/base.css")
        } == {"refused"}
        after = client.get("/api/v1/status", headers=headers).json()
        assert after["told"] == 0 and after["last"] <= before + 1  # the page that is open has asked


def test_a_name_that_points_here_gets_nothing(browser: Browser, tmp_path: Path) -> None:
    """DNS rebinding as a browser does it: the address in the bar is the attacker's, the server behind it is ours."""
    with running(tmp_path, job(tmp_path)) as client, browser.new_context() as context:
        page = context.new_page()
        answer = page.goto(f"http://rebound.test:{client.base_url.port}/")
        assert answer is not None and answer.status == 403
        assert page.evaluate("() => fetch('/api/v1/status').then((answer) => answer.status)") == 403
        socket = """(path) => new Promise((resolve) => {
          const one = new WebSocket(path); one.onopen = () => resolve("open"); one.onerror = () => resolve("no");
        })"""
        assert page.evaluate(socket, f"ws://rebound.test:{client.base_url.port}/api/v1/updates") == "no"


def test_a_link_on_another_site_opens_the_studio(browser: Browser, tmp_path: Path) -> None:
    """In a mail or a chat; then again without the token, since the browser has the cookie."""
    with running(tmp_path, job(tmp_path), token=TOKEN) as client:
        own = str(client.base_url)
        text = f'<a id="first" href="{own}/?token={TOKEN}">first</a> <a id="again" href="{own}/">again</a>'
        with foreign_site(tmp_path / "site", text) as port, browser.new_context() as context:
            context.add_init_script(KNOWN)
            page = context.new_page()
            page.goto(f"http://mail.test:{port}/")
            page.click("#again")
            page.get_by_text("needs its token").first.wait_for()
            page.goto(f"http://mail.test:{port}/")
            page.click("#first")
            page.locator("body[data-phase=ready]").wait_for()
            assert page.url == f"{own}/s/job", "the token is gone from the address"
            assert page.evaluate("() => document.cookie") == "", "no script sees the cookie"
            page.goto(f"http://mail.test:{port}/")
            page.click("#again")
            page.locator("body[data-phase=ready]").wait_for()


def test_the_token_can_be_typed(browser: Browser, tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path), token=TOKEN) as client, browser.new_context() as context:
        context.add_init_script(KNOWN)
        page = context.new_page()
        answer = page.goto(str(client.base_url))
        assert answer is not None and answer.status == 401
        page.get_by_label("Token").fill("wrong")
        page.keyboard.press("Enter")
        page.get_by_text("needs its token").first.wait_for()
        page.get_by_label("Token").fill(TOKEN)
        page.keyboard.press("Enter")
        page.locator("body[data-phase=ready]").wait_for()
        assert "token" not in page.url
