"""Headless Chromium for the tests: started once and only if a test asks for it, a context of its own for each test."""

import os
import re
import shutil
import signal
import tempfile
from pathlib import Path

from axe_core_python.selenium import Axe
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import secure
from patience import PATIENCE
from server import ROOT

SCREENSHOTS = ROOT / ".build/screenshots"
DESKTOP = (1280, 900)
PHONE = (360, 740)
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

# The browser opens no connection of its own: no updates, no models, no look-ups, no proxy, and no name resolves.
QUIET = """
    --headless=new --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run --no-default-browser-check
    --disable-background-networking --disable-component-update --disable-sync --disable-default-apps --disable-extensions
    --disable-domain-reliability --disable-breakpad --metrics-recording-only --no-pings --no-proxy-server
    --disable-features=OptimizationHints,OptimizationGuideModelDownloading,MediaRouter,Translate,AutofillServerCommunication
    --disable-background-timer-throttling --disable-backgrounding-occluded-windows --disable-renderer-backgrounding
    --force-color-profile=srgb --lang=en-GB
""".split()
LOOPBACK_ONLY = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"


def found(what, *names):
    """The path of the first of these programs that is installed."""
    for name in names:
        if path := shutil.which(name):
            return path
    raise FileNotFoundError(f"there is no {what} (looked for {', '.join(names)}): Scripts/setup.sh --tests installs it")


def descendants(pid):
    """The pids of a process's descendants."""
    below = []
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return below
    for child in children:
        below += [child, *descendants(child)]
    return below


class Browser:
    """One Chromium and its driver, with a profile that is thrown away; both are ended by pid whatever happens."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="timerd-browser-"))
        self.driver = self.service = None

    def __enter__(self):
        for old in SCREENSHOTS.glob("failed-*"):
            old.unlink(missing_ok=True)  # another worker may be first
        options = webdriver.ChromeOptions()
        options.binary_location = self._mortal(found("Chromium", *NAMES))
        for argument in (*QUIET, LOOPBACK_ONLY, f"--user-data-dir={self.directory / 'profile'}",
                         f"--window-size={DESKTOP[0]},{DESKTOP[1]}", *(["--no-sandbox"] if os.geteuid() == 0 else [])):
            options.add_argument(argument)
        # The key of the tests' servers, and no other without an authority of the system's.
        options.add_argument(f"--ignore-certificate-errors-spki-list={secure.public_key()}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.enable_bidi = True
        self.service = Service(self._mortal(found("chromedriver", "chromedriver", "chromium.chromedriver")),
                               log_output=str(self.directory / "driver.log"))
        try:
            self.driver = webdriver.Chrome(options, self.service)
            self.driver.command_executor.client_config.timeout = 2 * PATIENCE
            self.driver.set_page_load_timeout(PATIENCE)
            self.driver.set_script_timeout(PATIENCE)
        except WebDriverException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        process = getattr(self.service, "process", None)
        for pid in [process.pid, *descendants(process.pid)] if process else []:
            try:
                os.kill(pid, signal.SIGKILL)  # there is nothing to save, and a clean end takes seconds
            except ProcessLookupError:
                pass
        if process:
            process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _mortal(self, program):
        """A way to start the program so that it ends with the process that started it."""
        setpriv = shutil.which("setpriv")
        if not setpriv:
            return program
        wrapper = self.directory / Path(program).name
        wrapper.write_text(f'#!/bin/sh\nexec "{setpriv}" --pdeathsig KILL -- "{program}" "$@"\n')
        wrapper.chmod(0o755)
        return str(wrapper)


class Page:
    """A tab in a browser context of its own: no cookie, no storage and no connection is shared with another test."""

    def __init__(self, browser, name):
        self.driver, self.name = browser.driver, name
        self.console = []
        self._expected = []
        self._start = self.driver.current_window_handle
        self._context = self.driver.browser.create_user_context()
        self._tab = self.driver.browsing_context.create(type="tab", user_context=self._context)
        self.driver.switch_to.window(self._tab)
        self.size(*DESKTOP)
        self.driver.get_log("browser")

    def also(self, url, type="window"):
        """Opens a page beside the others of the same context: in a window of its own, so that all are shown, or in a tab of
        the current window, which hides the tab before it. It becomes the current one; returns its handle."""
        tab = self.driver.browsing_context.create(type=type, user_context=self._context)
        self.go_to(tab)
        self.driver.get(url)
        return tab

    def go_to(self, tab):
        """Makes a tab the current one, which shows it in its window."""
        self.driver.switch_to.window(tab)

    @property
    def first(self):
        """The handle of the first tab."""
        return self._tab

    def hide(self, is_hidden=True):
        """Has the current page believe that it is hidden, or shown again."""
        self.run("""
            const [hidden] = arguments;
            const visibilityState = hidden ? "hidden" : "visible";
            for (const [name, value] of Object.entries({hidden, visibilityState}))
                Object.defineProperty(document, name, {value, configurable: true});
            document.dispatchEvent(new Event("visibilitychange", {bubbles: true}))""", is_hidden)

    def close(self):
        """Closes the tabs and everything that belongs to them."""
        self.driver.browser.remove_user_context(self._context)
        self.driver.switch_to.window(self._start)

    # Looking.

    def open(self, url):
        self.driver.get(url)
        return self

    def run(self, script, *arguments):
        """Runs JavaScript in the page and hands back what it returns; a promise is awaited."""
        return self.driver.execute_script(script, *arguments)

    def until(self, condition, timeout=PATIENCE, told=""):
        """Waits until condition() is true and returns it. An element that vanishes meanwhile counts as not there yet."""
        def look(_):
            try:
                return condition()
            except WebDriverException:
                return False
        return WebDriverWait(self.driver, timeout, poll_frequency=0.03).until(look, told)

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css):
        """The first element that matches, once there is one that is shown."""
        return self.until(lambda: next((found for found in self.all(css) if found.is_displayed()), None), told=css)

    def shot(self, name):
        """Keeps a screenshot under this name."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(SCREENSHOTS / f"{re.sub('[^a-zA-Z0-9_.-]+', '-', name)}.png"))

    # How the page is shown.

    def before_scripts(self, script):
        """Runs JavaScript in each page that the current tab opens from now on, before its own scripts."""
        self._cdp("Page.addScriptToEvaluateOnNewDocument", source=script)

    def size(self, width, height, phone=False):
        self._cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)

    def prefers(self, **features):
        """What the reader prefers: prefers(color_scheme="dark", reduced_motion="reduce")."""
        features = [{"name": f"prefers-{name.replace('_', '-')}", "value": value} for name, value in features.items()]
        self._cdp("Emulation.setEmulatedMedia", features=features)

    def overflow(self, css="html"):
        """By how many CSS pixels the content of an element is wider than the element; of the page without one."""
        return self.run("""
            const element = document.querySelector(arguments[0]);
            return element.scrollWidth - element.clientWidth""", css)

    def is_in_sight(self, css):
        """Whether the first such element lies inside the window as a whole."""
        return self.run("""
            const {left, top, right, bottom} = document.querySelector(arguments[0]).getBoundingClientRect();
            return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && right > left""", css)

    # Errors and violations.

    def expect(self, pattern):
        """Allows console entries that match; a test that expects none allows none."""
        self._expected.append(re.compile(pattern))

    def complaints(self):
        """The errors on the console so far that no one expected."""
        self.console += self.driver.get_log("browser")
        return [entry["message"] for entry in self.console
                if entry["level"] == "SEVERE" and not any(known.search(entry["message"]) for known in self._expected)]

    def barriers(self):
        """The violations of accessibility that axe finds, a line for each rule."""
        violations = Axe().run(self.driver, options={"resultTypes": ["violations"]})["violations"]
        return [f"{rule['id']}: {len(rule['nodes'])} as {rule['nodes'][0]['html'][:200]}: {rule['nodes'][0]['failureSummary']}"
                for rule in violations]

    def _cdp(self, method, **parameters):
        return self.driver.execute_cdp_cmd(method, parameters)
