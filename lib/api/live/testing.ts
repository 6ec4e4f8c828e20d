import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocket } from "ws";
import type { Database } from "#db/client.ts";
import { type ShareRole, shareTokens } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createFailedAttempts } from "#lib/api/auth/failed-attempts.ts";
import type {
  BrowserInput,
  BrowserService,
  PastedItem,
  ScreencastFrame,
  ScriptPointer,
  ViewListeners,
  ViewportChange,
} from "#lib/browser/browser-service.ts";
import type { StageAction, StageState } from "#lib/browser/stage/stage-state.ts";
import { type BrowserControl, createBrowserControl } from "#lib/browser/view/browser-control.ts";
import { type ControlLeases, createControlLeases } from "#lib/browser/view/control-leases.ts";
import type { ControlTimes } from "#lib/browser/view/control-state.ts";
import { createControlledCalls } from "#lib/browser/view/controlled-calls.ts";
import type { EventBus } from "#lib/events/bus/bus.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { openTopic } from "#lib/events/bus/topic.ts";
import type { NewEvent } from "#lib/events/event.ts";
import { createEventLog } from "#lib/events/event-log.ts";
import { createKeyStore } from "#lib/keys/key-store.ts";
import type { LiveClientFrame, LiveFrame } from "#lib/page/state/view-types.ts";
import { silentSecurityLog } from "#lib/security-log/testing.ts";
import { createShareLinks, hashToken } from "#lib/session/share/share-link.ts";
import { readShareStates } from "#lib/session/store/share-store.ts";
import { insertTestSession } from "#lib/session/transcript/transcript-fixture.ts";
import { ACCESS_TOPIC, createAccessWatch } from "../auth/access-watch.ts";
import { createAuthenticator } from "../auth/authenticate.ts";
import type { LiveServices } from "./greet-connection.ts";
import { createLiveHub } from "./live-hub.ts";

export const TEST_KEY = "a-key-of-the-configuration";
export const TEST_ORIGIN = "http://127.0.0.1:3000";
const OTHER_KEY = "a-key-of-somebody-else";

type TestBrowser = Pick<
  BrowserService,
  "watch" | "drive" | "act" | "copy" | "paste" | "setViewport" | "control" | "readCursor"
> & {
  emit: (frame: ScreencastFrame) => void;
  point: (pointer: ScriptPointer) => void;
  watchers: () => number;
  inputs: BrowserInput[];
  leases: ControlLeases;
  pastes: (readonly PastedItem[])[];
  viewports: ViewportChange[];
  actions: StageAction[];
  stage: (state: StageState) => void;
};

/** Creates a fake browser. It shows the frames that the test emits, and records the inputs of who has control. */
function createTestBrowser(control: BrowserControl, times?: Partial<ControlTimes>): TestBrowser {
  const watchers = new Set<ViewListeners>();
  const inputs: BrowserInput[] = [];
  const pastes: TestBrowser["pastes"] = [];
  const viewports: ViewportChange[] = [];
  const actions: StageAction[] = [];
  const leases = createControlLeases({
    hostId: "bh_test",
    input: async (_sessionId, input) => void inputs.push(input),
    readField: async () => null,
    addressOf: () => null,
    onChange: control.apply,
    onTaken() {},
    onEnded() {},
    ...(times && { times }),
  });
  const host: Awaited<ReturnType<Parameters<typeof createControlledCalls>[0]["browsers"]>> = {
    async input(_sessionId, input, mayPass) {
      if (mayPass?.(input)) inputs.push(input);
    },
    copy: async (_sessionId, action) => ({ text: `text of a ${action}`, html: null }),
    async paste(_sessionId, items) {
      pastes.push(items);
      return { isDone: true };
    },
    setViewport: async (_sessionId, change) => void viewports.push(change),
    async act(_sessionId, action) {
      actions.push(action);
      return { isDone: true };
    },
  };
  return {
    inputs,
    pastes,
    viewports,
    actions,
    leases,
    stage: (state) => {
      for (const watcher of watchers) watcher.onStage?.(state);
    },
    watchers: () => watchers.size,
    emit: (frame) => {
      for (const watcher of watchers) watcher.onFrame(frame);
    },
    point: (pointer) => {
      for (const watcher of watchers) watcher.onPointer?.(pointer);
    },
    readCursor: async (_sessionId, x) => (x > 100 ? "pointer" : "default"),
    watch(_sessionId, listeners) {
      const watcher = { ...listeners };
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    ...createControlledCalls({
      control: { ...leases, beforeInput: () => undefined },
      browsers: async () => host,
      via: () => leases,
    }),
  };
}

/** Creates a picture of the page whose JPEG has `bytes` bytes. */
export const testPicture = (sequence: number, bytes = 100): ScreencastFrame => ({
  sequence,
  capturedAtMs: 1_700_000_000_000 + sequence,
  width: 1280,
  height: 720,
  deviceScale: 1,
  scrollX: 0,
  scrollY: 0,
  jpeg: new Uint8Array(bytes).fill(sequence),
});

/** Creates a sample event that can be recognized by its question. */
export const testEvent = (question: string): NewEvent => ({
  kind: "elicitation.requested",
  requestId: null,
  runId: null,
  source: "api",
  elicitationId: "eli_1",
  toolCallId: "call_1",
  question,
  form: null,
  expiresAt: "2026-01-02T00:00:00.000Z",
  options: null,
});

/** Opens a live hub with its own event log and server. Also opens a database if `options.db` is omitted. */
export async function openLiveRig(
  options: {
    authTimeoutMs?: number;
    now?: () => number;
    db?: Database;
    bus?: EventBus;
    controlTimes?: Partial<ControlTimes>;
  } = {},
) {
  const own = options.db ? undefined : await openTestDatabase();
  const db = options.db ?? own?.db;
  if (!db) throw new Error("there is no database");
  const bus = options.bus ?? createMemoryBus();
  const log = createEventLog(db, bus);
  const shares = createShareLinks(db, new Uint8Array(32));
  const keys = [
    { key: TEST_KEY, ownerId: "owner" },
    { key: OTHER_KEY, ownerId: "else" },
  ];
  const store = createKeyStore(db);
  const control = createBrowserControl(openTopic(bus, "browser-control"));
  const browser = createTestBrowser(control, options.controlTimes);
  const access = createAccessWatch({
    rows: {
      readKeys: store.readLive,
      readShares: (sessionIds) => readShareStates(db, sessionIds, new Date()),
    },
    topic: openTopic(bus, ACCESS_TOPIC),
    logger: { warn: console.error },
  });
  const services: LiveServices = {
    db,
    log,
    shares,
    access,
    control,
    openTopic: (name) => openTopic(bus, name),
    browser,
    authenticate: createAuthenticator(keys, store),
    failedAttempts: createFailedAttempts({ limit: 0, trustedProxies: [] }),
    logger: { debug() {}, error: console.error },
    securityLog: silentSecurityLog,
    settings: { baseUrl: TEST_ORIGIN },
  };
  const hub = createLiveHub(services, options);

  const server = createServer((req, res) => {
    void answer(req).then(async (response) => {
      res.writeHead(response?.status ?? 500, Object.fromEntries(response?.headers ?? []));
      res.end(await response?.text());
    });
  });
  server.on("upgrade", (req, socket, head) => {
    socket.on("error", () => {});
    void answer(req, () => ({ req, socket, head })).then(async (response) => {
      if (!response) return;
      const body = await response.text();
      socket.end(
        `HTTP/1.1 ${response.status} Refused\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });
  });
  const answer = (req: IncomingMessage, upgrade?: Parameters<typeof hub.upgradeToWebSocket>[2]) => {
    const request = new Request(`${TEST_ORIGIN}${req.url}`, {
      method: req.method ?? "GET",
      headers: req.headers as Record<string, string>,
    });
    const sessionId = req.url?.split("/")[3] ?? "";
    const none = () => {
      throw new Error("the request is not an upgrade");
    };
    return hub.upgradeToWebSocket(request, { sessionId }, upgrade ?? none);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    db,
    log,
    hub,
    browser,
    shares,
    access,
    control,
    address,
    addSession: (sessionId: string) => insertTestSession(db, sessionId),
    append: (sessionId: string, questions: string[]) =>
      log.transact(sessionId, async (_tx, emit) => {
        for (const question of questions) emit(testEvent(question));
      }),
    /** Creates another share link of a session. @returns its token. */
    async addShare(sessionId: string, role: ShareRole, label?: string): Promise<string> {
      const parts = [sessionId, role, label].filter((each) => each !== undefined);
      const name = parts.join("-").replace(/\W+/g, "-");
      const token = `token-${name}`;
      await db.insert(shareTokens).values({
        id: `lnk_${name}`,
        tokenHash: hashToken(token),
        sessionId,
        role,
        ...(label !== undefined && { label }),
      });
      return token;
    },
    connect: (path: string, headers: Record<string, string> = { "x-service-api-key": TEST_KEY }) =>
      connectClient(new WebSocket(`ws://${address}/api/sessions/${path}`, { headers })),
    async close() {
      await hub.close();
      control.close();
      browser.leases.close();
      access.close();
      server.close();
      server.closeAllConnections();
      await own?.close();
    },
  };
}

export type TestClient = ReturnType<typeof connectClient>;

/** Records everything that a socket receives. A test can wait for conditions on the recorded data. */
export function connectClient(socket: WebSocket) {
  const frames: LiveFrame[] = [];
  const pictures: Buffer[] = [];
  let end: { code: number; reason: string } | { status: number; body: string } | undefined;
  const waiting = new Set<() => void>();
  const changed = () => {
    for (const look of waiting) look();
  };

  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) pictures.push(data);
    else frames.push(JSON.parse(data.toString()) as LiveFrame);
    changed();
  });
  socket.on("open", changed);
  socket.on("close", (code, reason) => {
    end ??= { code, reason: reason.toString() };
    changed();
  });
  socket.on("unexpected-response", async (_request, response) => {
    const body = Buffer.concat(await response.toArray()).toString();
    end = { status: response.statusCode ?? 0, body };
    changed();
  });
  socket.on("error", () => {});

  /** Resolves when the condition holds. After 30 s, rejects with an error that lists the last frames. */
  function until(holds: () => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(
      () =>
        reject(
          new Error(
            `the condition did not hold within 30 s: ${holds}; last frames: ${JSON.stringify(frames.slice(-5))}`,
          ),
        ),
      30_000,
    );
    const look = () => {
      if (!holds()) return;
      waiting.delete(look);
      clearTimeout(timer);
      resolve();
    };
    waiting.add(look);
    look();
    return promise;
  }

  return {
    socket,
    frames,
    pictures,
    until,
    send: (frame: LiveClientFrame) => socket.send(JSON.stringify(frame)),
    /** Waits until the socket is no longer connecting. */
    opened: () => until(() => socket.readyState !== WebSocket.CONNECTING),
    ready: () => until(() => frames.some(({ type }) => type === "ready")),
    /**
     * Sends a ping and waits for the answer. By then, the service has handled all frames that were sent before the
     * ping.
     */
    async settle() {
      const before = frames.filter(({ type }) => type === "pong").length;
      socket.send(JSON.stringify({ type: "ping" }));
      await until(() => frames.filter(({ type }) => type === "pong").length > before);
    },
    async ended() {
      await until(() => end !== undefined);
      return end;
    },
    seqs: () => frames.flatMap((frame) => (frame.type === "elicitation.requested" ? [frame.seq] : [])),
  };
}
