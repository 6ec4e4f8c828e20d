import type { OperationName } from "../../contract/contract.ts";

/** What the reference says of an operation beyond its summary, in Markdown, and bodies worth showing by their titles. */
export type OperationDocs = { description?: string; bodyExamples?: Record<string, unknown> };

const PERSONS =
  "As the operation for programs below `/api/sessions`, with the share cookie as the credential.";

const SHARE_OWNERS = `${PERSONS} Visitors of the session's own \`shareUrl\` only: a created link manages no links.`;

const message = (text: string) => ({ role: "user", parts: [{ type: "text", text }] });

/** Source: specification, Endpoints; `wire.md`, Also served. */
export const OPERATION_DOCS: Partial<Record<OperationName, OperationDocs>> = {
  createSession: {
    description:
      "Stores the session, its messages and the job of playing its first turn in one transaction: a 2xx means stored. Everything but the messages is fixed from then on. A replay with the same `idempotencyKey` and an equal body is a 200 with the original ids. With an `outputSchema` every turn ends in a typed deliverable.",
    bodyExamples: {
      "A question about a page": {
        messages: [message("What does the checkout of this shop ask for?")],
        targetUrl: "https://shop.example/checkout",
      },
      "A typed result, and a callback when it is there": {
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
      "Tools of one's own, and no browser": {
        messages: [message("Which of our customers wrote today?")],
        mcpServers: { crm: { url: "https://tools.example/mcp", headers: { Authorization: "Bearer …" } } },
        capabilities: { browser: false },
        tools: { exclude: ["run_shell", "mcp_crm__delete_*"] },
      },
    },
  },
  startSession: {
    description:
      "As `POST /api/session`, for the landing page: the login cookie is the credential. The first turn is a person's (`origin: person`), and `source` always reads `web`.",
  },
  listSessions: {
    description: "Those of the key's owner. The cursor is good for as long as its session is there.",
  },
  readSession: {
    description:
      "The session with its fixed profile. Secrets are no part of it: neither headers of tool servers nor the callback's secret.",
  },
  deleteSession: {
    description:
      "Stops the turn, then removes rows, files, browser and secrets of the session and its sub-agents, and counts them. `pending` lists what could not be removed from disk yet; the service retries until it is gone. Asking again answers 404.",
  },
  readRequestStatus: {
    description:
      "`pending` until its turn begins, `running` while it is played (retries included), `completed` when no run follows. How it ended is told by the stream's `run.completed`, by the callback, and by the agent's status.",
  },
  streamRequest: {
    description:
      "Server-Sent Events. Each stored event has its number in the session as `id`, its kind as `event`, and itself as JSON in `data`; a replay is equal to the byte. `message.delta` is live only and has no `id`. The stream spans all runs of the request and closes after its last event. Resume with `Last-Event-ID` or `after`; who has seen everything gets a 204, so that an `EventSource` stops. A comment comes every 15 s.",
  },
  readAgentStatus: {
    description:
      "Read the deliverable of a structured session here, by polling or once after `run.completed`.",
  },
  postMessage: {
    description:
      "Exactly one of `text`, `message` and `messages`. A turn that it starts counts as not typed by a person, whatever it says. `queued` says whether the message waits for a running turn. At most 100 messages wait in a session; a further one is refused with 409 `conflict`.",
    bodyExamples: {
      "A question": { text: "Which of these are required?" },
      "A word to the running turn": { text: "Skip the newsletter box.", mode: "steer" },
      "Something else instead": { text: "Stop that and look at the cart.", mode: "interrupt" },
    },
  },
  cancelTurn: { description: "The run ends as `cancelled`; messages that wait are played afterwards." },
  retargetBrowser: {
    description:
      "Accepted, not landed: poll the browser's status until `lastNavigatedUrl` equals `url`, or until `lastError` says why it was refused. A browser that is not there is started first; allow it about 30 s. A session with `browser: false` is a 409.",
  },
  annotateAsPerson: {
    description:
      "The body of the annotation webhook, for visitors whose link may at least `comment`. An annotation starts no turn.",
  },
  listShareLinks: { description: "Live, expired and revoked links, without their secrets." },
  createShareLink: {
    description:
      "The secret is random, is stored as a hash, and is in this answer only. The link opens the session page with its role until it expires or is revoked.",
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
      "The link, its cookies and its open connections end within a second. Revoking it again changes nothing.",
  },
  revokeAllShareLinks: {
    description:
      "Ends all share links, the `shareUrl` and the `liveViewUrl` of the session with their cookies and open connections, and answers with the new `shareUrl`.",
  },
  createPersonShareLink: { description: SHARE_OWNERS },
  listPersonShareLinks: { description: SHARE_OWNERS },
  revokePersonShareLink: { description: SHARE_OWNERS },
  revokeAllPersonShareLinks: {
    description: `${SHARE_OWNERS} The answer replaces the visitor's own cookie, so that the page stays open to them; its socket must connect again.`,
  },
  submitAnnotation: {
    description:
      "Called by the overlay in every page of the live browser, from any origin and without a key: the session's id is the secret. An annotation by itself never starts a turn.",
  },
  listDeliveries: { description: "Newest first, each with all of its attempts." },
  redeliverCallback: {
    description:
      "Opens the same delivery again, with the same bytes and id: five more attempts. One that is still open is a 409.",
  },
  createMcpToken: {
    description:
      "For an agent that is not this service's: with the token it reaches the built-in tool server at `url` (MCP, Streamable HTTP), and there what the session's policy leaves of its tools.",
  },
  readOpenApi: { description: "Send the `ETag` as `If-None-Match`: what has not changed is a 304." },
  readReadiness: { description: "200 when every part that a turn needs answers, else 503." },
  listMessages: { description: "Oldest first. A message that waits in the queue is not part of it." },
  readPagePicture: {
    description:
      "What the page looked like when the browser was last left alone or ended: for showing a session while no browser runs. 404 where there is none.",
  },
  readArtifact: { description: "A picture is shown; anything else is only ever downloaded." },
  listQueue: { description: "In the order in which the agent gets them." },
  editQueued: { description: "Until its turn begins; then it is a 409." },
  removeQueued: { description: "Its request completes as cancelled. Once its turn has begun it is a 409." },
  answerElicitation: {
    description: "Once; a question that is settled is a 409.",
    bodyExamples: { "An answer": { answer: "EUR" }, "No answer": { decline: true } },
  },
  postPersonMessage: { description: `${PERSONS} The turn counts as a person's.` },
  listPersonDeliveries: { description: PERSONS },
  redeliverPersonCallback: { description: PERSONS },
  listKeys: { description: "Newest first; no secret is among it." },
  createKey: {
    description: "The answer is the one time that the key's text is told: only a hash of it is kept.",
  },
  rotateKey: { description: "A successor, beside which the old key goes on for the overlap." },
  revokeKey: { description: "The key ends at once; asking again changes nothing." },
  cancelPersonTurn: { description: PERSONS },
  answerPersonElicitation: { description: PERSONS },
  listPersonQueue: { description: PERSONS },
  editPersonQueued: { description: PERSONS },
  removePersonQueued: { description: PERSONS },
  steerBrowser: {
    description:
      "`url` is what a person typed: an http(s) URL, or a host, to which the scheme is added. Search words and other schemes are answered with a 400 that says so. A 409 while another connection has control of the browser, or the agent is at work and nobody has taken control; `open`, which only starts the browser where none runs, is not refused so. 202 means that the browser is up, or that the session waits for one (`browser.waiting`); 503 says why no browser can be had.",
    bodyExamples: {
      "Somewhere else": { url: "shop.example/cart" },
      Back: { action: "back" },
      "The live page": { action: "open" },
    },
  },
};
