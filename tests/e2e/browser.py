# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by its own protocol with Python's standard library alone."""
import atexit
import base64
import json
import os
import pathlib
import shutil
import subprocess
import time
import urllib.request

import web_client


def find():
    """The program, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    def __init__(self, folder, width=1280, height=800, dark=False):
        os.makedirs(folder, exist_ok=True)
        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
             "--remote-debugging-port=0", "--remote-allow-origins=*", f"--user-data-dir={folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.process.kill)  # where a check fails
        place = pathlib.Path(folder, "DevToolsActivePort")
        self.wait(lambda: place.exists() and len(place.read_text().split()) == 2)
        self.port = int(place.read_text().split()[0])
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/json/list", timeout=60) as answer:
            target = next(one for one in json.load(answer) if one["type"] == "page")
        path = target["webSocketDebuggerUrl"].split(f":{self.port}")[1]
        self.socket = web_client.WebSocket(self.port, path, [("Host", "127.0.0.1:{port}")])
        self.number = 0
        self.troubles = []  # errors on the console and exceptions
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    @staticmethod
    def wait(condition, seconds=120):
        until = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > until:
                raise TimeoutError("the browser does not come to it")
            time.sleep(0.05)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def call(self, method, **parameters):
        self.number += 1
        number = self.number
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            told = json.loads(self.socket.message())
            if told.get("id") == number:
                if "error" in told:
                    raise RuntimeError(told["error"])
                return told["result"]
            self.note(told)

    def note(self, told):
        method, parameters = told.get("method"), told.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.troubles.append(json.dumps(parameters["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.troubles.append(json.dumps(parameters["args"])[:500])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.troubles.append(json.dumps(parameters["entry"])[:500])

    def open(self, address):
        self.call("Page.navigate", url=address)

    def value(self, expression):
        """Of JavaScript in the page, as JSON has it."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise RuntimeError(json.dumps(told["exceptionDetails"])[:500])
        return told["result"].get("value")

    def until(self, expression, seconds=120):
        def holds():
            try:
                return self.value(expression)
            except RuntimeError:
                return False  # the page is not there yet
        self.wait(holds, seconds)

    def key(self, key, code=None):
        text = key if len(key) == 1 else None
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key,
                      **({"text": text} if text and kind == "keyDown" else {}))

    def click(self, selector):
        x, y = self.value(f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                          " return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        self.click_at(x, y)

    def click_at(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def wheel(self, x, y, down):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=down)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(60)
