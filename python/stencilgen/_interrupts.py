"""Interrupts while the library calls back: ctypes drops what a signal's handler raises as a callback begins."""

from __future__ import annotations

import signal
import threading
from typing import Any


class Interrupts:
    """While it is entered, the handler of SIGINT only makes a note, which callbacks look at; the one that was there before
    is called at the end. It does nothing on threads that take no signals."""

    def __init__(self) -> None:
        self.interrupted = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        self.interrupted = False
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._before = signal.signal(signal.SIGINT, self.note)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._before is not None:
            before, self._before = self._before, None
            signal.signal(signal.SIGINT, before)
            if self.interrupted:
                signal.raise_signal(signal.SIGINT)

    def note(self, *_: Any) -> None:
        self.interrupted = True
