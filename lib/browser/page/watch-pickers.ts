import type { CDPSession } from "playwright";
import type { ListenerGuard } from "../process/listener-guard.ts";

/**
 * Calls `onPicker` when a script of a page asks for a file or folder (`showOpenFilePicker`, `showSaveFilePicker`,
 * `showDirectoryPicker`). A browser without a window cannot show such a dialog, and tells the script that the person has
 * cancelled it. Dialogs of `<input type=file>` are not reported: nothing depends on them, because files are set on the
 * element.
 */
export async function watchPickers(
  cdp: CDPSession,
  guard: ListenerGuard,
  onPicker: () => void,
): Promise<void> {
  cdp.on(
    "Page.fileChooserOpened",
    guard(({ backendNodeId }: { backendNodeId?: number }) => {
      if (backendNodeId === undefined) onPicker();
    }),
  );
  // Only with interception does DevTools report these dialogs.
  await cdp.send("Page.setInterceptFileChooserDialog", { enabled: true });
}
