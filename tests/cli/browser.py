# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that is started once and opens many pages, by the protocol of its developer tools over two pipes."""

import base64
import fcntl
import json
import os
import re
import select
import subprocess
import time

SECONDS = 180  # for an answer
NETWORK = re.compile(r"(https?|wss?|ftp):")


def requests_of(log):
    """The URLs that pages asked for, by the log that the browser wrote of its network."""
    with open(log, encoding="utf-8") as file:
        text = file.read()
    try:
        events = json.loads(text)["events"]
    except json.JSONDecodeError:  # the browser ended before it closed the list
        events = json.loads(text.rstrip().rstrip(",") + "]}")["events"]
    found = [event.get("params", {}) for event in events]
    # What the browser asks for of its own accord is of no origin.
    return {one["url"] for one in found
            if one.get("initiator", "not an origin") != "not an origin" and NETWORK.match(one.get("url", ""))}


class Browser:
    def __init__(self, program, folder):
        """`folder`: for its profile, and for net.json, the log of its network."""
        self.log = os.path.join(folder, "net.json")
        self.number = 0
        self.events = []
        self.buffer = b""
        self.reading, their_writing = self.pipe()
        their_reading, writing = self.pipe()
        self.writing = os.fdopen(writing, "wb")
        self.messages = open(os.path.join(folder, "messages"), "wb")
        # Names are resolved to nothing: there is no network to reach. Chromium reads from descriptor 3, and writes to 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{their_reading} 4>&{their_writing}', "bash", program, "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars",
             f"--user-data-dir={os.path.join(folder, 'profile')}", f"--log-net-log={self.log}", "--remote-debugging-pipe"],
            env={**os.environ, "HOME": folder}, stdin=subprocess.DEVNULL, stdout=self.messages, stderr=self.messages,
            pass_fds=(their_reading, their_writing))
        os.close(their_reading)
        os.close(their_writing)

    @staticmethod
    def pipe():
        """Both ends, neither of which is one of the descriptors that Chromium is given."""
        ends = os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
        for end in ends:
            os.close(end)
        return high

    def receive(self):
        """The next message, each of which ends with NUL."""
        until = time.monotonic() + SECONDS
        while b"\0" not in self.buffer:
            if not select.select([self.reading], [], [], max(0, until - time.monotonic()))[0]:
                raise AssertionError(f"the browser did not answer within {SECONDS} s")
            part = os.read(self.reading, 1 << 20)
            if not part:
                raise AssertionError("the browser ended")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def command(self, method, session=None, **parameters):
        self.number += 1
        text = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        self.writing.write(json.dumps(text).encode() + b"\0")
        self.writing.flush()
        while True:
            message = self.receive()
            if message.get("id") != self.number:
                self.events.append(message)
                continue
            if "error" in message:
                raise AssertionError(f"{method}: {message['error']}")
            return message["result"]

    def close(self):
        """Ends the browser, so that its log is complete."""
        try:
            self.command("Browser.close")
            self.process.wait(SECONDS)
        finally:
            self.process.kill()
            self.process.wait()
            self.writing.close()
            os.close(self.reading)
            self.messages.close()


class Tab:
    """A page that the browser opened."""

    def __init__(self, browser, file, width=800, height=600, look="light"):
        self.browser = browser
        self.target = browser.command("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.command("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.command(domain + ".enable")
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": look}])
        browser.events.clear()
        opened = self.command("Page.navigate", url="file://" + file)
        assert "errorText" not in opened, opened
        while not any(self.named("Page.loadEventFired")):
            browser.events.append(browser.receive())
        self.dom = self.command("Runtime.evaluate", expression="document.documentElement.outerHTML")["result"]["value"]

    def command(self, method, **parameters):
        return self.browser.command(method, self.session, **parameters)

    def named(self, *names):
        """What the page's events of these names say."""
        return [event["params"] for event in self.browser.events
                if event.get("sessionId") == self.session and event["method"] in names]

    def messages(self):
        """What stands in its console: what a script writes, errors, and violations of a policy."""
        return [json.dumps(event) for event in
                self.named("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")]

    def requests(self):
        """The URLs in the network that it asked for."""
        found = [event["request"]["url"] for event in self.named("Network.requestWillBeSent")]
        found += [event["url"] for event in self.named("Network.webSocketCreated")]
        return {url for url in found if NETWORK.match(url)}

    def picture(self):
        return base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"])

    def close(self):
        self.browser.command("Target.closeTarget", targetId=self.target)
