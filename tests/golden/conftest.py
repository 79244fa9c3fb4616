"""Nothing in this folder is a test module. What lies in ``inputs`` and ``expected`` is data."""

collect_ignore_glob = ["*"]
