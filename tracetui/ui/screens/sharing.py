"""What leaves the program: text for the clipboard, views and reports as files."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from textual import work
from textual.message import Message

from tracetui.compare.comparison import Comparison
from tracetui.model.trace import Trace
from tracetui.ui.screens.frame import FrameScreen
from tracetui.ui.views.compare import CompareView
from tracetui.ui.written import written

Exporter: TypeAlias = Callable[[Trace, str, str], dict[str, bytes]]
"""Makes files of a trace, a view's title and its text; what it returns goes by file suffix."""
ComparisonExporter: TypeAlias = Callable[[Comparison, Sequence[str]], dict[str, bytes]]
"""Makes files of a comparison and the notes on it."""

_SENT: Final = "sent to the clipboard"
_MORE: Final = "; y again: only this row; Y writes a file"


class SharingScreen(FrameScreen):
    """A frame whose user copies and exports what is shown."""

    @dataclass
    class Said(Message):
        """A thread has something to say."""

        text: str

    def action_copy(self) -> None:
        """Copy the view as text; pressed again while it says so, what the cursor is on."""
        is_again = self._said.startswith(_SENT) and self._said.endswith(_MORE)
        row = self.view.copied_row()
        text = row if is_again else self.view.copied_text()
        if not text:
            self._tell("nothing to copy here")
            return
        self.app.copy_to_clipboard(text)
        if os.environ.get("TMUX"):
            self._copy_in_tmux(text)
        if is_again:
            self._tell(f"{_SENT}: what the cursor is on")
            return
        more = _MORE if row else "; Y writes them to a file"
        self._tell(f"{_SENT}: {len(text.splitlines())} lines{more}")

    @work(thread=True, group="copy")
    def _copy_in_tmux(self, text: str) -> None:
        tmux = shutil.which("tmux")
        if tmux is not None:
            subprocess.run(
                [tmux, "load-buffer", "-w", "-"], input=text.encode(), check=False, timeout=5
            )

    def action_write(self) -> None:
        """Write the view as text to a new file in this folder."""
        text = self.view.copied_text()
        if not text:
            self._tell("nothing to write here")
            return
        self._tell(written(self._stem(self.document.view), {".txt": f"{text}\n".encode()}))

    def _stem(self, what: str) -> str:
        return f"tracetui-{Path(self.document.path).name.split('.')[0]}-{what}"

    def action_export(self) -> None:
        """Write a report of the trace, with this view, to new files in this folder."""
        workspace = self.document.workspace
        if self._export_comparison():
            return
        export = getattr(self.app, "export", None)
        if workspace is None or export is None:
            self._tell("nothing to export here")
            return
        self._tell("writing the report …")
        title, text = self.view.title_text, self.view.copied_text()
        self._export(export, workspace.trace, title, text, self._stem("report"))

    def _export_comparison(self) -> bool:
        """Write what the comparison's view shows; say whether that view is shown."""
        view = self.view
        export: ComparisonExporter | None = getattr(self.app, "export_comparison", None)
        if not isinstance(view, CompareView) or view.comparison is None or export is None:
            return False
        self._tell("writing the comparison …")
        self._export_pair(export, view.comparison, view.notes_in_words(), self._stem("compare"))
        return True

    @work(thread=True, group="export", exclusive=True)
    def _export_pair(
        self, export: ComparisonExporter, compared: Comparison, notes: Sequence[str], stem: str
    ) -> None:
        self.post_message(self.Said(written(stem, export(compared, notes))))

    @work(thread=True, group="export", exclusive=True)
    def _export(self, export: Exporter, trace: Trace, title: str, text: str, stem: str) -> None:
        said = written(stem, export(trace, title, text))
        self.post_message(self.Said(said))

    def on_sharing_screen_said(self, message: Said) -> None:
        """Say what a thread has done."""
        self._tell(message.text)
