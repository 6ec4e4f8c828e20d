import type { CDPSession } from "playwright";
import type { Devtools, DevtoolsConnection } from "../../process/devtools-connection.ts";

/** Sends a DevTools command to a page, or to a frame that has a process of its own. */
export type SendCommand = CDPSession["send"];

/** DevTools sessions of frames that do not share their page's process, for example frames of other sites. */
export type FrameSessions = {
  /** Returns the session of a frame, by the frame's id. Undefined if the frame has none of its own. */
  open: (frameId: string) => Promise<SendCommand | undefined>;
  /** Ends all sessions. A later `open` works all the same. */
  close: () => void;
};

const CONNECT_MS_MAX = 5_000;
/** How many frames of one page can have a session. Chromium allows 1,000 frames in a page. */
const SESSIONS_MAX = 50;

/** @see FrameSessions */
export function createFrameSessions(openDevtools: Devtools["open"]): FrameSessions {
  let connecting: Promise<DevtoolsConnection> | undefined;
  const sessions = new Map<string, Promise<SendCommand | undefined>>();
  /** Frame ids by session id. */
  const frameIds = new Map<unknown, string>();

  const forget = () => {
    connecting = undefined;
    sessions.clear();
    frameIds.clear();
  };
  /** A frame that is removed or moves to another process loses its session. */
  function onDetached(sessionId: unknown): void {
    const frameId = frameIds.get(sessionId);
    frameIds.delete(sessionId);
    if (frameId !== undefined) sessions.delete(frameId);
  }
  function connect(): Promise<DevtoolsConnection> {
    const own = openDevtools(CONNECT_MS_MAX, {
      onEvent({ method, params }) {
        if (method === "Target.detachedFromTarget") onDetached(params?.sessionId);
      },
      onClose() {
        if (connecting === own) forget();
      },
    });
    connecting = own;
    own.catch(forget);
    return own;
  }
  async function attach(targetId: string): Promise<SendCommand | undefined> {
    const connection = await (connecting ?? connect());
    const attached = await connection
      .ask("Target.attachToTarget", { targetId, flatten: true })
      .catch(() => undefined);
    if (typeof attached?.sessionId !== "string") return undefined;
    const { sessionId } = attached;
    frameIds.set(sessionId, targetId);
    const ask = (method: string, params: object = {}) =>
      new Promise<unknown>((resolve, reject) => {
        connection.send({ method, params: { ...params }, sessionId }, ({ error, result }) =>
          error ? reject(new Error(error.message)) : resolve(result ?? {}),
        );
      });
    // The cast is safe, because Playwright's sessions also pass on DevTools' answers as they are.
    const send = ask as SendCommand;
    await send("DOM.enable");
    return send;
  }

  return {
    open(frameId) {
      const known = sessions.get(frameId);
      if (known || sessions.size >= SESSIONS_MAX) return known ?? Promise.resolve(undefined);
      const opening = attach(frameId);
      sessions.set(frameId, opening);
      const drop = () => sessions.get(frameId) === opening && sessions.delete(frameId);
      // A frame without a session may get one later, when it shows a document of another site.
      opening.then((send) => send ?? drop(), drop);
      return opening;
    },
    close() {
      const ending = connecting;
      forget();
      ending?.then(
        (connection) => connection.terminate(),
        () => {},
      );
    },
  };
}
