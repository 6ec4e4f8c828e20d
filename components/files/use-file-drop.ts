"use client";

import { type ClipboardEvent, type DragEvent, useState } from "react";

/**
 * Returns the handlers of an element on which files can be dropped, and whether files are over it now. Text that is
 * dragged or pasted is left to the browser.
 */
export function useFileDrop(onFiles: (files: File[]) => void, isEnabled = true) {
  // Entering a child fires before the leave of its parent, so the enters are counted.
  const [depth, setDepth] = useState(0);
  const hasFiles = (event: DragEvent) => isEnabled && event.dataTransfer.types.includes("Files");
  return {
    isOver: depth > 0,
    dropProps: {
      onDragEnter(event: DragEvent) {
        if (hasFiles(event)) setDepth((count) => count + 1);
      },
      onDragLeave(event: DragEvent) {
        if (hasFiles(event)) setDepth((count) => Math.max(0, count - 1));
      },
      onDragOver(event: DragEvent) {
        if (hasFiles(event)) event.preventDefault();
      },
      onDrop(event: DragEvent) {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setDepth(0);
        onFiles([...event.dataTransfer.files]);
      },
    },
    onPaste(event: ClipboardEvent) {
      const files = [...event.clipboardData.files];
      // Office programs copy a text together with a picture of it.
      if (!isEnabled || files.length === 0 || event.clipboardData.types.includes("text/plain")) return;
      event.preventDefault();
      onFiles(files);
    },
  };
}
