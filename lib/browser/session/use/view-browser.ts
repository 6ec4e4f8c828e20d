import type { BrowserInput, ViewListeners } from "../../browser-service.ts";
import { isStarting, runningIn } from "../lifecycle/lifecycle-state.ts";
import { open } from "./provide-browser.ts";
import { noteUseEnded, type Session, touch } from "./session-state.ts";

/** @see BrowserService.watch */
export function watch(session: Session, { onFrame, onPointer }: ViewListeners): () => void {
  const { deps, cast, usage } = session;
  usage.usedAtMs = deps.nowMs();
  const unwatch = cast.watch(onFrame);
  if (onPointer) usage.pointerListeners.add(onPointer);
  provisionForViewer(session).catch((error) =>
    deps.logger.debug({ sessionId: deps.sessionId, err: error }, "no browser was started for a viewer"),
  );
  return () => {
    if (onPointer) usage.pointerListeners.delete(onPointer);
    unwatch();
    noteUseEnded(session);
  };
}

/** Starts a browser for a viewer if none runs and `mayStartForViewer` allows it. */
async function provisionForViewer({ deps, life }: Session): Promise<void> {
  if (runningIn(life.state()) || isStarting(life.state())) return;
  if (await deps.mayStartForViewer()) await life.provision();
}

/** @see BrowserService.input */
export async function passInput(session: Session, input: BrowserInput): Promise<void> {
  const { deps, life, usage } = session;
  const isMove = input.type === "mouse" && input.action === "move";
  if (isMove) usage.usedAtMs = deps.nowMs();
  else touch(session);
  if (!runningIn(life.state())) {
    const state = life.state();
    // The input is dropped, because the session may get a place only minutes later. The browser may then show another
    // page than the page that the person saw.
    if (state.kind === "starting" && state.start.isWaiting()) return;
    if ((await open(session)).state !== "ready") return;
    await runningIn(life.state())?.landing;
  }
  const running = runningIn(life.state());
  if (!isMove) running?.browser.siteData.saveSoon();
  await running?.inputQueue?.push(input);
}
