"use client";

import { useEffect, useState } from "react";
import type { FrameEnd } from "#lib/client/frame-messages.ts";
import { awaitHost } from "#lib/page/frame/await-host.ts";
import { createFrameAccess, readFragmentToken, readFrame } from "#lib/page/frame/frame-access.ts";
import type { HostLink } from "#lib/page/frame/host-link.ts";
import { Button } from "../ui/button.tsx";
import { EmbedNote } from "./embed-note.tsx";
import { EmbeddedSession } from "./embedded-session.tsx";
import { readEmbedView, type ShownFrame } from "./shown-frame.ts";
import { useHostLink } from "./use-host-link.ts";

/**
 * What the page shows. `waiting` is for a host page that has not said hello, in a browser that does not state its origin;
 * `unreached` can be tried again; `ended` lasts until the address has another token.
 */
type Stage =
  | { name: "loading" }
  | { name: "waiting" }
  | { name: "unreached"; problem: string }
  | ({ name: "shown" } & ShownFrame)
  | { name: "ended"; reason: FrameEnd };

const SENTENCES: Record<FrameEnd, string> = {
  unauthorized: "The link is wrong, was revoked, or has expired.",
  forbidden: "This link may not be shown on this site.",
  "not found": "The session was removed.",
};

/** Shows a session in a frame, with the token from the fragment of the page's address. */
export function EmbedPage({ sessionId }: { sessionId: string }) {
  const host = useHostLink();
  const [stage, setStage] = useState<Stage>({ name: "loading" });
  const [attempt, setAttempt] = useState(0);
  useTheme();
  // The host page gives the frame a new token by changing the fragment.
  useEffect(() => {
    const reload = () => setAttempt((count) => count + 1);
    window.addEventListener("hashchange", reload);
    return () => window.removeEventListener("hashchange", reload);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt loads again
  useEffect(() => {
    if (!host) return;
    let isCurrent = true;
    setStage({ name: "loading" });
    const show = (next: Stage) => isCurrent && setStage(next);
    void load(sessionId, host.link, () => show({ name: "waiting" })).then(show);
    return () => {
      isCurrent = false;
    };
  }, [sessionId, host, attempt]);
  const reason = stage.name === "ended" ? stage.reason : null;
  useEffect(() => {
    if (reason) host?.link?.postNotice({ type: "ended", reason });
  }, [reason, host]);

  if (stage.name === "loading" || !host) return <EmbedNote title="Loading" />;
  if (stage.name === "waiting")
    return (
      <EmbedNote
        title="Waiting for the page around this frame"
        detail="This link may be shown on certain sites only, and this browser does not say which site this is. The page around the frame has to say hello, as mountSession does."
      />
    );
  if (stage.name === "unreached")
    return (
      <EmbedNote title="The session could not be loaded" detail={stage.problem}>
        <Button size="sm" onClick={() => setAttempt(attempt + 1)}>
          Try again
        </Button>
      </EmbedNote>
    );
  if (stage.name === "ended") return <EmbedNote title="Nothing to show" detail={SENTENCES[stage.reason]} />;
  return (
    <EmbeddedSession
      key={stage.token}
      {...stage}
      link={host.link}
      onCommand={host.onCommand}
      onEnd={(ended) => setStage({ name: "ended", reason: ended })}
    />
  );
}

/**
 * Loads what the frame shows, and checks that the pages around it may show it.
 *
 * @param onLate is called if the check waits long for the host page.
 */
async function load(sessionId: string, link: HostLink | undefined, onLate: () => void): Promise<Stage> {
  const token = readFragmentToken(location.hash);
  if (token === undefined) return { name: "ended", reason: "unauthorized" };
  const access = createFrameAccess(token);
  const outcome = await readFrame(access, sessionId);
  if (!outcome.isDone)
    return [401, 403, 404].includes(outcome.status)
      ? { name: "ended", reason: "unauthorized" }
      : { name: "unreached", problem: outcome.error };
  const frame = outcome.answer;
  const allowed = link?.allow(frame.linkOrigins ?? frame.origins) ?? Promise.resolve(true);
  // The response of this page allows only the service's own list of origins. The check of a link's shorter list must
  // come before the session is shown.
  if (frame.linkOrigins && !(await awaitHost(allowed, onLate))) return { name: "ended", reason: "forbidden" };
  const view = readEmbedView(location.search, frame);
  return { name: "shown", token, access, frame, view, allowed };
}

/** Applies the theme of the address, because a frame has no cookie for it. */
function useTheme(): void {
  useEffect(() => {
    const theme = new URLSearchParams(location.search).get("theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  }, []);
}
