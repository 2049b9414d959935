"""The example of a JupyterHub, with its proxy and three real users.

It needs root, a Python that all users may run, with ``jupyterhub>=6`` and the course
(``MINIGRAD_HUB`` names it), and the npm package configurable-http-proxy on the PATH:

    MINIGRAD_HUB=PYTHON python -m pytest -n 0 tests/bootstrap/test_hub.py
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from minigrad._bootstrap import ROOT

PYTHON = os.environ.get("MINIGRAD_HUB", "")
PROXY = shutil.which("configurable-http-proxy")
USERS = ("minigrad-ada", "minigrad-bob", "minigrad-cyd")
TOKEN = "of-the-test-alone"
LESSON = "notebooks/01_where_ctx_comes_from.ipynb"

pytestmark = pytest.mark.skipif(
    not (PYTHON and PROXY and os.name != "nt" and os.geteuid() == 0),
    reason="no hub: MINIGRAD_HUB, configurable-http-proxy and root are needed",
)

# Over the example: free ports, files in a folder of the test, and a token for all.
CONFIG = """
load_subconfig({example!r})
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{ports[1]}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.JupyterHub.db_url = "sqlite://"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allowed_users = {users!r}
c.JupyterHub.services = [dict(name="test", api_token={token!r})]
scopes = ["admin:users", "admin:servers", "access:servers"]
c.JupyterHub.load_roles = [dict(name="test", services=["test"], scopes=scopes)]
"""


@dataclass(frozen=True)
class Hub:
    """A running hub."""

    url: str

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """What the hub, or a user's server, answers."""
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read().decode()
        return json.loads(text) if text[:1] in ("{", "[") else text

    def start(self, user: str) -> None:
        """Start a user's server and wait until it serves."""
        self.ask("POST", f"/hub/api/users/{user}/server")
        wait(lambda: self.ask("GET", f"/hub/api/users/{user}")["server"])

    def stop(self, user: str) -> None:
        """Stop a user's server and wait until it is gone."""
        self.ask("DELETE", f"/hub/api/users/{user}/server")
        wait(lambda: not self.ask("GET", f"/hub/api/users/{user}")["servers"])


def wait(ready: Any) -> None:
    """Until something is so."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if ready():
                return
        except (OSError, urllib.error.HTTPError):
            pass
        time.sleep(0.1)
    pytest.fail("the hub took over a minute")


def free_ports(number: int) -> list[int]:
    """Ports that nothing listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@pytest.fixture(scope="module")
def users() -> Iterator[dict[str, Path]]:
    """Three local users, made for the test, and their home folders."""
    for name in USERS:
        subprocess.run(["useradd", "--create-home", name], check=True)
    yield {name: Path(f"~{name}").expanduser() for name in USERS}
    for name in USERS:
        subprocess.run(["userdel", "--remove", name], check=False, capture_output=True)


@pytest.fixture(scope="module")
def hub(
    users: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Hub]:
    folder = tmp_path_factory.mktemp("hub")
    ports = free_ports(3)
    config = CONFIG.format(
        example=str(ROOT / ".github/jupyterhub_config.py"),
        ports=ports,
        proxy=PROXY,
        users=set(users),
        token=TOKEN,
    )
    (folder / "config.py").write_text(config)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [PYTHON, "-m", "jupyterhub", "--config", "config.py"],
            cwd=folder,
            env=kept,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    running = Hub(f"http://127.0.0.1:{ports[0]}")
    try:
        wait(lambda: process.poll() or running.ask("GET", "/hub/api/"))
        assert process.poll() is None, (folder / "log").read_text()
        for name in users:
            running.start(name)
        yield running
        for name in users:
            running.stop(name)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


@pytest.mark.parametrize("name", USERS)
def test_user_has_copies_of_their_own(
    hub: Hub, users: dict[str, Path], name: str
) -> None:
    mine = users[name] / "minigrad" / LESSON
    assert mine.read_bytes() == (ROOT / LESSON).read_bytes()
    assert mine.owner() == name
    served = hub.ask("GET", f"/user/{name}/api/contents/{LESSON}?content=0")
    assert served["writable"]
    assert hub.ask("GET", f"/hub/api/users/{name}")["name"] == name


@pytest.mark.parametrize("name", USERS)
def test_lesson_runs_as_its_user_and_is_recorded(
    hub: Hub, users: dict[str, Path], name: str
) -> None:
    book = users[name] / "minigrad" / LESSON
    cells = json.loads(book.read_text("utf8"))["cells"]
    codes = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"][:3]
    program = "import getpass, minigrad as mg\nwith mg.record() as trace: (mg.tensor("
    program += "3.0, requires_grad=True) * 2).backward()\n"
    program += "print(getpass.getuser(), 'MulBackward0' in trace.to_markdown())"
    said = execute(hub, name, [*codes, program])
    assert said.endswith(f"{name} True\n"), said


def execute(hub: Hub, name: str, codes: list[str]) -> str:
    """What cells print in a kernel that a user's server starts for the lesson."""
    websocket = pytest.importorskip("websocket")
    body = {"path": LESSON, "type": "notebook", "name": "", "kernel": {"name": ""}}
    kernel = hub.ask("POST", f"/user/{name}/api/sessions", body)["kernel"]["id"]
    url = f"ws{hub.url[4:]}/user/{name}/api/kernels/{kernel}/channels"
    line = websocket.create_connection(
        url, header=[f"Authorization: token {TOKEN}"], timeout=60
    )
    printed = ""
    for number, code in enumerate(codes):
        header = {"msg_id": str(number), "msg_type": "execute_request"}
        header |= {"username": "", "session": "s", "version": "5.3"}
        content = {"code": code, "silent": False, "allow_stdin": False}
        asked = {"header": header, "parent_header": {}, "metadata": {}}
        line.send(json.dumps({**asked, "channel": "shell", "content": content}))
        replied = idle = False
        while not (replied and idle):
            message = json.loads(line.recv())
            if message["parent_header"].get("msg_id") != str(number):
                continue
            content, kind = message["content"], message["msg_type"]
            if kind == "stream":
                printed += content["text"]
            idle |= kind == "status" and content["execution_state"] == "idle"
            if kind == "execute_reply":
                replied = True
                assert content["status"] == "ok", content
    line.close()
    return printed


def test_page_config_of_the_course_holds_for_all(hub: Hub) -> None:
    page = hub.ask("GET", f"/user/{USERS[0]}/lab")
    disabled = page.partition('"disabledExtensions": ')[2][:300]
    assert "@jupyterlab/apputils-extension:announcements" in disabled


def test_work_stays_over_a_new_start_which_opens_home(
    hub: Hub, users: dict[str, Path]
) -> None:
    name = USERS[2]
    home = users[name] / "minigrad"
    assert execute(hub, name, ["open('../progress.jsonl', 'a').close()"]) == ""
    (home / LESSON).write_text("the learner's")
    hub.stop(name)
    hub.start(name)
    assert (home / LESSON).read_text() == "the learner's"
    assert (home / "home.ipynb").owner() == name
