import type { IsolatedWorld } from "#lib/injected/call-injected.ts";
import type { Devtools, DevtoolsConnection, DevtoolsMessage } from "../process/devtools-connection.ts";
import type { StorageKey } from "./storage-key.ts";

/**
 * A page that neither people nor the agent see. It shows empty documents of any origin, which come from the service and
 * not from the network, and which have the storage of that origin.
 */
export type HiddenPage = {
  /** Opens an empty document with this storage. @returns an isolated world of the document. */
  visit: (key: StorageKey) => Promise<IsolatedWorld>;
  close: () => void;
};

const CONNECT_MS_MAX = 10_000;
const WORLD = "site data";

type Params = Record<string, unknown>;
type Frame = { id: string; url: string };
type FrameTree = { frame: Frame; childFrames?: FrameTree[] };

/** Opens a hidden page in a context of a browser. @throws Error if the browser does not answer or has no such pages. */
export async function openHiddenPage(devtools: Devtools, browserContextId: string): Promise<HiddenPage> {
  const { createHidden } = devtools;
  if (!createHidden) throw new Error("this browser has no hidden pages");
  /** The sessions of the page and of its frames that have a process of their own. */
  const sessions = new Set<string>();
  let bodies = new Map<string, string>();
  let loaded = Promise.withResolvers<void>();

  const connection = await devtools.open(CONNECT_MS_MAX, {
    onEvent,
    onClose: () => loaded.reject(new Error("the hidden page was closed")),
  });
  loaded.promise.catch(() => {});

  function onEvent({ method, params = {}, sessionId = "" }: DevtoolsMessage): void {
    if (method === "Page.loadEventFired" && sessionId === pageSession) loaded.resolve();
    if (method === "Fetch.requestPaused") answer(sessionId, params);
    if (method === "Target.attachedToTarget" && sessions.size > 0)
      void prepare(String(params.sessionId)).catch(() => {});
    if (method === "Target.detachedFromTarget") sessions.delete(String(params.sessionId));
  }
  function answer(sessionId: string, { requestId, request }: Params): void {
    const body = bodies.get((request as { url: string }).url);
    const fulfilled = {
      requestId,
      responseCode: body === undefined ? 404 : 200,
      responseHeaders: [{ name: "content-type", value: "text/html; charset=utf-8" }],
      body: Buffer.from(body ?? "").toString("base64"),
    };
    void send(connection, sessionId, "Fetch.fulfillRequest", fulfilled).catch(() => {});
  }
  async function prepare(sessionId: string): Promise<void> {
    sessions.add(sessionId);
    const commands: [string, Params][] = [
      ["Page.enable", {}],
      ["Fetch.enable", { patterns: [{ urlPattern: "*" }] }],
      ["Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }],
      ["Runtime.runIfWaitingForDebugger", {}],
    ];
    await Promise.all(commands.map(([method, params]) => send(connection, sessionId, method, params)));
  }
  /** Finds the frame that shows an address. Each frame with a process of its own has a session of its own. */
  async function findFrame(url: string): Promise<{ sessionId: string; frameId: string }> {
    for (const sessionId of sessions) {
      const tree = await send(connection, sessionId, "Page.getFrameTree").catch(() => undefined);
      const frame = tree && listFrames(tree.frameTree as FrameTree).find((each) => each.url === url);
      if (frame) return { sessionId, frameId: frame.id };
    }
    throw new Error("the document of the origin was not shown");
  }

  let pageSession = "";
  let targetId = "";
  try {
    targetId = await createHidden(connection, browserContextId);
    const attached = await connection.ask("Target.attachToTarget", { targetId, flatten: true });
    pageSession = String(attached.sessionId);
    await prepare(pageSession);
  } catch (error) {
    connection.terminate();
    throw error;
  }
  return {
    async visit({ documents }) {
      const url = documents.at(-1) ?? "";
      bodies = new Map(documents.map((each, depth) => [each, bodyWith(documents[depth + 1])]));
      loaded = Promise.withResolvers();
      loaded.promise.catch(() => {});
      await send(connection, pageSession, "Page.navigate", { url: documents[0] });
      await loaded.promise;
      const { sessionId, frameId } = await findFrame(url);
      const world = await send(connection, sessionId, "Page.createIsolatedWorld", {
        frameId,
        worldName: WORLD,
      });
      const session = {
        send: (method: string, params?: Params) => send(connection, sessionId, method, params),
      };
      // The cast is safe, because Playwright's sessions also pass on DevTools' answers as they are.
      return { session, contextId: Number(world.executionContextId) } as unknown as IsolatedWorld;
    },
    close() {
      connection.send({ method: "Target.closeTarget", params: { targetId } }, () => {});
      connection.terminate();
    },
  };
}

const bodyWith = (frame: string | undefined): string =>
  `<!doctype html>${frame === undefined ? "" : `<iframe src="${frame}"></iframe>`}`;

const listFrames = ({ frame, childFrames = [] }: FrameTree): Frame[] => [
  frame,
  ...childFrames.flatMap(listFrames),
];

const send = (
  connection: DevtoolsConnection,
  sessionId: string,
  method: string,
  params: Params = {},
): Promise<Params> =>
  new Promise((resolve, reject) => {
    connection.send({ method, params, sessionId }, ({ error, result }) =>
      error ? reject(new Error(error.message)) : resolve(result ?? {}),
    );
  });
