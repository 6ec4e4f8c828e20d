import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pagePictures, previews } from "#db/schema/index.ts";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import { contract, type OperationName } from "#lib/api/contract/contract.ts";
import { keepRecordedPicture, listRecordedPictures } from "#lib/browser/store/recording-store.ts";
import { deployFiles } from "../pages/pages-testing.ts";
import { storeReport } from "../reports/reports-testing.ts";
import { storeTestRun } from "../test-runs/store-test-run.ts";
import { openTestService, signIn, type TestService, userMessage, waitUntil } from "../testing.ts";
import { storeOutcomes, storeVariant } from "../variants/variants-testing.ts";

let service: TestService;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
before(async () => {
  receiver = await startReceiver();
  service = await openTestService();
  service.model.respondWith(({ userText, answersSoFar }) => {
    if (userText.includes("hand over") && answersSoFar === 0)
      return { toolCalls: [{ name: "spawn_agents", arguments: { agents: [{ objective: "wait" }] } }] };
    if (userText.includes("wait")) return { text: "Never.", hold: new Promise(() => {}) };
    if (!userText.includes("ask me") || answersSoFar > 0) return { text: "Done." };
    return { toolCalls: [{ name: "elicit_user_input", arguments: { question: "Which currency?" } }] };
  });
});
after(async () => {
  await service.close();
  await receiver.close();
});

type Ids = Record<"sessionId" | "requestId" | "runId" | "shareUrl" | "statusUrl" | "streamUrl", string>;

/** Creates a session whose turn has ended. `visit` of the result sends a request in the way the session page does. */
async function makeSession(more: Record<string, unknown> = {}) {
  const created: Ids = await service.create("work", more);
  await service.completed(created.statusUrl);
  const token = new URL(created.shareUrl, service.env.baseUrl).searchParams.get("key");
  const headers = { authorization: "", cookie: `share=${token}`, origin: service.env.baseUrl };
  const { sessionId } = created;
  const visitBelow = (method: string, path: string, body?: unknown) =>
    service.call(method, `/s/${sessionId}${path}`, body, headers);
  return {
    ...created,
    api: `/api/sessions/${sessionId}`,
    page: `/s/${sessionId}/actions`,
    visitBelow,
    visit: (method: string, path: string, body?: unknown) => visitBelow(method, `/actions${path}`, body),
  };
}

/** Creates a session with a message in the queue. @returns the session, and the id of the message's request. */
async function makeQueued() {
  const session = await makeSession();
  await service.call("POST", `${session.api}/agent/messages`, { text: "wait" });
  const queued = await service.call("POST", `${session.api}/agent/messages`, { text: "then" });
  return { session, requestId: (await queued.json()).requestId as string };
}

/** Creates a session whose agent has asked a person a question. */
async function makeQuestion() {
  const session = await makeSession();
  await session.visit("POST", "/messages", { text: "ask me" });
  let found: unknown;
  const { log } = service.container.services;
  await waitUntil(async () => {
    const events = await log.read(session.sessionId, { after: 0, limit: 100 });
    found = events.map(({ body }) => JSON.parse(body)).find(({ kind }) => kind === "elicitation.requested");
    return found !== undefined;
  }, "the agent asks");
  return { session, id: (found as { elicitationId: string }).elicitationId };
}

/** Creates a session with a live sub-agent. */
async function makeAgent() {
  const session = await makeSession({ subAgents: true });
  await session.visit("POST", "/messages", { text: "hand over" });
  let agentId = "";
  await waitUntil(async () => {
    const { agents } = await (await session.visit("GET", "/agents")).json();
    agentId = agents[0]?.agentId ?? "";
    return agentId !== "";
  }, "the sub-agent is listed");
  const visit = (method: string, path: string, body?: unknown) =>
    session.visitBelow(method, `/agents/${agentId}${path}`, body);
  return { session, agentId, visit };
}

async function makeShareLink() {
  const session = await makeSession();
  const created = await service.call("POST", `${session.api}/share-links`, {
    role: "comment",
    label: "Design review",
    expiresAt: "2126-12-01T00:00:00+01:00",
  });
  return { session, id: (await created.json()).record.id as string };
}

async function makeDelivery() {
  const callback = { url: receiver.url, events: ["run.completed"] };
  const session = await makeSession({ callback });
  let delivery: { id: string; state: string } | undefined;
  await waitUntil(async () => {
    const { data } = await service.read<{ data: (typeof delivery)[] }>(`${session.api}/deliveries`);
    delivery = data[0];
    return delivery?.state === "delivered";
  }, "the callback is delivered");
  return { session, id: delivery?.id };
}

async function makeArtifact() {
  const session = await makeSession();
  return `${session.api}/artifacts/${await keepArtifact(session.sessionId)}`;
}

async function keepArtifact(sessionId: string): Promise<string> {
  const { id } = await service.container.services.evidence.save({
    sessionId,
    runId: null,
    kind: "screenshot",
    title: "A picture",
    url: null,
    mediaType: "image/png",
    bytes: new Uint8Array([1]),
  });
  return id;
}

/** Stores a picture of the page that a session's browser shows. */
async function keepPicture(sessionId: string): Promise<void> {
  const picture = { sessionId, mediaType: "image/jpeg", bytes: new Uint8Array([1]) };
  await service.container.services.db.insert(pagePictures).values(picture);
}

/** Creates a session with an annotation. */
async function makeAnnotation() {
  const { api } = await makeSession();
  await service.call("POST", `${api}/annotations/webhook`, annotation);
  const { data } = await service.read<{ data: { id: string }[] }>(`${api}/annotations`);
  return { path: `${api}/annotations/${data[0]?.id}` };
}

/** Creates a session with a file in its workspace. */
async function makeFile() {
  const { api } = await makeSession();
  const file = `${api}/files/notes.md`;
  assert.equal((await service.call("PUT", file, "# Notes")).status, 201);
  return { api, file };
}

async function makePicture() {
  const session = await makeSession();
  await keepPicture(session.sessionId);
  return `${session.api}/live/picture`;
}

/** Stores a picture of a recording. @returns the paths of the recording and of the picture. */
async function makeRecording() {
  const { sessionId, api } = await makeSession();
  const picture = { sessionId, runId: null, callId: null, url: "https://shop.example/", title: "Shop" };
  const { db } = service.container.services;
  await keepRecordedPicture(db, { ...picture, bytes: Buffer.from("jpeg"), key: "first" }, 1_000);
  const [kept] = await listRecordedPictures(db, sessionId);
  return { list: `${api}/recording`, picture: `${api}/recording/${kept?.id}` };
}

/** Calls an operation as a signed-in operator. */
async function operate(method: string, path: string, body?: unknown): Promise<Response> {
  const cookie = await signIn(service);
  return service.call(method, path, body, { cookie, origin: service.env.baseUrl });
}

async function makeKey(): Promise<string> {
  const created = await operate("POST", "/actions/keys", { ownerId: "acme", name: "nightly checks" });
  return `/actions/keys/${(await created.json()).record.id}`;
}

/** Creates a session with a variant and a preview. */
async function makeVariant() {
  const session = await makeSession();
  await storeVariant(service, session.sessionId);
  const preview = { title: "Home", url: "https://shop.example/", width: 1280, height: 800 };
  await service.container.services.db
    .insert(previews)
    .values({ sessionId: session.sessionId, position: 0, ...preview });
  return session;
}

/** Publishes a variant. */
async function makePublication() {
  const { api } = await makeVariant();
  const variant = `${api}/variants/main`;
  const answer = await service.call("POST", `${variant}/publish`, { unchecked: true });
  const { publication } = (await answer.clone().json()) as { publication: { id: string } };
  return { variant, answer, id: publication.id };
}

/** Stores a test run in a new session. No process executes the run. */
async function makeTestRun() {
  const session = await makeSession();
  return { ...session, testRunId: await storeTestRun(service, session.sessionId) };
}

/** Creates a session with a plan that was written over the API. */
async function makePlan() {
  const session = await makeSession();
  const edits = [{ action: "add", text: "Rename the button" }];
  return { ...session, answer: await service.call("POST", `${session.api}/plan/edits`, { edits }) };
}

/** Creates a session with a requirement. */
async function makeRequirement() {
  const session = await makeSession();
  const assertion = { url: "https://shop.example/", selector: "#pay", is: "text", value: "Pay now" };
  const requirements = [{ text: "The button reads Pay now", assertion }];
  return { ...session, answer: await service.call("POST", `${session.api}/requirements`, { requirements }) };
}

/** Deploys a landing page. */
async function makeLandingPage() {
  const session = await makeSession();
  const { page } = await deployFiles(service, { "index.html": "<h1>Sale</h1>" }, {}, session);
  return { session, path: `/api/pages/${page.slug}`, slug: page.slug };
}
/** A document with one variant, in the form that the import operation accepts. */
const variantFile = {
  pages: [{ url: "https://shop.example/", match: "path", changes: [], css: "h1 { color: red }", js: "" }],
};

/** Creates a session with an imported document. */
async function makeImport() {
  const session = await makeSession();
  const answer = await service.call("POST", `${session.api}/import`, variantFile);
  const { import: created } = (await answer.clone().json()) as { import: { id: string } };
  return { session, answer, id: created.id };
}

const messages = [userMessage("work")];

/** Starts a session on the landing page. @returns its path for operations of the landing page. */
async function makeHomeSession(): Promise<string> {
  const started = await operate("POST", "/actions/sessions", { messages });
  const { sessionId } = (await started.json()) as { sessionId: string };
  return `/actions/sessions/${sessionId}`;
}
const annotation = { event: "submit", annotations: [{ selector: "h1", comment: "bigger" }], more: true };

/**
 * For each operation, the expected status and a function that calls the operation. If the status depends on whether a
 * browser is available, the expected status is a string that lists the possible ones, such as `200 or 503`.
 */
const CALLS: Partial<Record<OperationName, [number | string, () => Promise<Response>]>> = {
  createSession: [201, () => service.call("POST", "/api/session", { messages })],
  startSession: [201, () => operate("POST", "/actions/sessions", { messages })],
  listSessions: [200, () => service.call("GET", "/api/sessions?limit=1")],
  readSession: [200, async () => service.call("GET", (await makeSession({ metadata: { id: 7 } })).api)],
  renameSession: [
    200,
    async () => service.call("PATCH", (await makeSession()).api, { title: "Another title" }),
  ],
  listHomeSessions: [200, () => operate("GET", "/actions/sessions?q=work&state=done,working")],
  listHomeInbox: [200, () => operate("GET", "/actions/inbox?limit=5")],
  renameHomeSession: [200, async () => operate("PATCH", await makeHomeSession(), { title: "Mine" })],
  deleteHomeSession: [200, async () => operate("DELETE", await makeHomeSession())],
  deleteSession: [200, async () => service.call("DELETE", (await makeSession()).api)],
  readRequestStatus: [200, async () => service.call("GET", (await makeSession()).statusUrl)],
  streamRequest: [200, async () => service.call("GET", (await makeSession()).streamUrl)],
  readAgentStatus: [200, async () => service.call("GET", `${(await makeSession()).api}/agent/status`)],
  postMessage: [
    202,
    async () => service.call("POST", `${(await makeSession()).api}/agent/messages`, { text: "more" }),
  ],
  cancelTurn: [202, async () => service.call("POST", `${(await makeSession()).api}/agent/cancel`)],
  readBrowser: [200, async () => service.call("GET", `${(await makeSession()).api}/browser`)],
  retargetBrowser: [
    202,
    async () => service.call("POST", `${(await makeSession()).api}/browser`, { url: "http://10.0.0.1/" }),
  ],
  submitAnnotation: [
    200,
    async () => service.call("POST", `${(await makeSession()).api}/annotations/webhook`, annotation),
  ],
  listFiles: [200, async () => service.call("GET", `${(await makeFile()).api}/files`)],
  readFile: [200, async () => service.call("GET", (await makeFile()).file)],
  writeFile: [201, async () => service.call("PUT", `${(await makeSession()).api}/files/a/b.txt`, "text")],
  removeFile: [200, async () => service.call("DELETE", (await makeFile()).file)],
  listMessages: [200, async () => service.call("GET", `${(await makeSession()).api}/messages?limit=1`)],
  listReceipts: [200, async () => service.call("GET", `${(await makeSession()).api}/deliverable/receipts`)],
  listAnnotations: [
    200,
    async () => {
      const { api } = await makeSession();
      await service.call("POST", `${api}/annotations/webhook`, annotation);
      return service.call("GET", `${api}/annotations`);
    },
  ],
  locateAnnotations: [
    200,
    async () => service.call("POST", `${(await makeSession()).api}/annotations/locate`),
  ],
  describeTarget: [
    200,
    async () =>
      service.call("POST", `${(await makeSession()).api}/annotations/target`, {
        kind: "element",
        x: 1,
        y: 1,
      }),
  ],
  changeAnnotation: [
    200,
    async () =>
      service.call("PATCH", (await makeAnnotation()).path, { status: "resolved", resolution: "Done" }),
  ],
  removeAnnotation: [200, async () => service.call("DELETE", (await makeAnnotation()).path)],
  listDeliveries: [200, async () => service.call("GET", `${(await makeDelivery()).session.api}/deliveries`)],
  redeliverCallback: [
    202,
    async () => {
      const { session, id } = await makeDelivery();
      return service.call("POST", `${session.api}/deliveries/${id}/redeliver`);
    },
  ],
  rotateCallbackSecret: [
    200,
    async () => {
      const { session } = await makeDelivery();
      const body = { secret: "8c1f0d5b7a2e4f6390b1d7c5", overlapHours: 1 };
      return service.call("POST", `${session.api}/callback/secret`, body);
    },
  ],
  enableCallback: [
    200,
    async () => service.call("POST", `${(await makeDelivery()).session.api}/callback/enable`),
  ],
  listVariants: [200, async () => service.call("GET", `${(await makeVariant()).api}/variants`)],
  readRevision: [
    200,
    async () => service.call("GET", `${(await makeVariant()).api}/variants/main/revisions/1`),
  ],
  listPreviews: [200, async () => service.call("GET", `${(await makeVariant()).api}/previews`)],
  readPlan: [200, async () => service.call("GET", `${(await makeSession()).api}/plan`)],
  editPlan: [200, async () => (await makePlan()).answer],
  setPlanMode: [
    200,
    async () => service.call("POST", `${(await makeSession()).api}/plan/mode`, { mode: "plan_first" }),
  ],
  agreePlan: [
    202,
    async () => {
      const { api, visit } = await makePlan();
      await service.call("POST", `${api}/plan/mode`, { mode: "plan_first" });
      return visit("POST", "/plan/go", { revision: 1, text: "Begin with the button." });
    },
  ],
  listRequirements: [200, async () => service.call("GET", `${(await makeRequirement()).api}/requirements`)],
  addRequirements: [201, async () => (await makeRequirement()).answer],
  updateRequirement: [
    200,
    async () =>
      service.call("PATCH", `${(await makeRequirement()).api}/requirements/r1`, { status: "waived" }),
  ],
  listSkills: [200, async () => service.call("GET", `${(await makeVariant()).api}/skills`)],
  acceptChanges: [
    200,
    async () => {
      const { api, sessionId } = await makeVariant();
      const { at } = await storeOutcomes(service, sessionId, 1, { c1: "not_examined" });
      const body = { revision: 1, checkedAt: at, changes: ["c1"] };
      return service.call("POST", `${api}/variants/main/accept`, body);
    },
  ],
  publishVariant: [201, async () => (await makePublication()).answer],
  rollbackVariant: [
    200,
    async () =>
      service.call("POST", `${(await makePublication()).variant}/rollback`, {
        release: 1,
      }),
  ],
  unpublishVariant: [200, async () => service.call("POST", `${(await makePublication()).variant}/unpublish`)],
  listReleases: [200, async () => service.call("GET", `${(await makePublication()).variant}/releases`)],
  exportRevision: [
    200,
    async () =>
      service.call("GET", `${(await makeVariant()).api}/variants/main/revisions/1/export?format=posthog`),
  ],
  importVariant: [
    201,
    async () =>
      service.call("POST", `${(await makeVariant()).api}/variants/b/import`, {
        format: "json",
        document: {
          pages: [
            {
              url: "https://shop.example/",
              match: "path",
              changes: [{ id: "c1", op: "setText", selector: "h1", text: "Shop" }],
              css: "",
              js: "",
            },
          ],
        },
      }),
  ],
  listPublications: [
    200,
    async () => {
      await makePublication();
      return service.call("GET", "/api/publications?limit=1");
    },
  ],
  listPublicationReleases: [
    200,
    async () => service.call("GET", `/api/publications/${(await makePublication()).id}/releases`),
  ],
  rollbackPublication: [
    200,
    async () =>
      service.call("POST", `/api/publications/${(await makePublication()).id}/rollback`, { release: 1 }),
  ],
  unpublishPublication: [
    200,
    async () => service.call("POST", `/api/publications/${(await makePublication()).id}/unpublish`),
  ],
  listLandingPages: [
    200,
    async () => {
      await makeLandingPage();
      return service.call("GET", "/api/pages?limit=1");
    },
  ],
  readLandingPage: [200, async () => service.call("GET", (await makeLandingPage()).path)],
  listPageVersions: [200, async () => service.call("GET", `${(await makeLandingPage()).path}/versions`)],
  rollbackPage: [
    200,
    async () => service.call("POST", `${(await makeLandingPage()).path}/rollback`, { version: 1 }),
  ],
  unpublishPage: [200, async () => service.call("POST", `${(await makeLandingPage()).path}/unpublish`)],
  listSessionPages: [200, async () => service.call("GET", `${(await makeLandingPage()).session.api}/pages`)],
  listPersonPageVersions: [
    200,
    async () => {
      const { session, slug } = await makeLandingPage();
      return session.visit("GET", `/pages/${slug}/versions`);
    },
  ],
  rollbackPersonPage: [
    200,
    async () => {
      const { session, slug } = await makeLandingPage();
      return session.visit("POST", `/pages/${slug}/rollback`, { version: 1 });
    },
  ],
  unpublishPersonPage: [
    200,
    async () => {
      const { session, slug } = await makeLandingPage();
      return session.visit("POST", `/pages/${slug}/unpublish`);
    },
  ],
  readScript: [200, async () => service.call("GET", `/v/${(await makePublication()).id}.js`)],
  exportSession: [200, async () => service.call("GET", `${(await makeVariant()).api}/export?evidence=true`)],
  exportAsPerson: [200, async () => (await makeSession()).visit("GET", "/export?format=html")],
  importIntoSession: [201, async () => (await makeImport()).answer],
  importAsPerson: [201, async () => (await makeSession()).visit("POST", "/import", variantFile)],
  listImports: [200, async () => service.call("GET", `${(await makeImport()).session.api}/imports?limit=1`)],
  readImport: [
    200,
    async () => {
      const { session, id } = await makeImport();
      return service.call("GET", `${session.api}/imports/${id}`);
    },
  ],
  editVariant: [
    201,
    async () =>
      (await makeVariant()).visit("POST", "/variants/main/revisions", {
        baseRevision: 1,
        edits: [{ action: "setText", changeId: "c1", text: "Buy" }],
      }),
  ],
  // The tests in `e2e/service/test-runs` cover test runs that are executed.
  listTestRuns: [200, async () => service.call("GET", `${(await makeSession()).api}/tests`)],
  readTestRun: [
    200,
    async () => {
      const { api, testRunId } = await makeTestRun();
      return service.call("GET", `${api}/tests/${testRunId}`);
    },
  ],
  rerunTests: [
    409,
    async () => {
      const { visit, testRunId } = await makeTestRun();
      return visit("POST", `/tests/${testRunId}/rerun`);
    },
  ],
  cancelTests: [
    200,
    async () => {
      const { visit, testRunId } = await makeTestRun();
      return visit("POST", `/tests/${testRunId}/cancel`);
    },
  ],
  listReports: [
    200,
    async () => {
      const { api, sessionId } = await makeSession();
      await storeReport(service, sessionId);
      return service.call("GET", `${api}/reports`);
    },
  ],
  readReport: [
    200,
    async () => {
      const { api, sessionId } = await makeSession();
      return service.call("GET", `${api}/reports/${await storeReport(service, sessionId)}`);
    },
  ],
  // The check is refused, because this service has no browser. `person-edits.test.ts` covers a check with a browser.
  checkAsPerson: [409, async () => (await makeVariant()).visit("POST", "/variants/main/check")],
  showVariant: [200, async () => (await makeVariant()).visit("POST", "/shown-variant", { variant: null })],
  readPagePicture: [200, async () => service.call("GET", await makePicture())],
  listRecordedPictures: [200, async () => service.call("GET", (await makeRecording()).list)],
  readRecordedPicture: [200, async () => service.call("GET", (await makeRecording()).picture)],
  readArtifact: [200, async () => service.call("GET", await makeArtifact())],
  listShareLinks: [
    200,
    async () => {
      const { session } = await makeShareLink();
      return service.call("GET", `${session.api}/share-links?limit=1`);
    },
  ],
  createShareLink: [
    201,
    async () => service.call("POST", `${(await makeSession()).api}/share-links`, { role: "view" }),
  ],
  revokeShareLink: [
    200,
    async () => {
      const { session, id } = await makeShareLink();
      return service.call("DELETE", `${session.api}/share-links/${id}`);
    },
  ],
  revokeAllShareLinks: [
    200,
    async () => service.call("POST", `${(await makeShareLink()).session.api}/share-links/revoke-all`),
  ],
  createMcpToken: [201, async () => service.call("POST", `${(await makeSession()).api}/mcp-token`)],
  listQueue: [200, async () => service.call("GET", `${(await makeQueued()).session.api}/queue`)],
  editQueued: [
    200,
    async () => {
      const { session, requestId } = await makeQueued();
      return service.call("PATCH", `${session.api}/queue/${requestId}`, { text: "other" });
    },
  ],
  removeQueued: [
    200,
    async () => {
      const { session, requestId } = await makeQueued();
      return service.call("DELETE", `${session.api}/queue/${requestId}`);
    },
  ],
  readBudget: [200, async () => service.call("GET", `${(await makeSession()).api}/budget`)],
  changeBudget: [
    200,
    async () =>
      service.call("PATCH", `${(await makeSession()).api}/budget`, { tokens: 50_000, minutes: null }),
  ],
  listAgents: [
    200,
    async () => {
      const session = await makeSession();
      return service.call("GET", `${session.api}/agents`);
    },
  ],
  listElicitations: [
    200,
    async () => service.call("GET", `${(await makeQuestion()).session.api}/elicitations?limit=1`),
  ],
  listInbox: [
    200,
    async () => {
      const { sessionId } = (await makeQuestion()).session;
      return service.call("GET", `/api/inbox?sessionId=${sessionId}&state=open&limit=1`);
    },
  ],
  listSessionInbox: [
    200,
    async () => service.call("GET", `${(await makeQuestion()).session.api}/inbox?limit=1`),
  ],
  readInboxItem: [
    200,
    async () => {
      const { api } = (await makeQuestion()).session;
      const { data } = await service.read<{ data: { id: string }[] }>(`${api}/inbox`);
      return service.call("GET", `${api}/inbox/${data[0]?.id}`);
    },
  ],
  settleInboxItem: [
    200,
    async () => {
      const { api } = (await makeQuestion()).session;
      const { data } = await service.read<{ data: { id: string }[] }>(`${api}/inbox`);
      return service.call("POST", `${api}/inbox/${data[0]?.id}`, { answer: "EUR" });
    },
  ],
  answerElicitation: [
    202,
    async () => {
      const { session, id } = await makeQuestion();
      return service.call("POST", `${session.api}/elicitations/${id}`, { answer: "EUR" });
    },
  ],
  postPersonMessage: [202, async () => (await makeSession()).visit("POST", "/messages", { text: "more" })],
  readFrame: [200, async () => (await makeSession()).visit("GET", "/frame")],
  postHostMessage: [202, async () => (await makeSession()).visit("POST", "/host-messages", { text: "more" })],
  annotateAsPerson: [200, async () => (await makeSession()).visit("POST", "/annotations", annotation)],
  listPersonShareLinks: [200, async () => (await makeShareLink()).session.visit("GET", "/share-links")],
  createPersonShareLink: [
    201,
    async () => (await makeSession()).visit("POST", "/share-links", { role: "drive", label: "mine" }),
  ],
  revokePersonShareLink: [
    200,
    async () => {
      const { session, id } = await makeShareLink();
      return session.visit("DELETE", `/share-links/${id}`);
    },
  ],
  revokeAllPersonShareLinks: [
    200,
    async () => (await makeSession()).visit("POST", "/share-links/revoke-all"),
  ],
  cancelPersonTurn: [202, async () => (await makeSession()).visit("POST", "/cancel")],
  answerPersonElicitation: [
    202,
    async () => {
      const { session, id } = await makeQuestion();
      return session.visit("POST", `/elicitations/${id}`, { decline: true });
    },
  ],
  listPersonInbox: [200, async () => (await makeQuestion()).session.visit("GET", "/inbox?state=open")],
  settlePersonInboxItem: [
    200,
    async () => {
      const { session } = await makeQuestion();
      const { data } = await service.read<{ data: { id: string }[] }>(`${session.api}/inbox`);
      return session.visit("POST", `/inbox/${data[0]?.id}`, { answer: "EUR" });
    },
  ],
  listPersonQueue: [200, async () => (await makeQueued()).session.visit("GET", "/queue")],
  editPersonQueued: [
    200,
    async () => {
      const { session, requestId } = await makeQueued();
      return session.visit("PATCH", `/queue/${requestId}`, { text: "other" });
    },
  ],
  removePersonQueued: [
    200,
    async () => {
      const { session, requestId } = await makeQueued();
      return session.visit("DELETE", `/queue/${requestId}`);
    },
  ],
  listPersonDeliveries: [200, async () => (await makeDelivery()).session.visit("GET", "/deliveries")],
  redeliverPersonCallback: [
    202,
    async () => {
      const { session, id } = await makeDelivery();
      return session.visit("POST", `/deliveries/${id}/redeliver`);
    },
  ],
  listPersonAgents: [200, async () => (await makeAgent()).session.visit("GET", "/agents")],
  listAgentsBelow: [200, async () => (await makeAgent()).visit("GET", "/actions/agents")],
  cancelAgentAsPerson: [202, async () => (await makeAgent()).visit("POST", "/actions/cancel", {})],
  listAgentMessages: [200, async () => (await makeAgent()).visit("GET", "/messages")],
  readAgentArtifact: [
    200,
    async () => {
      const { visit, agentId } = await makeAgent();
      return visit("GET", `/artifacts/${await keepArtifact(agentId)}`);
    },
  ],
  readAgentPicture: [
    200,
    async () => {
      const { visit, agentId } = await makeAgent();
      await keepPicture(agentId);
      return visit("GET", "/live/picture");
    },
  ],
  steerBrowser: [
    202,
    async () => (await makeSession()).visit("POST", "/browser", { url: "http://10.0.0.1/" }),
  ],
  // No connection of the test has control.
  pasteIntoPage: [
    409,
    async () =>
      (await makeSession()).visit("POST", "/paste", {
        connectionId: "con_none",
        items: [{ type: "text/plain", text: "a" }],
      }),
  ],
  listBrowserFiles: [200, async () => (await makeSession()).visit("GET", "/browser/files")],
  addBrowserFile: [
    409,
    async () =>
      (await makeSession()).visit("POST", "/browser/files", {
        widgetId: "none",
        connectionId: "con_none",
        name: "a.txt",
        content: "SGVsbG8=",
      }),
  ],
  createKey: [201, () => operate("POST", "/actions/keys", { ownerId: "acme", name: "nightly checks" })],
  listKeys: [200, () => operate("GET", "/actions/keys")],
  rotateKey: [201, async () => operate("POST", `${await makeKey()}/rotate`, { overlapHours: 1 })],
  updateKey: [200, async () => operate("PATCH", await makeKey(), { scopes: ["sessions:read"] })],
  rotateEncryption: [200, () => operate("POST", "/actions/encryption/rotate", {})],
  revokeKey: [200, async () => operate("DELETE", await makeKey())],
  listLogins: [200, () => operate("GET", "/actions/logins")],
  endLogin: [
    200,
    async () => {
      const listed = await (await operate("GET", "/actions/logins")).json();
      return operate("DELETE", `/actions/logins/${listed.data[0].id}`);
    },
  ],
  logOut: [200, () => operate("POST", "/actions/logout")],
  readMcpResource: [200, () => service.call("GET", "/.well-known/oauth-protected-resource/api/mcp")],
  readHealth: [200, () => service.call("GET", "/api/health")],
  readOpenApi: [200, () => service.call("GET", "/api/openapi.json")],
  readReadiness: ["200 or 503", () => service.call("GET", "/api/ready")],
};

test("every operation of the contract has a call in this test", () => {
  assert.deepEqual(Object.keys(CALLS).sort(), Object.keys(contract).sort());
});

// This test checks only the status, because the test service validates every answer against the OpenAPI document.
for (const [name, [status, call]] of Object.entries(CALLS))
  test(`${name} answers ${status} as documented`, async () => {
    const response = await call();
    assert.ok(String(status).includes(String(response.status)), await response.clone().text());
    await response.text();
  });

test("the OpenAPI document has an ETag, and a client that has this version gets 304", async () => {
  const first = await service.call("GET", "/api/openapi.json");
  const tag = first.headers.get("etag") ?? "";
  assert.equal((await first.json()).openapi, "3.1.1");
  for (const header of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
    const again = await service.call("GET", "/api/openapi.json", undefined, { "if-none-match": header });
    assert.equal(again.status, 304, header);
  }
  const changed = await service.call("GET", "/api/openapi.json", undefined, { "if-none-match": '"other"' });
  assert.equal(changed.status, 200);
});
