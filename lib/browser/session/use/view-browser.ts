import type {
  BrowserInput,
  CopiedContent,
  InputGate,
  PastedItem,
  ViewListeners,
} from "../../browser-service.ts";
import { type ActionOutcome, NOT_RUNNING, type StageAction } from "../../stage/stage-state.ts";
import { isStarting, runningIn } from "../lifecycle/lifecycle-state.ts";
import { open } from "./provide-browser.ts";
import { noteUseEnded, type Session, touch } from "./session-state.ts";

/** @see BrowserService.watch */
export function watch(session: Session, { onFrame, onPointer, onStage }: ViewListeners): () => void {
  const { deps, cast, stage, usage } = session;
  usage.usedAtMs = deps.nowMs();
  const unwatch = cast.watch(onFrame);
  if (onPointer) usage.pointerListeners.add(onPointer);
  const unwatchStage = onStage && stage.watch(onStage);
  provisionForViewer(session).catch((error) =>
    deps.logger.debug({ sessionId: deps.sessionId, err: error }, "no browser was started for a viewer"),
  );
  return () => {
    if (onPointer) usage.pointerListeners.delete(onPointer);
    unwatch();
    unwatchStage?.();
    noteUseEnded(session);
  };
}

/** Starts a browser for a viewer if none runs and `mayStartForViewer` allows it. */
async function provisionForViewer({ deps, life }: Session): Promise<void> {
  if (runningIn(life.state()) || isStarting(life.state())) return;
  if (await deps.mayStartForViewer()) await life.provision();
}

/** @see HostBrowsers.act */
export async function act(session: Session, action: StageAction): Promise<ActionOutcome> {
  touch(session);
  const outcome = await session.stage.act(action);
  noteUseEnded(session);
  return outcome;
}

/** @see HostBrowsers.input */
export async function passInput(session: Session, input: BrowserInput, mayPass?: InputGate): Promise<void> {
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
  await running?.inputQueue?.push(input, mayPass);
}

/** @see HostBrowsers.copy */
export async function copy(
  session: Session,
  action: "copy" | "cut",
  mayPass?: InputGate,
): Promise<CopiedContent | null> {
  const clipboard = runningIn(session.life.state())?.clipboard;
  if (!clipboard) return null;
  touch(session);
  return clipboard.copy(action, mayPass);
}

/** @see HostBrowsers.paste */
export async function paste(
  session: Session,
  items: readonly PastedItem[],
  mayPass?: InputGate,
): Promise<ActionOutcome> {
  const running = runningIn(session.life.state());
  if (!running?.clipboard) return NOT_RUNNING;
  touch(session);
  running.browser.siteData.saveSoon();
  return running.clipboard.paste(items, mayPass);
}
