import type { FrameEnd } from "#lib/client/frame-messages.ts";
import type { Frame, FrameAccess } from "#lib/page/frame/frame-access.ts";
import type { HostLink } from "#lib/page/frame/host-link.ts";
import type { CommandListener } from "./use-host-link.ts";

type EmbedView = "live" | "conversation" | "both";

/** What a frame shows, and the access that it has. */
export type ShownFrame = {
  token: string;
  access: FrameAccess;
  frame: Frame;
  view: EmbedView;
  /** Resolves once the link to the host page passes messages, or never will. */
  allowed: Promise<boolean>;
};

export type EmbeddedSessionProps = ShownFrame & {
  /** The link to the host page; undefined if the page is not in a frame. */
  link: HostLink | undefined;
  onCommand: CommandListener;
  /** Called when the service refuses the live connection. */
  onEnd: (reason: FrameEnd) => void;
};

/**
 * Reads what the frame shows from the query of its address (`?view=`); by default `both`. A `liveViewUrl` shows only the
 * live view, and a session without a browser only the conversation.
 */
export function readEmbedView(query: string, { scope, snapshot }: Frame): EmbedView {
  if (scope === "live-view") return "live";
  if (!snapshot.session.hasBrowser) return "conversation";
  const view = new URLSearchParams(query).get("view");
  return view === "live" || view === "conversation" ? view : "both";
}
