import { useEffect, useRef, useState } from "react";
import type { HostCommand } from "#lib/client/frame-messages.ts";
import { createHostLink, type HostLink } from "#lib/page/frame/host-link.ts";

/** Sets what handles the commands of the host page; null for nothing. */
export type CommandListener = (listener: ((command: HostCommand) => void) | null) => void;

const NOT_SHOWN = "the frame does not show the session at this moment";

/**
 * Opens the link to the host page and says hello. Null until the page is there; its `link` is undefined if the page is
 * not in a frame.
 */
export function useHostLink(): { link: HostLink | undefined; onCommand: CommandListener } | null {
  const listener = useRef<((command: HostCommand) => void) | null>(null);
  const [host, setHost] = useState<ReturnType<typeof useHostLink>>(null);
  useEffect(() => {
    const isFramed = window.parent !== window;
    const link = isFramed ? createHostLink(window, run) : undefined;
    function run(command: HostCommand): void {
      if (listener.current) listener.current(command);
      else link?.post({ type: "result", id: command.id, isDone: false, error: NOT_SHOWN });
    }
    const onCommand: CommandListener = (next) => {
      listener.current = next;
    };
    setHost({ link, onCommand });
    link?.postNotice({ type: "hello" });
    return () => link?.close();
  }, []);
  return host;
}
