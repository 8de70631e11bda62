"""The settings under test: those of the product on a folder of their own.

Nothing of the person who runs the tests takes part: no `.env`, no `./data`, no key. What the
person had configured is kept in `PERSON`, for the live tests alone. A process that a test starts
inherits the folder, or gets one from its test.
"""

import atexit
import os
import shutil
import tempfile

from dotenv import dotenv_values

from kbqa_project.env import BASE_DIR, ENV_FILE_VARIABLE

ISOLATED = "TESTS_ISOLATED"
OURS = ("KBQA_", "LANGSMITH_", "LANGCHAIN_")
PERSON: dict[str, str] = {}

if ISOLATED not in os.environ:
    os.environ[ISOLATED] = "1"
    file = os.environ.get(ENV_FILE_VARIABLE, BASE_DIR / ".env")
    given = {**(dotenv_values(file) if file else {}), **os.environ}
    PERSON.update(
        (name, value) for name, value in given.items() if value and name.startswith(OURS)
    )
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ[ENV_FILE_VARIABLE] = ""
    os.environ["KBQA_DATA_DIR"] = tempfile.mkdtemp(prefix="kbqa-tests-")
    atexit.register(shutil.rmtree, os.environ["KBQA_DATA_DIR"], ignore_errors=True)

from kbqa_project.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
