"""Which modules of the standard library the demonstration reads."""

from __future__ import annotations

__all__ = ["MODULES"]

_LISTED = """
abc argparse array ast asyncio asyncio.events asyncio.locks asyncio.queues asyncio.streams asyncio.tasks
base64 binascii bisect builtins bz2
calendar cmath cmd code codecs collections collections.abc colorsys concurrent.futures
concurrent.futures.process concurrent.futures.thread configparser contextlib contextvars copy copyreg csv
ctypes
dataclasses datetime decimal difflib dis
email email.charset email.header email.headerregistry email.message email.mime.text email.parser
email.policy email.utils enum errno
fileinput filecmp fnmatch fractions ftplib functools
gc getopt getpass gettext glob graphlib gzip
hashlib heapq hmac html html.parser http http.client http.cookiejar http.cookies http.server
imaplib importlib importlib.abc importlib.machinery importlib.metadata importlib.resources importlib.util
inspect io ipaddress itertools
json json.decoder json.encoder
keyword linecache locale logging logging.config logging.handlers lzma
mailbox marshal math mimetypes modulefinder multiprocessing multiprocessing.connection
multiprocessing.managers multiprocessing.pool multiprocessing.shared_memory
netrc numbers
opcode operator optparse os os.path
pathlib pdb pickle pickletools pkgutil platform plistlib poplib pprint profile pstats py_compile pydoc
queue quopri
random re reprlib runpy
sched secrets select selectors shelve shlex shutil signal smtplib socket socketserver sqlite3 ssl stat
statistics string stringprep struct subprocess symtable sys sysconfig
tarfile tempfile textwrap threading time timeit token tokenize trace traceback tracemalloc types typing
unicodedata unittest unittest.async_case unittest.case unittest.loader unittest.main unittest.mock
unittest.result unittest.runner unittest.signals unittest.suite urllib.error urllib.parse urllib.request
urllib.response urllib.robotparser uuid
venv
warnings wave weakref webbrowser wsgiref.handlers wsgiref.headers wsgiref.simple_server wsgiref.util
wsgiref.validate
xml.dom xml.dom.minidom xml.dom.pulldom xml.etree.ElementTree xml.sax xml.sax.handler xml.sax.saxutils
xml.sax.xmlreader xmlrpc.client xmlrpc.server
zipapp zipfile zipimport zlib zoneinfo
"""

MODULES = tuple(_LISTED.split())
"""Modules that can be imported without opening, printing or warning; those that deprecate are left out.

A Python built without one of them (`sqlite3`, `ssl`, …) has a smaller collection.
"""
