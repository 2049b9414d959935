"""A JupyterHub for the course: each user has copies of their own, kept up to date.

As root, in an environment that every user may read:

    python -m pip install "jupyterhub>=6,<7" "minigrad-course[lab]"
    npm install --global configurable-http-proxy
    jupyterhub --config .github/jupyterhub_config.py

Who may log in is for you to say (c.Authenticator.allowed_users); tests/bootstrap/
test_hub.py runs this file with three local users.
"""

import asyncio
import pwd
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

c = get_config()  # noqa: F821

# The Python that has the course: the hub's own. With two environments, name the other.
PYTHON = Path(sys.executable)
COURSE = Path(find_spec("minigrad").origin).parent

c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = [str(PYTHON.with_name("jupyterhub-singleuser"))]
c.Spawner.notebook_dir = "~/minigrad"
c.Spawner.environment = {
    # The course's page config: no question about Jupyter's news over a lesson.
    "JUPYTER_CONFIG_PATH": str(COURSE / "course/notebook/jupyter"),
    # Small arrays: the threads of thirty users' BLAS would only wait for each other.
    "OPENBLAS_NUM_THREADS": "1",
}


async def lay_out_workspace(spawner):
    """Bring a user's copies up to date, as that user; what they changed stays."""
    user = pwd.getpwnam(spawner.user.name)
    home = Path(user.pw_dir)
    await asyncio.to_thread(
        subprocess.run,
        [PYTHON, "-m", "minigrad", "workspace", home / "minigrad"],
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=[],
        cwd="/",
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        check=True,
    )
    begun = (home / "minigrad/home.ipynb").is_file()
    first = "home.ipynb" if begun else "notebooks/00_start_here.ipynb"
    spawner.default_url = f"/lab/tree/{first}"


c.Spawner.pre_spawn_hook = lay_out_workspace
