import type { OperationName } from "../../contract/contract.ts";

/** Documentation of an operation in addition to its summary: a description in Markdown, and example bodies by title. */
export type OperationDocs = { description?: string; bodyExamples?: Record<string, unknown> };

const PERSONS = "The same as the operation under `/api/sessions`, with the share cookie as the credential.";

const SHARE_OWNERS = `${PERSONS} Only visitors of the session's own \`shareUrl\` may call it; created links cannot manage links.`;

const message = (text: string) => ({ role: "user", parts: [{ type: "text", text }] });

/** Documentation by the name of the operation. Source: specification, Endpoints; `wire.md`, Also served. */
export const OPERATION_DOCS: Partial<Record<OperationName, OperationDocs>> = {
  createSession: {
    description:
      "Stores the session, its messages and the job for its first turn in one transaction: a 2xx means stored. Later requests cannot change the session's settings, except its budget. A replay with the same `idempotencyKey` and an equal body returns 200 with the original ids. With an `outputSchema`, every turn ends with a typed deliverable.",
    bodyExamples: {
      "A question about a page": {
        messages: [message("What does the checkout of this shop ask for?")],
        targetUrl: "https://shop.example/checkout",
      },
      "A typed result, with a callback": {
        messages: [message("List the fields of the checkout form.")],
        targetUrl: "https://shop.example/checkout",
        outputSchema: {
          type: "object",
          properties: { title: { type: "string" }, fields: { type: "array", items: { type: "string" } } },
          required: ["title", "fields"],
        },
        callback: { url: "https://receiver.example/hook", secret: "shh", events: ["run.completed"] },
        idempotencyKey: "order-4711",
      },
      "A remote tool server, without a browser": {
        messages: [message("Which of our customers wrote today?")],
        mcpServers: { crm: { url: "https://tools.example/mcp", headers: { Authorization: "Bearer …" } } },
        capabilities: { browser: false },
        tools: { exclude: ["run_shell", "mcp_crm__delete_*"] },
      },
    },
  },
  startSession: {
    description:
      "The same as `POST /api/session`, with the login cookie as the credential. The first turn counts as started by a person (`origin: person`), and `source` is always `web`.",
  },
  listSessions: {
    description: "Lists the sessions of the key's owner. A cursor is valid until its session is deleted.",
  },
  readSession: {
    description:
      "Returns the session with its fixed settings. It does not include headers of tool servers or the callback's secret.",
  },
  deleteSession: {
    description:
      "Stops the turn, then deletes the rows, files, browser and secrets of the session and its sub-agents. The response counts what was deleted. `pending` lists data that could not be removed from disk yet; the service retries until it is removed. Deleting the session again returns 404.",
  },
  readBudget: {
    description:
      "Returns the limits of the session and what the session and its sub-agents have spent. A sub-agent has the budget of its root.",
  },
  changeBudget: {
    description:
      "Sets, raises, lowers or removes limits. Turns of the session and its sub-agents that wait for a budget continue if their budget is no longer used up. The call can be repeated.",
    bodyExamples: { "Raise two limits": { usd: 10, tokens: 500_000 }, "Remove a limit": { minutes: null } },
  },
  listAgents: {
    description:
      "Lists every sub-agent below the session, at every depth: parents before their children. Each sub-agent has its own session, which the session's key can read but not control.",
  },
  listReports: {
    description: "Lists all versions of the reports. For a sub-agent, lists the reports of its root session.",
  },
  readReport: {
    description:
      "A report never changes. `summary` and `detail` are Markdown that the agent wrote: treat them as untrusted. With `format=markdown`, the response is a Markdown file that contains them as block quotations, without raw HTML and pictures.",
  },
  listTestRuns: {
    description: "Lists all test runs. For a sub-agent, lists the test runs of its root session.",
  },
  readTestRun: {
    description:
      "The results are stored together with the end of the run. Titles, errors, steps and output contain texts of the tests and pages: treat them as untrusted. Open a trace with `npx playwright show-trace`.",
  },
  rerunTests: {
    description:
      "Starts a new test run of the same files with the same options, against the newest revision of the variant. Refused with 409 while a test run has not ended.",
  },
  cancelTests: {
    description:
      "Requests the end of a test run, which ends within a few seconds. Refused with 409 if it has ended.",
  },
  readPlan: {
    description:
      "Returns the plan of the session; for a sub-agent, the plan of its root session. A session without a plan has an empty plan with revision 0.",
  },
  editPlan: {
    description:
      "Applies edits to the current plan. Edits of different items by several people all take effect. An edit of an item that no longer exists, or of a text that has changed, is refused with 409, and none of the edits takes effect. The agent cannot replace a plan with edits that it has not seen.",
  },
  setPlanMode: {
    description:
      "With `plan_first`, tool calls that change pages, files or publications are refused, in sub-agents and for holders of MCP tokens too, until a person agrees to the plan on the session page. It takes effect with the next call; calls in progress are not stopped. The session's tools stay the same.",
  },
  agreePlan: {
    description:
      "Sets the mode to `agreed` and posts `The plan is agreed. Go ahead.` with the person's text as a message of the person, in one transaction. A running turn reads the message between two of its steps; otherwise it starts a turn. Refused with 409 if plan first is off, the plan is empty, or `revision` is not its current revision.",
  },
  listRequirements: {
    description:
      "Lists all requirements of the session (for a sub-agent, of its root session) with the newest result of each assertion.",
  },
  addRequirements: {
    description: "Adds requirements on behalf of a person. A session can have at most 100.",
  },
  updateRequirement: {
    description:
      "Changing the text or an assertion reopens a requirement. The agent cannot change a waived requirement, nor the text or an assertion of a requirement that a person added.",
  },
  publishVariant: {
    description:
      "Makes an immutable release of the newest revision, whose script pages load within a minute. The newest check of the revision must have passed (`pass` or `warn`); `unchecked: true` publishes without a passed check. Returns 200 without a new release if the revision is already the current release. The session page calls this operation with a share cookie of the role `drive`.",
    bodyExamples: { "The newest revision": {}, "Without a check": { revision: 3, unchecked: true } },
  },
  rollbackVariant: {
    description:
      "Makes the given release the current one, within a minute. It can also republish a release that was unpublished, and does not ask for `unchecked` again.",
  },
  unpublishVariant: {
    description:
      "The script of the current release becomes empty, so that pages which load it continue to work without errors. The scripts of single releases answer 410, also after a new release. Idempotent.",
  },
  exportSession: {
    description:
      "Downloads the session as one file. The JSON has its conversation, the newest revision of each variant, results, previews, annotations, sub-agents and evidence; `leftOut` lists the parts that it does not have. The HTML has the same content for people: one file without scripts and network access. Neither contains credentials, headers, callbacks, share links, the system prompt or metadata. The response is streamed.",
  },
  exportAsPerson: { description: PERSONS },
  importIntoSession: {
    description:
      "Imports a document that another session, GrowthBook or PostHog has exported. Its variants become new variants; a key that already exists gets a number. Its conversation can be read at `imports/:importId`, and the agent can read it too. The document is validated as a whole before anything is stored. Returns 200 without a change if the document was imported before. `leftOut` lists the parts that were not imported.",
  },
  importAsPerson: { description: PERSONS },
  listPublications: {
    description:
      "Lists the publications of the key's owner, including those of deleted sessions and unpublished ones.",
  },
  readScript: {
    description:
      "Public: no credentials, `Access-Control-Allow-Origin: *`. The script of the current release may be cached for 60 s, that of a single release for 300 s. An unpublished publication answers an empty script.",
  },
  listLandingPages: {
    description:
      "Lists the landing pages of the key's owner, including those of deleted sessions and unpublished ones.",
  },
  rollbackPage: {
    description:
      "Serves the given version, within a second in every process. It also publishes an unpublished page again.",
  },
  unpublishPage: {
    description:
      "Every URL of the page returns 410, within a second in every process. Its slug stays reserved. A rollback or a new deploy publishes it again. Idempotent.",
  },
  listSessionPages: {
    description:
      "Lists the pages whose newest version the session deployed, oldest first. For a sub-agent, lists the pages of its root session.",
  },
  listSkills: {
    description:
      "Lists the skills that the session was created with, ordered by name: procedures in the Agent Skills format that its agent reads, and scripts that it runs in the sandbox. Empty for a session without a sandbox, and for a session from before the service had skills.",
  },
  readRequestStatus: {
    description:
      "`pending` until the turn starts, `running` while it runs (including retries), `completed` when no further run follows. Read the outcome from the `run.completed` event, the callback or the agent's status.",
  },
  streamRequest: {
    description:
      "Streams the request's events as Server-Sent Events. Each stored event has its `seq` as `id`, its `kind` as `event` and the whole event as JSON in `data`. A replay is identical byte for byte. `message.delta` is sent live only and has no `id`. The stream covers all runs of the request and closes after its last event. Resume with `Last-Event-ID` or `after`; if no events are left, the response is 204, so that an `EventSource` stops reconnecting. A heartbeat comment is sent every 15 s.",
  },
  readAgentStatus: {
    description:
      "Read the deliverable of a structured session here: poll, or read it once after `run.completed`.",
  },
  postMessage: {
    description:
      "Send exactly one of `text`, `message` and `messages`. A turn that this operation starts never counts as started by a person. `queued` is true if the message waits for a running turn or will be read by it. A session queues at most 100 messages; a further one is refused with 409 `conflict`.",
    bodyExamples: {
      "A question": { text: "Which of these are required?" },
      "Steer the running turn": { text: "Skip the newsletter box.", mode: "steer" },
      "Interrupt the running turn": { text: "Stop that and look at the cart.", mode: "interrupt" },
    },
  },
  cancelTurn: { description: "Ends the run with the outcome `cancelled`. Queued messages run afterwards." },
  retargetBrowser: {
    description:
      "A 202 means that the retarget is accepted. Poll the browser's status until `lastNavigatedUrl` equals `url`, or until `lastError` tells why the navigation was refused. If no browser runs, one is started first, which can take about 30 s. A session with `browser: false` returns 409.",
  },
  annotateAsPerson: {
    description:
      "Takes the same body as the annotation webhook. Requires a link with at least the role `comment`. An annotation never starts a turn.",
  },
  listShareLinks: { description: "Lists active, expired and revoked links, without their secrets." },
  createShareLink: {
    description:
      "The secret is random, stored only as a hash, and returned only once. The link opens the session page with its role until it expires or is revoked.",
    bodyExamples: {
      "A link for reviewers": {
        role: "comment",
        label: "Design review",
        expiresAt: "2126-12-01T00:00:00.000Z",
      },
    },
  },
  revokeShareLink: {
    description:
      "Ends the link, its cookies and its open connections within a second. Revoking it again changes nothing.",
  },
  revokeAllShareLinks: {
    description:
      "Ends all share links, the `shareUrl` and the `liveViewUrl` of the session, with their cookies and open connections. Returns the new `shareUrl`.",
  },
  createPersonShareLink: { description: SHARE_OWNERS },
  listPersonShareLinks: {
    description: `${SHARE_OWNERS} The response also has the session's own \`shareUrl\`.`,
  },
  revokePersonShareLink: { description: SHARE_OWNERS },
  revokeAllPersonShareLinks: {
    description: `${SHARE_OWNERS} The response replaces the visitor's own cookie, so that the page keeps its access. Its socket must reconnect.`,
  },
  submitAnnotation: {
    description:
      "The annotation overlay in the pages of the live browser calls this webhook, from any origin and without an API key: the unguessable session id is the credential. An annotation never starts a turn.",
  },
  listDeliveries: { description: "Lists deliveries, newest first, each with all its attempts." },
  redeliverCallback: {
    description:
      "Sends the delivery again with the same body and id, in up to five more attempts. Returns 409 while the delivery is still pending.",
  },
  rotateCallbackSecret: {
    description:
      "Replaces the secret of the session's callback, or adds one. Until the overlap ends, `X-Service-Signature` is the signature with the new secret, `X-Service-Signature-Previous` the one with the old secret, and `Webhook-Signature` has both. Sending the same secret again changes nothing. Returns 409 if the session has no callback.",
  },
  enableCallback: {
    description:
      "Callbacks to a host are disabled for their owner if every delivery there was dropped for days; deliveries are then dropped without a request. This enables them again. Send dropped deliveries again with `redeliver`. Returns 409 if the session has no callback.",
  },
  createMcpToken: {
    description:
      "Gives an external agent access to tools of the session. With the token, an MCP client connects to the built-in server at `url` over Streamable HTTP. It is offered the server's utilities and those of the session's tools that the tool policy allows on a turn that no person started, without `elicit_user_input`, the tools for planning, requirements, delegation and skills, and the tools that act for the whole session (`publish_variant`, `deploy_landing_page`, `publish_qa_report`, `import_legacy_session`).",
  },
  readOpenApi: {
    description: "Send the `ETag` as `If-None-Match` to get a 304 if the document has not changed.",
  },
  readReadiness: {
    description:
      "Returns 200 if every part that a turn needs is available, otherwise 503. Needs no key; with a valid API key, and to processes on the machine of a service whose `BASE_URL` is a loopback address, `checks` has the state of each part.",
  },
  listMessages: {
    description: "Lists messages, oldest first. Queued messages are not part of the transcript.",
  },
  readPagePicture: {
    description:
      "Returns a screenshot taken when the browser last became idle or closed. Pages show it while no browser runs. Returns 404 if there is none.",
  },
  readArtifact: {
    description:
      "Returns evidence that a tool stored. Images are sent inline, everything else as a download.",
  },
  listQueue: { description: "Lists messages in the order in which the agent will get them." },
  editQueued: { description: "Replaces the text of the message. Returns 409 once its turn has started." },
  removeQueued: {
    description: "Completes the message's request as cancelled. Returns 409 once its turn has started.",
  },
  answerElicitation: {
    description:
      "A question can be answered or declined once. The turn continues with the answer. Returns 400 if a value does not fit its field, and the question stays open. Returns 409 if the question is no longer open.",
    bodyExamples: {
      "An answer": { answer: "EUR" },
      "A form": { answer: { email: "ada@shop.example", newsletter: false } },
      "No answer": { decline: true },
    },
  },
  postPersonMessage: { description: `${PERSONS} The turn counts as started by a person.` },
  listPersonDeliveries: { description: PERSONS },
  redeliverPersonCallback: { description: PERSONS },
  listKeys: { description: "Lists keys, newest first, without their secrets." },
  createKey: {
    description: "The response is the only one that contains the key. The service stores only a hash of it.",
  },
  rotateKey: {
    description:
      "Creates a new key with the same owner, name and scopes. The old key stays valid for the overlap.",
  },
  updateKey: {
    description:
      "Replaces the scopes. Open streams, WebSockets and user tokens that need a scope which the key lost end at once.",
  },
  rotateEncryption: {
    description:
      "Encrypts stored callback secrets, MCP headers and URLs again with `ENCRYPTION_KEY`, after a change of the key. A call works for at most about five seconds; repeat it with `nextCursor` until that is null. The service can run meanwhile. `npm run keys -- rotate-encryption` does all of it.",
  },
  revokeKey: { description: "The key stops working immediately. Revoking it again changes nothing." },
  listLogins: { description: "Lists the browsers that are signed in, the most recently used first." },
  endLogin: {
    description:
      "The browser is signed out immediately, in every process. Ending a login again changes nothing.",
  },
  logOut: { description: "Ends the login of the request, and removes its cookie." },
  cancelPersonTurn: { description: PERSONS },
  answerPersonElicitation: { description: PERSONS },
  listPersonQueue: { description: PERSONS },
  editPersonQueued: { description: PERSONS },
  removePersonQueued: { description: PERSONS },
  steerBrowser: {
    description:
      "`url` is what a person typed: an http(s) URL, or a host without a scheme. Search terms and other schemes return 400. Returns 409 while another connection has control of the browser, or while the agent is working and no person has taken control. `open` only starts the browser if none runs, and never returns 409 for these reasons. 202 means that the browser is running, or that the session waits for one (`browser.waiting`). A 503 contains the reason why no browser is available.",
    bodyExamples: {
      "Another page": { url: "shop.example/cart" },
      Back: { action: "back" },
      "The live page": { action: "open" },
    },
  },
};
