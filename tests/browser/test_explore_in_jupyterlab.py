# SPDX-License-Identifier: MIT
"""`qossim.explore` as a person uses it: a real JupyterLab in Chromium, the keyboard and the mouse.

    python -m pytest -m browser

It needs Chromium and its driver (Debian: chromium, chromium-driver) and the extra "browser", and fails without them; in
a run of pytest that does not ask for it, it is left out. QOSSIM_SCREENSHOTS=FOLDER keeps pictures of what it saw.
"""

from __future__ import annotations

import io
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import qossim as qs
from qossim.experiments import ef_wfq_vs_pq

pytestmark = pytest.mark.browser

PATIENCE = 40  # seconds until something is shown, on a machine that is busy
CODE = """\
import qossim as qs
from qossim.experiments import ef_wfq_vs_pq

axes = {"scheduler": ["wfq", "pq", qs.DRR()], "best_effort": [False, True], "tx_ring_limit": range(41)}
qs.explore(ef_wfq_vs_pq, axes, flow="EF", warmup=5, seed=1)\
"""
SLOW = """\
import time
import qossim as qs

runs = []


def build(*, limit):
    time.sleep(0.2)
    runs.append(limit)
    flow = qs.Flow(f"limit{limit}run{len(runs)}", qs.CBR(pps=50, size=200))
    return qs.Scenario([flow], [qs.Port("link", "1 Mbit/s")])


qs.explore(build, {"limit": range(1, 41)}, duration=1)\
"""
PICTURE = '.jp-OutputArea img[alt^="One-way delay"]'
FIGURES = ".jp-OutputArea .widget-html table"
HANDLE = ".jp-OutputArea [role=slider]"


# -- a notebook in a browser -------------------------------------------------------------------------------------------


def _program(*names: str) -> str:
    for name in names:
        if path := shutil.which(name):
            return path
    pytest.fail(f"there is no {' or '.join(names)}: apt-get install chromium chromium-driver", pytrace=False)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _settle(ready: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """The first true answer of `ready`, which is asked until then. What is redrawn meanwhile is looked at again."""
    end = time.monotonic() + patience
    while True:
        try:
            if answer := ready():
                return answer
        except Exception as error:
            if type(error).__name__ != "StaleElementReferenceException":
                raise
        assert time.monotonic() < end, f"not within {patience} s: {what}"
        time.sleep(0.05)


class Lab(NamedTuple):
    """A JupyterLab server."""

    url: str
    token: str
    work: Path

    def notebook(self, name: str, code: str) -> str:
        """Address of a new notebook of one cell, in a workspace of its own."""
        cell = {"cell_type": "code", "id": name, "execution_count": None, "metadata": {}, "outputs": [], "source": code}
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        notebook = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
        (self.work / f"{name}.ipynb").write_text(json.dumps(notebook))
        return f"{self.url}/lab/workspaces/{name}/tree/{name}.ipynb?token={self.token}"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server of its own, with settings of its own."""
    home = tmp_path_factory.mktemp("lab")
    work = home / "work"
    work.mkdir()
    quiet = home / "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}))

    port, token = _free_port(), secrets.token_hex(16)
    folders = {
        "HOME": "home",
        "IPYTHONDIR": "ipython",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    own = {name: str(home / folder) for name, folder in folders.items()}
    path = os.pathsep.join(filter(None, [str(Path(qs.__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"),
        *(f"--ServerApp.root_dir={work}", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"),
    ]
    log = home / "log"
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=output, env=os.environ | own | {"PYTHONPATH": path}) as server,
    ):
        here = urllib.request.build_opener(urllib.request.ProxyHandler({}))

        def answers() -> bool:
            assert server.poll() is None, f"JupyterLab does not run:\n{log.read_text()}"
            try:
                with here.open(f"http://127.0.0.1:{port}/api/status?token={token}", timeout=5) as reply:
                    return reply.status == 200
            except (urllib.error.URLError, TimeoutError, ConnectionError):
                return False

        try:
            _settle(answers, "JupyterLab answers")
            yield Lab(f"http://127.0.0.1:{port}", token, work)
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium without a window."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = _program("chromium", "chromium-browser", "google-chrome")
    profile = tmp_path_factory.mktemp("chromium")
    for argument in (
        *("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server", "--no-first-run"),
        *("--window-size=1280,1000", f"--user-data-dir={profile}"),
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
    ):
        options.add_argument(argument)
    service = webdriver.ChromeService(_program("chromedriver", "chromium.chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


class Page:
    """What a person sees of the notebook, and does in it."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self.browser = browser
        self._folder = folder

    def all(self, selector: str) -> list[Any]:
        return list(self.browser.find_elements("css selector", selector))

    def wait(self, selector: str) -> Any:
        return _settle(lambda: next((each for each in self.all(selector) if each.is_displayed()), None), selector)

    def screenshot(self, name: str) -> None:
        self.browser.save_screenshot(str(self._folder / f"{name}.png"))

    def run_cell(self) -> None:
        from selenium.webdriver import ActionChains, Keys

        def click() -> bool:
            self.wait(".jp-Notebook .jp-CodeCell .cm-content").click()
            return True

        _settle(click, "a cell to click into")
        _settle(lambda: self.all('.jp-Notebook-ExecutionIndicator[data-status="idle"]'), "an idle kernel")
        ActionChains(self.browser).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()

    def picture(self) -> np.ndarray[Any, Any]:
        """The pixels of the picture as they are on the screen, once it is there."""
        from PIL import Image

        shown = self.wait(PICTURE)
        _settle(
            lambda: self.browser.execute_script("return arguments[0].complete && arguments[0].naturalWidth", shown),
            "the picture is there",
        )
        return np.asarray(Image.open(io.BytesIO(shown.screenshot_as_png)).convert("RGB"))

    def figures(self) -> list[str]:
        """The line below the picture; none while there is no picture."""
        text = self.browser.execute_script("return document.querySelector(arguments[0])?.innerText || ''", FIGURES)
        return str(text).split("\n")[-1].split()

    def press(self, *keys: str) -> None:
        """On the slider's handle, which has the focus."""
        from selenium.webdriver import ActionChains

        handle = self.wait(HANDLE)
        self.browser.execute_script("arguments[0].focus()", handle)
        ActionChains(self.browser).send_keys(*keys).perform()

    def must_show(self, **parameters: Any) -> None:
        """The figures become those of this setting, run here."""
        flow = qs.run(ef_wfq_vs_pq(**parameters), duration=105, warmup=5, seed=1)["EF"]
        delay, ipdv = flow.delay_stats, flow.abs_ipdv_stats
        times = [delay.mean, delay.quantile(0.99), delay.max, ipdv.quantile(0.99)]
        expected = ["EF", *(f"{1e3 * each:.3f}" for each in times), *f"{flow.lost} of {flow.sent}".split()]
        _settle(lambda: self.figures() == expected, f"{parameters}: {expected}; shown: {self.figures()}")


def _opened(lab: Lab, browser: Any, folder: Path, name: str, code: str) -> Page:
    """A notebook, open, its only cell run and its picture there."""
    page = Page(browser, folder)
    try:
        browser.get(lab.notebook(name, code))
        page.run_cell()
        page.picture()
    except BaseException:
        page.screenshot("not-opened")
        print(f"\nsee {folder / 'not-opened.png'}", file=sys.stderr)
        raise
    return page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go."""
    kept = os.environ.get("QOSSIM_SCREENSHOTS")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def page(lab: Lab, browser: Any, folder: Path) -> Page:
    """The experiment in a notebook."""
    return _opened(lab, browser, folder, "explore", CODE)


# -- what it does ------------------------------------------------------------------------------------------------------


def test_the_cell_shows_controls_picture_and_figures(page: Page) -> None:
    page.must_show(scheduler="pq", best_effort=True, tx_ring_limit=5)
    page.screenshot("opened")
    assert [select.get_attribute("value") for select in page.all(".jp-OutputArea select")] == ["pq"]
    assert len(page.all('.jp-OutputArea input[type="checkbox"]:checked')) == 1
    assert page.wait(".jp-OutputArea .widget-readout").text == "5"
    assert re.search(r"105 s simulated in [\d.]+ ms, drawn in \d+ ms", page.wait(".jp-OutputArea").text)


def test_an_arrow_key_on_the_slider_changes_picture_and_figures(page: Page) -> None:
    from selenium.webdriver import Keys

    page.must_show(scheduler="pq", best_effort=True, tx_ring_limit=5)
    source, before = page.wait(PICTURE).get_attribute("src"), page.picture()
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    page.must_show(scheduler="pq", best_effort=True, tx_ring_limit=7)
    assert page.wait(".jp-OutputArea .widget-readout").text == "7"
    after = page.picture()
    page.screenshot("slider-moved")
    assert page.wait(PICTURE).get_attribute("src") != source
    assert after.shape == before.shape, "nothing on the page has moved"
    assert (after != before).any(axis=2).sum() > 1000, "on the screen too"


def test_the_picture_follows_a_handle_that_is_dragged(page: Page) -> None:
    """While the button is down pictures come, each of a later setting; soon after the last move they are up to date."""
    from selenium.webdriver import ActionChains, Keys

    page.press(Keys.HOME, Keys.ARROW_RIGHT)
    page.must_show(scheduler="pq", best_effort=True, tx_ring_limit=1)
    ActionChains(page.browser).click_and_hold(page.wait(HANDLE)).perform()
    seen = [page.figures()[1]]
    for _ in range(3):  # as slowly as pictures come
        ActionChains(page.browser, duration=0).move_by_offset(40, 0).perform()
        _settle(lambda: (figures := page.figures()) and figures[1] not in seen, f"nothing new after {seen}")
        seen.append(page.figures()[1])
    for _ in range(30):  # and faster
        ActionChains(page.browser, duration=0).move_by_offset(12, 0).perform()
    began = time.monotonic()
    page.must_show(scheduler="pq", best_effort=True, tx_ring_limit=40)
    took = time.monotonic() - began
    ActionChains(page.browser).release().perform()
    assert [float(mean) for mean in seen] == sorted(float(mean) for mean in seen), "a longer ring, a longer delay"
    assert took < 2, "changes that were overtaken are not run"


def test_menu_and_box_change_picture_and_figures(page: Page) -> None:
    from selenium.webdriver import Keys
    from selenium.webdriver.support.select import Select

    page.press(Keys.HOME, *[Keys.ARROW_RIGHT] * 5)
    page.must_show(scheduler="pq", best_effort=True, tx_ring_limit=5)
    priority = page.picture()
    Select(page.wait(".jp-OutputArea select")).select_by_visible_text("wfq")
    page.must_show(scheduler="wfq", best_effort=True, tx_ring_limit=5)
    fair = page.picture()
    page.screenshot("menu-changed")
    page.wait('.jp-OutputArea input[type="checkbox"]').click()
    page.must_show(scheduler="wfq", best_effort=False, tx_ring_limit=5)
    unloaded = page.picture()
    page.screenshot("box-cleared")
    assert (priority != fair).any() and (fair != unloaded).any()
    page.wait('.jp-OutputArea input[type="checkbox"]').click()
    Select(page.wait(".jp-OutputArea select")).select_by_visible_text("pq")
    page.must_show(scheduler="pq", best_effort=True, tx_ring_limit=5)


def test_what_build_refuses_stands_in_place_of_the_picture_and_the_slider_leads_out(page: Page) -> None:
    from selenium.webdriver import Keys

    page.press(Keys.HOME)
    alert = page.wait(".jp-OutputArea [role=alert]")
    assert "limit must be a whole number from 1" in alert.text
    assert not any(each.is_displayed() for each in page.all(PICTURE))
    page.screenshot("refused")
    page.press(Keys.ARROW_RIGHT)
    page.must_show(scheduler="pq", best_effort=True, tx_ring_limit=1)
    page.picture()
    assert not page.all(".jp-OutputArea [role=alert]")


def test_changes_that_come_faster_than_they_can_be_run_are_left_out(lab: Lab, browser: Any, folder: Path) -> None:
    from selenium.webdriver import Keys

    page = _opened(lab, browser, folder, "slow", SLOW)
    page.press(*[Keys.ARROW_RIGHT] * 20)
    last = _settle(lambda: re.fullmatch(r"limit21run(\d+)", (page.figures() or [""])[0]), "the twentieth change")
    assert int(last[1]) <= 10, "runs for 21 settings"
