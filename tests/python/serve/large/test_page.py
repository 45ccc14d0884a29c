"""The page at /, in headless Chromium. TEMPERA_PAGE_PICTURES names a folder for its pictures, to be looked at."""
import http.server
import os
import pathlib
import re
import threading
import xml.etree.ElementTree

import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from chromium import chromium
from conftest import Server, wait_until
from test_stored_runs import draw

PICTURES = os.environ.get("TEMPERA_PAGE_PICTURES")


@pytest.fixture(scope="module")
def browser():
    with chromium("--host-resolver-rules=MAP elsewhere.test 127.0.0.1") as driver:
        yield driver


@pytest.fixture
def page(browser, server):
    def open_page(width=1280, height=1000, scheme="light"):
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        browser.get(f"http://127.0.0.1:{server.port}/")
        wait(browser, lambda: "worked_sum" in browser.find_element(By.ID, "model").text)
        return browser
    yield open_page
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE" and "favicon" not in entry["message"]] == []


def wait(browser, condition):
    # An element that was found may be drawn anew, or belong to the page before, until it is looked at.
    WebDriverWait(browser, 120, 0.1, [StaleElementReferenceException]).until(lambda _: condition())


def run_by_keyboard(browser):
    browser.find_element(By.ID, "prompt").send_keys(Keys.CONTROL, Keys.ENTER)
    wait(browser, lambda: browser.find_element(By.ID, "stop").get_attribute("disabled") and
         browser.find_elements(By.CSS_SELECTOR, "section.run"))


def picture(browser, name):
    if PICTURES:
        size = browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}})
        import base64
        pathlib.Path(PICTURES, name).write_bytes(base64.b64decode(shot["data"]))


def tokens(run):
    return int(run.find_element(By.CSS_SELECTOR, ".figures b").text)


def test_two_runs_beside_each_other_at_the_same_tokens(page, server):
    browser = page()
    run_by_keyboard(browser)
    ladder, chain = browser.find_elements(By.CSS_SELECTOR, "section.run")
    assert ladder.location["y"] == chain.location["y"] and ladder.location["x"] < chain.location["x"]
    assert 0.75 < tokens(ladder) / tokens(chain) < 1.34  # one run of a random walk on either side
    # What is shown is what the server answers to the same request.
    _, answer = server.ask("/v1/completions", {"prompt": "4+7+9+3+8+6+2+5?", "max_tokens": 28, "seed": 1,
                                               "tempera": {"powers": [1, 1.6, 2.5, 4], "block": 4, "rounds": 3}})
    assert ladder.find_element(By.CSS_SELECTOR, "[data-answer]").text == answer["choices"][0]["text"]
    assert tokens(ladder) == answer["tempera"]["decode_tokens"]
    counts = answer["tempera"]["choices"][0]
    bars = [bar.text for bar in ladder.find_elements(By.CSS_SELECTOR, ".bar")]
    shares = [re.search(r"\((\d+)/(\d+)\)", bar).groups() for bar in bars]
    assert [[int(n) for n in share] for share in shares] == [[c["accepted"], c["proposed"]] for c in counts["local_moves"] + counts["swaps"]]
    # A line for each replica, a trace for each rung, a lane for each rung.
    pictures = ladder.find_elements(By.CSS_SELECTOR, "svg")
    assert [len(each.find_elements(By.CSS_SELECTOR, "polyline")) for each in pictures] == [4, 4]
    assert len(ladder.find_elements(By.CSS_SELECTOR, ".lane")) == 4
    assert len(chain.find_elements(By.CSS_SELECTOR, ".lane")) == 1
    picture(browser, "page-light.png")


@pytest.mark.parametrize("width, height, scheme, name", [
    (1280, 1000, "dark", "page-dark.png"), (390, 844, "light", "page-small.png"), (390, 844, "dark", "page-small-dark.png")])
def test_dark_and_small(page, width, height, scheme, name):
    browser = page(width, height, scheme)
    run_by_keyboard(browser)
    assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"), "it is wider than the screen"
    runs = browser.find_elements(By.CSS_SELECTOR, "section.run")
    assert (runs[0].location["x"] == runs[1].location["x"]) == (width < 600)
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", paper)[:3])) < 200) == (scheme == "dark")
    picture(browser, name)


def test_contrast_is_readable(page):
    for scheme in ("light", "dark"):
        browser = page(scheme=scheme)
        ratios = browser.execute_script("""
          const luminance = c => { const [r, g, b] = c.match(/[0-9.]+/g).slice(0, 3).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
                                   return .2126 * r + .7152 * g + .0722 * b; };
          const paper = luminance(getComputedStyle(document.body).backgroundColor);
          return ["p.lead", "label", "h1", ".note"].map(s => { const ink = luminance(getComputedStyle(document.querySelector(s)).color);
            return (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05); });""")
        assert min(ratios) >= 4.5, ratios


def test_the_keyboard_reaches_everything_and_stops_a_run(page, server):
    browser = page()
    reached = []
    body = browser.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    for _ in range(12):
        reached.append(browser.switch_to.active_element.get_attribute("id"))
        browser.switch_to.active_element.send_keys(Keys.TAB)
    for control in ("prompt", "powers", "horizon", "block", "rounds", "schedule", "seed", "key", "form-of-prompt", "go"):
        assert control in reached, control
    rounds = browser.find_element(By.ID, "rounds")
    rounds.clear()
    rounds.send_keys("900", Keys.CONTROL, Keys.ENTER)
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, ".lane"))
    rounds.send_keys(Keys.ESCAPE)
    wait(browser, lambda: browser.find_element(By.ID, "stop").get_attribute("disabled"))
    assert "stopped" in browser.find_element(By.ID, "status").text
    wait(browser, lambda: "tempera_choices_under_way 0" in server.ask("/metrics")[1])


def test_an_error_is_shown(page):
    browser = page()
    prompt = browser.find_element(By.ID, "prompt")
    prompt.clear()
    prompt.send_keys("not a sum")
    run_by_keyboard(browser)
    assert "prompt" in browser.find_element(By.CSS_SELECTOR, ".error").text
    # The browser notes the refused requests in its log; they are no error of the page.
    browser.get_log("browser")


def type_into(browser, name, text):
    field = browser.find_element(By.ID, name)
    field.clear()
    field.send_keys(text)
    return field


def is_ready(browser):
    return not browser.find_element(By.ID, "go").get_attribute("disabled") and browser.find_element(By.ID, "stop").get_attribute("disabled")


def test_a_refused_ladder_starts_nothing(page, server):
    browser = page()
    before = requests_of(server)
    for name, text in (("prompt", "not a sum"), ("horizon", "4000")):
        type_into(browser, name, text).send_keys(Keys.CONTROL, Keys.ENTER)
        wait(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, ".error")) == 2 and is_ready(browser))
        ladder, chain = browser.find_elements(By.CSS_SELECTOR, "section.run .error")
        assert ladder.text not in ("", "not started") and chain.text == "not started"
        assert ladder.text in browser.find_element(By.ID, "status").text
        type_into(browser, "prompt", "4+7?")
    # The chain beside either was never asked for.
    assert requests_of(server) == before + 2
    browser.get_log("browser")


@pytest.mark.parametrize("powers, words", [
    ("1/0", "Power 1"), ("0", "Power 1"), ("1 2", "Power 1"), ("1,,2", "Power 2"), ("1,2,", "Power 3"), ("1,-2", "Power 2"), ("1,x", "Power 2"), ("1/2/3", "Power 1"),
    ("0x2", "Power 1"), ("1e999", "Power 1"), ("4,1", "Power 2"), ("1,1", "Power 2"), ("1;2", "Power 1")])
def test_powers_that_are_none_are_named_before_anything_is_asked(page, server, powers, words):
    browser = page()
    before = requests_of(server)
    field = type_into(browser, "powers", powers)
    field.send_keys(Keys.CONTROL, Keys.ENTER)
    browser.find_element(By.ID, "go").click()
    message = browser.execute_script("return document.getElementById('powers').validationMessage")
    assert words in message and browser.find_elements(By.CSS_SELECTOR, "section.run") == [] and is_ready(browser)
    # Mended, it runs, with the powers as they were typed.
    type_into(browser, "powers", " 1 , 3/2,2")
    run_by_keyboard(browser)
    heads = browser.execute_script(
        "return [...document.querySelectorAll('section.run:first-child .lane .head')].map(head => head.innerText)")
    assert [re.search(r"power ([^,]+)", head).group(1) for head in heads] == ["2", "1.5", "1"], heads
    assert requests_of(server) == before + 2


def test_run_is_enabled_again_whatever_becomes_of_a_run(page, server):
    browser = page()
    for broken in ("window.fetch = () => Promise.reject(new TypeError('the server is gone'));",
                   "window.fetch = () => Promise.resolve(new Response('<p>a proxy</p>', {status: 502}));",
                   "window.fetch = () => Promise.resolve(new Response('data: {' + String.fromCharCode(10, 10)));",
                   "runAll = () => Promise.reject(new Error('a fault of the page'));"):
        browser.execute_script(broken)
        browser.find_element(By.ID, "prompt").send_keys(Keys.CONTROL, Keys.ENTER)
        wait(browser, lambda: is_ready(browser))
    browser.get_log("browser")


def test_a_ladder_that_ends_early_ends_its_chain(browser):
    running = Server("--longest", "1")
    try:
        browser.get(f"http://127.0.0.1:{running.port}/")
        wait(browser, lambda: "worked_sum" in browser.find_element(By.ID, "model").text)
        type_into(browser, "rounds", "1000")
        type_into(browser, "block", "1").send_keys(Keys.CONTROL, Keys.ENTER)
        wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, ".error") and is_ready(browser))
        assert "1 seconds" in browser.find_element(By.CSS_SELECTOR, ".error").text
        wait(browser, lambda: "tempera_choices_under_way 0\n" in running.ask("/metrics")[1])
    finally:
        running.stop()
    browser.get_log("browser")


def test_a_server_with_a_key_asks_for_it(browser, tmp_path):
    (tmp_path / "key").write_text("sesame\n")
    running = Server("--api-key-file", str(tmp_path / "key"))
    try:
        browser.get(f"http://127.0.0.1:{running.port}/")
        wait(browser, lambda: "key" in browser.find_element(By.ID, "status").text)
        assert browser.switch_to.active_element.get_attribute("id") == "key" and browser.find_element(By.ID, "model").text == ""
        type_into(browser, "key", "open").send_keys(Keys.TAB)
        wait(browser, lambda: "another key" in browser.find_element(By.ID, "status").text)
        type_into(browser, "key", "sesame").send_keys(Keys.TAB)
        wait(browser, lambda: "worked_sum" in browser.find_element(By.ID, "model").text)
        assert browser.find_element(By.ID, "status").text == ""
        run_by_keyboard(browser)
        wait(browser, lambda: is_ready(browser))
        assert browser.find_elements(By.CSS_SELECTOR, ".error") == []
    finally:
        running.stop()
    browser.get_log("browser")


def test_the_page_asks_nobody_else(page):
    browser = page()
    run_by_keyboard(browser)
    names = browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name)")
    assert names and all(name.startswith(browser.current_url.split("#")[0]) for name in names)


def settings_of(browser):
    return {name: browser.find_element(By.ID, name).get_attribute("value")
            for name in ("prompt", "powers", "horizon", "block", "rounds", "schedule", "seed", "form-of-prompt")}


def shown(browser):
    """The parts of the first run that the run itself decides."""
    run = browser.find_element(By.CSS_SELECTOR, "section.run")
    return {name: [each.get_attribute(what) for each in run.find_elements(By.CSS_SELECTOR, selector)] for name, selector, what in [
        ("figures", ".figures", "innerText"), ("answer", "[data-answer]", "innerText"), ("bars", ".bar", "innerText"), ("heads", ".head", "innerText"),
        ("lines", "polyline", "points"), ("paints", "polyline", "style")]}


def test_a_link_brings_the_settings_back_and_draws_nothing(page, server):
    browser = page()
    for name, text in (("prompt", "4+7?&seed=5#x"), ("powers", "1,3/2"), ("horizon", "20"), ("block", "5"), ("rounds", "1"), ("seed", "9007199254740991")):
        type_into(browser, name, text)
    type_into(browser, "prompt", "4+7+9?")
    browser.find_element(By.ID, "schedule").send_keys("deo")
    run_by_keyboard(browser)
    wait(browser, lambda: is_ready(browser))
    settings, first, link = settings_of(browser), shown(browser), browser.current_url
    assert browser.find_element(By.CSS_SELECTOR, "[data-link]").get_attribute("href") == link and "#" in link
    before = requests_of(server)
    browser.get("about:blank")
    browser.get(link)
    wait(browser, lambda: browser.find_element(By.ID, "model").text and settings_of(browser) == settings)
    assert browser.find_elements(By.CSS_SELECTOR, "section.run") == [] and requests_of(server) == before
    run_by_keyboard(browser)
    wait(browser, lambda: is_ready(browser) and shown(browser) == first)
    # Back to settings that were shown before.
    browser.get(link.replace("powers=1%2C3%2F2", "powers=2%2C1"))
    wait(browser, lambda: settings_of(browser)["powers"] == "2,1")
    assert "Power 2" in browser.execute_script("return document.getElementById('powers').validationMessage")
    browser.back()
    wait(browser, lambda: settings_of(browser) == settings)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page") / "runs"
    folder.mkdir()
    draw(folder / "a & b", "4+7+9+3+8+6+2+5?", "--powers", "1,1.6,2.5,4", "--rounds", "3", "--seed", "1")
    (folder.parent / "prompts.jsonl").write_text('{"id": "q<i>1</i>", "prompt": "4+7?"}\n{"id": "q2", "prompt": "4+7+9?"}\n')
    draw(folder / "many", "--prompts", str(folder.parent / "prompts.jsonl"), "--powers", "2", "--samples", "3")
    draw(folder / "particles", "4+7?", "--sampler", "power-smc")
    running = Server("--runs", str(folder))
    yield running
    running.stop()


def at(browser, server, fragment=""):
    browser.get("about:blank")
    browser.get(f"http://127.0.0.1:{server.port}/{fragment}")
    wait(browser, lambda: browser.find_element(By.ID, "model").text)


def open_run(browser, run, prompt="0", sample="0"):
    choose = lambda name, value: browser.execute_script(
        "const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('change'));", name, value)
    choose("run", run)
    wait(browser, lambda: browser.execute_script("return described") == run)
    choose("run-prompt", prompt)
    choose("run-sample", sample)
    browser.find_element(By.ID, "open").click()


def test_a_run_folder_is_opened_and_shows_what_the_run_showed(browser, runs):
    at(browser, runs)
    wait(browser, lambda: browser.find_element(By.ID, "stored").is_displayed())
    # The same settings drawn here: the folder shows the same pictures, counts and answer.
    run_by_keyboard(browser)
    wait(browser, lambda: is_ready(browser))
    live = shown(browser)
    open_run(browser, "a & b")
    wait(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, "section.run")) == 1)
    wait(browser, lambda: shown(browser)["bars"])
    stored = shown(browser)
    for what in ("figures", "answer", "bars", "paints"):
        assert stored[what] == live[what], what
    # Here it is alone, and the scale is its own; a record is open or not in the stream alone.
    assert [len(line.split()) for line in stored["lines"]] == [len(line.split()) for line in live["lines"]]
    assert stored["heads"] == [head.replace(", open", "") for head in live["heads"]]
    picture(browser, "page-stored.png")
    link, title = browser.current_url, browser.find_element(By.CSS_SELECTOR, "section.run h2").text
    assert title == "a & b, sample 0" and browser.find_element(By.CSS_SELECTOR, "[data-link]").get_attribute("href") == link
    # The link opens it again, and going back shows others.
    at(browser, runs, link.split("/")[-1])
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "section.run") and shown(browser) == stored)
    open_run(browser, "many", "1", "2")
    wait(browser, lambda: browser.find_element(By.CSS_SELECTOR, "section.run h2").text == "many, prompt q2, sample 2")
    answer = runs.ask("/runs/many/1/2")[1]
    assert shown(browser)["answer"] == [answer["text"]]
    browser.back()
    wait(browser, lambda: browser.find_element(By.CSS_SELECTOR, "section.run h2").text == title and shown(browser) == stored)
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE" and "favicon" not in entry["message"]] == []


@pytest.mark.parametrize("fragment, words", [
    ("#run=particles&prompt=0&sample=0", "particles"), ("#run=nowhere", "no such run"), ("#run=many&prompt=7&sample=0", "no such answer"),
    ("#run=..%2F..&prompt=0&sample=0", "no such run"), ("#run=many&prompt=..&sample=..", "no such")])
def test_a_link_that_leads_nowhere_says_so(browser, runs, fragment, words):
    at(browser, runs, fragment)
    wait(browser, lambda: words in browser.find_element(By.ID, "status").text)
    assert browser.find_elements(By.CSS_SELECTOR, "section.run") == []
    browser.get_log("browser")


def test_a_prompts_id_is_text(browser, runs):
    at(browser, runs, "#run=many&prompt=0&sample=1")
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "section.run"))
    assert browser.find_element(By.CSS_SELECTOR, "section.run h2").text == "many, prompt q<i>1</i>, sample 1"
    assert browser.find_elements(By.CSS_SELECTOR, "main i i") == []


def test_without_run_folders_there_is_no_choice_of_them(page):
    assert not page().find_element(By.ID, "stored").is_displayed()


def rgb(text):
    return re.fullmatch(r"rgb\(\d+, \d+, \d+\)", text) is not None


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("fragment, curves, bars, name", [
    ("#run=a+%26+b&prompt=0&sample=0", 8, 7, "tempera_a_b,_sample_0.svg"), ("#run=many&prompt=1&sample=0", 1, 1, "tempera_many,_prompt_q2,_sample_0.svg")])
def test_the_figure_is_saved_as_a_picture_of_its_own(browser, runs, tmp_path, scheme, fragment, curves, bars, name):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    at(browser, runs, fragment)
    wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "section.run .bar"))
    drawn = shown(browser)
    browser.find_element(By.CSS_SELECTOR, "[data-save]").click()
    file = tmp_path / name
    wait_until(lambda: file.exists() and file.stat().st_size, f"{list(tmp_path.iterdir())}")
    text = file.read_text()
    figure = xml.etree.ElementTree.fromstring(text)
    svg = "{http://www.w3.org/2000/svg}"
    assert figure.tag == svg + "svg" and figure.find(svg + "title").text == browser.find_element(By.CSS_SELECTOR, "section.run h2").text
    # Nothing in it depends on the page: no variable, class or style.
    assert not re.search(r"var\(|color-mix|class=|style=|<script|href", text)
    lines = list(figure.iter(svg + "polyline"))
    assert [line.get("points") for line in lines] == drawn["lines"] and len(lines) == curves
    assert all(rgb(line.get("stroke")) for line in lines) and len({line.get("stroke") for line in lines[:4]}) == min(curves, 4)
    words = [each.text for each in figure.iter(svg + "text")]
    shares = [bar.split("\n")[-1] for bar in drawn["bars"]]
    assert len(shares) == bars and [word for word in words if word in shares] == shares
    paper = figure.find(svg + "rect").get("fill")
    assert (sum(map(int, re.findall(r"\d+", paper))) < 200) == (scheme == "dark")
    # It fits: no text leaves it, and none is on another.
    browser.get(file.as_uri())
    boxes = browser.execute_script("return [...document.querySelectorAll('text')].map(t => { const b = t.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom, t.textContent]; })")
    width, height = (float(figure.get(name)) for name in ("width", "height"))
    assert all(left >= 0 and top >= 0 and right <= width and bottom <= height for left, top, right, bottom, _ in boxes)
    overlaps = [(a[4], b[4]) for i, a in enumerate(boxes) for b in boxes[i + 1:] if min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 3]
    assert overlaps == []
    picture(browser, f"figure-{scheme}-{curves}.png")
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "default"})


class OtherPage(http.server.BaseHTTPRequestHandler):
    """An empty page of another origin: this machine's too, but of another port."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>other</title>")

    def log_message(self, *_):
        pass


@pytest.fixture
def other_page():
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OtherPage)
    thread = threading.Thread(target=other.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{other.server_port}"
    other.shutdown()
    thread.join()
    other.server_close()


def requests_of(server):
    return int(re.search(r"tempera_requests_total (\d+)", server.ask("/metrics")[1]).group(1))


def test_a_page_from_elsewhere_has_nothing_drawn(browser, server, other_page):
    before = requests_of(server)
    where = f"127.0.0.1:{server.port}/v1/completions"
    # What a form of text/plain sends is JSON: {"prompt": "4+7?", "stop": "="}.
    browser.get(other_page)
    browser.execute_script("""
      document.body.innerHTML = `<form method=post enctype=text/plain action=http://${arguments[0]}><input></form>`;
      const field = document.querySelector("input");
      field.name = '{"prompt": "4+7?", "stop": "';
      field.value = '"}';
      document.querySelector("form").submit();""", where)
    wait(browser, lambda: "--allow-origin" in browser.find_element(By.TAG_NAME, "body").text)
    browser.get(other_page)
    kind = browser.execute_async_script("""
      const done = arguments[1];
      fetch(`http://${arguments[0]}`, {method: "POST", mode: "no-cors", body: '{"prompt": "4+7?"}'}).then(a => done(a.type), e => done(String(e)));""", where)
    assert kind == "opaque"
    # A name that leads to another machine first, and then to this one.
    browser.get(f"http://elsewhere.test:{server.port}/")
    assert "--allow-origin" in browser.find_element(By.TAG_NAME, "body").text
    assert requests_of(server) == before
    browser.get_log("browser")


def test_an_allowed_page_reads_answers(browser, other_page):
    running = Server("--allow-origin", other_page)
    try:
        browser.get(other_page)
        texts = browser.execute_async_script("""
          const done = arguments[1];
          const ask = fields => fetch(`http://127.0.0.1:${arguments[0]}/v1/completions`, {
            method: "POST", headers: {"Content-Type": "application/json", "Authorization": "Bearer none"},
            body: JSON.stringify({prompt: "4+7?", max_tokens: 28, seed: 1, ...fields})}).then(answer => answer.text());
          Promise.all([ask({}), ask({stream: true})]).then(done, e => done([String(e), ""]));""", running.port)
        assert '"choices"' in texts[0] and "[DONE]" in texts[1], texts
    finally:
        running.stop()
