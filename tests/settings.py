"""The settings under test: those of the product on a folder of their own.

Nothing of the person who runs the tests takes part: no `.env`, no `./data`, no key. Only the live
tests, asked for by KBQA_RUN_LIVE_TESTS=1, see the real environment. A process that a test starts
inherits the folder, or gets one from its test.
"""

import atexit
import os
import shutil
import tempfile

ISOLATED = "TESTS_ISOLATED"

if ISOLATED not in os.environ:
    os.environ[ISOLATED] = "1"
    if os.environ.get("KBQA_RUN_LIVE_TESTS", "0") in {"", "0"}:
        os.environ["KBQA_ENV_FILE"] = ""
        for name in [n for n in os.environ if n.startswith(("KBQA_", "LANGSMITH_", "LANGCHAIN_"))]:
            if name != "KBQA_ENV_FILE":
                del os.environ[name]
    os.environ["KBQA_DATA_DIR"] = tempfile.mkdtemp(prefix="kbqa-tests-")
    atexit.register(shutil.rmtree, os.environ["KBQA_DATA_DIR"], ignore_errors=True)

from kbqa_project.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
