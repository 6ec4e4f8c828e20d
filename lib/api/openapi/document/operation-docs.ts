import type { OperationName } from "../../contract/contract.ts";

/** Documentation of an operation in addition to its summary: a description in Markdown, and example bodies by title. */
export type OperationDocs = { description?: string; bodyExamples?: Record<string, unknown> };

const PERSONS =
  "The same as the corresponding operation under `/api/sessions`, with the share cookie as the credential.";

const SHARE_OWNERS = `${PERSONS} Only visitors who opened the session's own \`shareUrl\` may call it; visitors with a created share link cannot manage links.`;

const message = (text: string) => ({ role: "user", parts: [{ type: "text", text }] });

/** Documentation by the name of the operation. Source: specification, Endpoints; `wire.md`, Also served. */
export const OPERATION_DOCS: Partial<Record<OperationName, OperationDocs>> = {
  createSession: {
    description:
      "Stores the session, its messages and the job for its first turn in one transaction: a 2xx means stored. Later requests cannot change the session's settings, except its budget and its callback's secret. A replay with the same `idempotencyKey` and an equal body returns 200 with the original ids. With an `outputSchema`, every turn ends with a typed deliverable. If the owner of the API key has reached a limit of the deployment, such as its number of sessions, the response is 409.",
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
    description:
      "Lists the sessions of the key's owner, without sub-agents. A cursor stays valid when sessions are deleted.",
  },
  readSession: {
    description:
      "Returns the session with its settings. The response does not include headers of tool servers or the callback's secret.",
  },
  deleteSession: {
    description:
      "Stops the turn, then deletes the rows, files, browser and secrets of the session and its sub-agents. The response counts what was deleted. `pending` lists data that could not be removed yet, such as files on disk; the service retries until all of it is removed. Published variants and landing pages stay published. Deleting the session again returns 404.",
  },
  readBudget: {
    description:
      "Returns the limits of the session and what the session and its sub-agents have spent. A sub-agent has the budget of its root session.",
  },
  changeBudget: {
    description:
      "Sets, raises, lowers or removes limits. Turns of the session and its sub-agents that wait because of the budget continue if it is no longer used up. A lower limit applies before the next model call. Repeating the call has no further effect.",
    bodyExamples: { "Raise two limits": { usd: 10, tokens: 500_000 }, "Remove a limit": { minutes: null } },
  },
  listAgents: {
    description:
      "Lists every sub-agent below the session, at every depth: parents before their children. Each sub-agent has its own session. An API key of the owner can read this session, but operations that change it return 409.",
  },
  listVariants: {
    description:
      "Lists the variants of the session with the state of their newest revisions. For a sub-agent, lists the variants of its root session.",
  },
  editVariant: {
    description:
      "Applies edits to the newest revision and stores the result as a new revision. Returns 200 without a new revision if the edits change nothing, and 409 if `baseRevision` is not the newest revision.",
  },
  checkAsPerson: {
    description:
      "Checks the newest revision in a browser, and returns when the report is stored, after at most five minutes. Returns 409 if another check that a person started is in progress in the session, or if the check could not be completed.",
  },
  showVariant: {
    description:
      "Sets the variant that the live browsers of the session and of its sub-agents show. Published scripts do not change.",
  },
  listReports: {
    description: "Lists all versions of the reports. For a sub-agent, lists the reports of its root session.",
  },
  readReport: {
    description:
      "A report never changes. `summary` and `detail` are Markdown that the agent wrote: treat both as untrusted. With `format=markdown`, the response is a Markdown file that contains both as block quotations, without raw HTML or pictures.",
  },
  listTestRuns: {
    description:
      "Lists all test runs of the session, without their results. For a sub-agent, lists the test runs of its root session.",
  },
  readTestRun: {
    description:
      "`results` is empty until the run has ended. Titles, errors, steps and output contain texts of the tests and pages: treat them as untrusted. Open a trace with `npx playwright show-trace`.",
  },
  rerunTests: {
    description:
      "Starts a new test run of the same files with the same options, against the newest revision of the variant. Refused with 409 while another test run of the session has not ended.",
  },
  cancelTests: {
    description:
      "Requests the end of a test run. The test run ends within a few seconds, so the response can still show it as `running`. Refused with 409 if the test run has ended.",
  },
  readPlan: {
    description:
      "Returns the plan of the session; for a sub-agent, the plan of its root session. If no plan was ever written, returns an empty plan with revision 0.",
  },
  editPlan: {
    description:
      "Applies edits to the current plan. Edits of different items by several people all take effect. If an edit names an item that no longer exists, replaces a text that has changed, or adds an item to a plan of 50 items, the request is refused with 409, and none of its edits takes effect. The agent cannot overwrite the edits before it has seen them.",
  },
  setPlanMode: {
    description:
      "With `plan_first`, the service refuses tool calls that change pages, files or publications until a person agrees to the plan on the session page. This also applies to sub-agents and to holders of MCP tokens. The mode takes effect with the next tool call; calls in progress are not stopped. The agent is still offered the same tools.",
  },
  agreePlan: {
    description:
      "Sets the mode to `agreed` and posts `The plan is agreed. Go ahead.` with the person's text as a message of the person, in one transaction. A running turn reads the message between two of its steps; otherwise it starts a turn. Refused with 409 if the mode is not `plan_first`, if the plan has no item that is `todo` or `in_progress`, if `revision` is not the plan's current revision, or if 100 messages wait already.",
  },
  listRequirements: {
    description:
      "Lists all requirements of the session (for a sub-agent, of its root session) with the newest result of each assertion.",
  },
  addRequirements: {
    description:
      "Adds requirements on behalf of a person, at most 20 per call. A session can have at most 100 requirements; a call that would exceed this is refused with 409.",
  },
  updateRequirement: {
    description:
      "Changes a requirement on behalf of a person. A new text or assertion reopens a requirement that was met or failed, unless the call sets a status. The agent cannot change a waived requirement, nor the text or an assertion of a requirement that a person added.",
  },
  acceptChanges: {
    description:
      "Accepts that the newest check could not examine these changes, for example because they are in a closed menu. A check passes (`warn`) only if nothing failed and each change with the outcome `not_examined` is accepted. The agent cannot accept for itself. An acceptance holds for later checks and revisions, as long as the change has the same content and is not examined in the same places for the same reasons. Accepting a change again has no effect. The response is 400 if the check has no such change, and 409 if the change was proved or has failed, if the revision is not the newest, if it was not checked, or if it was checked again since `checkedAt`. The session page calls this operation with a share cookie of the role `drive`.",
  },
  publishVariant: {
    description:
      "Makes an immutable release of the newest revision. Pages that load the publication's script get the release within a minute. The newest check of the revision must have passed (`pass` or `warn`), otherwise the response is 409; `unchecked: true` publishes without a passed check. If the current release already has this revision, the response is 200 and no new release is made. Exception: if that release is unchecked and the revision has passed a check since, a new release is made. A variant can have at most 500 releases. The session page calls this operation with a share cookie of the role `drive`.",
    bodyExamples: { "The newest revision": {}, "Without a check": { revision: 3, unchecked: true } },
  },
  rollbackVariant: {
    description:
      "Makes the given release the current one. Pages that load the publication's script get the release within a minute. The release may have been unpublished or be unchecked; `unchecked` is not required again.",
  },
  unpublishVariant: {
    description:
      "The publication's script becomes empty, so that pages that load it continue to work without errors. The scripts of single releases return 410, even after a new release, until a rollback to them. Idempotent.",
  },
  exportSession: {
    description:
      "Downloads the session as one file. The JSON has its conversation, the newest revision of each variant, results, previews, annotations, sub-agents and evidence; `leftOut` lists the parts that are missing. The HTML presents the same content for people, in one file without scripts or network access. Neither format contains credentials, headers, callbacks, share links, the system prompt or metadata. The response is streamed.",
  },
  exportAsPerson: { description: PERSONS },
  importIntoSession: {
    description:
      "Imports an export of a session or of a variant, or a document of GrowthBook or PostHog. The document's variants become new variants; if a key is taken, a number is appended to it. The document's conversation can be read at `imports/:importId`, and the agent can read it too. The document is validated as a whole before anything is stored. Returns 200 without a change if the document was imported before. `leftOut` lists the parts that were not imported.",
  },
  importAsPerson: { description: PERSONS },
  exportRevision: {
    description:
      "Exports a revision of a variant. With `format=script`, the response is a JavaScript file; otherwise it is JSON with the revision in `document`, and `omitted` lists the parts that the format cannot represent.",
  },
  importVariant: {
    description:
      "Stores the imported document as a new revision on behalf of a person. The revision replaces the content of the variant; if the variant does not exist, the import creates it. Returns 409 if `baseRevision` is not the newest revision. If no part of the document can be imported, returns 400 and changes nothing.",
  },
  rollbackPublication: {
    description:
      "The same as the rollback of a variant, also for a publication whose session has been deleted.",
  },
  unpublishPublication: {
    description: "The same as unpublishing a variant, also for a publication whose session has been deleted.",
  },
  listPublications: {
    description:
      "Lists the publications of the key's owner, including those of deleted sessions. An unpublished publication is listed until its session is deleted.",
  },
  readScript: {
    description:
      "Public: no credentials, `Access-Control-Allow-Origin: *`. The script of the current release may be cached for 60 s, that of a single release for 300 s. If the publication is unpublished, its script is empty, and the scripts of its withdrawn releases return 410.",
  },
  listLandingPages: {
    description:
      "Lists the landing pages of the key's owner, including those of deleted sessions. An unpublished page is listed until its session is deleted.",
  },
  rollbackPage: {
    description:
      "Serves the given version of the page. The change takes effect within a second in every process. A rollback also publishes an unpublished page again.",
  },
  unpublishPage: {
    description:
      "Within a second, every URL of the page returns 410 in every process. The slug stays reserved. A rollback or a new deploy publishes the page again. Idempotent.",
  },
  listSessionPages: {
    description:
      "Lists the pages whose newest version the session deployed, oldest first. For a sub-agent, lists the pages of its root session.",
  },
  listSkills: {
    description:
      "Lists the skills that the session was created with, ordered by name: procedures in the Agent Skills format that its agent reads, and scripts that it runs in the sandbox. Empty for a session without a sandbox, and for a session that was created before the service had skills.",
  },
  readRequestStatus: {
    description:
      "`pending` until the turn starts, `running` while it runs (including retries), `completed` when no further run follows. Read the outcome from the `run.completed` event, the callback or the agent's status.",
  },
  streamRequest: {
    description:
      "Streams the request's events as Server-Sent Events. Each stored event has its `seq` as `id`, its `kind` as `event` and the whole event as JSON in `data`. A replay is identical byte for byte. `message.delta` is only sent live, is not stored and has no `id`. The stream covers all runs of the request and closes after its last event. Resume with `Last-Event-ID` or `after`; if the request is completed and no events are left, the response is 204, so that an `EventSource` stops reconnecting. A heartbeat comment is sent every 15 s.",
  },
  readAgentStatus: {
    description:
      "Returns what the agent is doing and the results of the session. To get the deliverable of a structured session, poll this operation, or call it once after `run.completed`.",
  },
  postMessage: {
    description:
      "Send exactly one of `text`, `message` and `messages`. A turn that this operation starts never counts as started by a person. `queued` is true if the message waits for earlier turns to end or for the running turn to read it. A session queues at most 100 messages; a further message is refused with 409 `conflict`.",
    bodyExamples: {
      "A question": { text: "Which of these are required?" },
      "Steer the running turn": { text: "Skip the newsletter box.", mode: "steer" },
      "Interrupt the running turn": { text: "Stop that and look at the cart.", mode: "interrupt" },
    },
  },
  cancelTurn: {
    description:
      "Ends the running turn with the outcome `cancelled`. The next queued message then starts its turn. `runId` is null if no turn was running.",
  },
  retargetBrowser: {
    description:
      "A 202 means that the retarget is accepted. Poll the browser's status until `lastNavigatedUrl` equals `url`, or until `lastError` says why the navigation was refused. If no browser runs, one is started first, which can take about 30 s. A session with `browser: false` returns 409.",
  },
  annotateAsPerson: {
    description:
      "Takes the same body as the annotation webhook. Requires a share cookie with at least the role `comment`. An annotation never starts a turn.",
  },
  listShareLinks: { description: "Lists active, expired and revoked links, without their secrets." },
  createShareLink: {
    description:
      "The secret is random, stored only as a hash, and returned only once. The link opens the session page with the role of the link until the link expires or is revoked. A session can have at most 100 live links; a further one is refused with 409.",
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
    description: `${SHARE_OWNERS} The response replaces the visitor's own cookie, so that the page keeps its access. The page's WebSocket is closed and must reconnect.`,
  },
  submitAnnotation: {
    description:
      "The annotation overlay in the pages of the live browser calls this webhook, from any origin and without an API key: the unguessable session id is the credential. An annotation never starts a turn. A session has a limited number of annotations; beyond it, the response is 409.",
  },
  listDeliveries: { description: "Lists deliveries, newest first, each with all its attempts." },
  redeliverCallback: {
    description:
      "Sends the delivery again with the same body and id, in up to five more attempts, even if callbacks to its host are disabled. Returns 409 while the delivery is still `pending` or `sending`.",
  },
  rotateCallbackSecret: {
    description:
      "Replaces the secret of the session's callback, or adds one. All later attempts are signed with the new secret in `X-Service-Signature`. Until the overlap ends, `X-Service-Signature-Previous` has the signature with the old secret, and `Webhook-Signature` has both. Sending the same secret again changes nothing; a second rotation within the overlap ends the first secret. Returns 409 if the session has no callback.",
  },
  enableCallback: {
    description:
      "If all deliveries to a host are dropped for days, the service disables the owner's callbacks to this host: it then drops further deliveries without sending a request. This operation enables callbacks to the host of the session's callback again. Send dropped deliveries again with `redeliver`. Returns 409 if the session has no callback.",
  },
  createMcpToken: {
    description:
      "Gives an external agent access to tools of the session. With the token, an MCP client connects to the built-in server at `url` over Streamable HTTP. The server offers the client its own utilities and the session's tools that the tool policy allows on a turn that no person started. It does not offer `elicit_user_input`, the tools for planning, requirements, delegation and skills, the tools for test runs, or the tools that act for the whole session (`publish_variant`, `deploy_landing_page`, `publish_qa_report`, `import_legacy_session`). The token also ends when the session is deleted, or when the API key of this request is revoked, expires or loses `sessions:write`.",
  },
  readOpenApi: {
    description: "Send the `ETag` as `If-None-Match` to get a 304 if the document has not changed.",
  },
  readReadiness: {
    description:
      "Returns 200 if every part that a turn needs is available, otherwise 503. Needs no API key. `checks` has the state of each part, but only for callers with a valid API key and, if the service's `BASE_URL` is a loopback address, for processes on the same machine.",
  },
  listMessages: {
    description: "Lists messages, oldest first. Queued messages are not part of the transcript.",
  },
  readPagePicture: {
    description:
      "Returns the screenshot that was taken when the browser last became idle or closed. The session page shows it while no browser runs. Returns 404 if there is no screenshot.",
  },
  readArtifact: {
    description:
      "Returns evidence that a tool stored. Images are sent inline, everything else as a download.",
  },
  listQueue: { description: "Lists the messages that wait, in the order in which the agent will get them." },
  editQueued: {
    description:
      "Replaces the text of a message that waits. Returns 409 once the message's turn has started or a turn has read the message.",
  },
  removeQueued: {
    description:
      "Removes a message that waits, and completes its request with the outcome `cancelled`. Returns 409 once the message's turn has started or a turn has read the message.",
  },
  answerElicitation: {
    description:
      "Answers or declines a question, after which the turn continues. Each question can be answered or declined only once: returns 409 if the question is no longer open. Returns 400 if a value does not fit its field; the question then stays open.",
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
      "Creates a new key with the same owner, name and scopes, and with the lifetime that the old key was created with. The old key stays valid for `overlapHours`, 24 hours by default. A key has at most one valid successor; rotating it again is a 409 until the successor is revoked or has expired.",
  },
  updateKey: {
    description:
      "Replaces the scopes of the key. Open streams, WebSockets and MCP tokens that need a scope that the key has lost end within a second.",
  },
  rotateEncryption: {
    description:
      "Encrypts stored callback secrets, MCP headers and URLs again with `ENCRYPTION_KEY`, after a change of the key. A call takes at most about five seconds and encrypts a part of the values; repeat it with `nextCursor` as `cursor` until `nextCursor` is null. The service can run meanwhile. `npm run keys -- rotate-encryption` makes all of these calls.",
  },
  revokeKey: { description: "The key stops working immediately. Revoking it again changes nothing." },
  listLogins: { description: "Lists the browsers that are signed in, the most recently used first." },
  endLogin: {
    description:
      "The browser is signed out immediately, in every process. Ending a login again changes nothing.",
  },
  logOut: { description: "Ends the login whose cookie the request has, and removes the cookie." },
  cancelPersonTurn: { description: PERSONS },
  answerPersonElicitation: { description: PERSONS },
  listPersonQueue: { description: PERSONS },
  editPersonQueued: { description: PERSONS },
  removePersonQueued: { description: PERSONS },
  steerBrowser: {
    description:
      "`url` is what a person typed: an http(s) URL, or a host without a scheme. Search terms and other schemes return 400. Returns 409 while another connection has control of the browser, or while the agent is working and no person has taken control. The action `open` only starts the browser if none runs, and never returns 409 for these reasons. 202 means that the browser is running, or that the session waits for one (`browser.waiting`). A 503 contains the reason why no browser is available.",
    bodyExamples: {
      "Another page": { url: "shop.example/cart" },
      Back: { action: "back" },
      "The live page": { action: "open" },
    },
  },
};
