import { setTimeout as sleep } from "node:timers/promises";
import type { FollowUpMode } from "#db/schema/unions.ts";
import { type RunningService, userMessage } from "#e2e/fixtures/service.ts";
import type { Acknowledged } from "./evidence.ts";
import type { Random } from "./random.ts";
import { writeTag } from "./tag.ts";

/** A request that a client repeats, with the same idempotency key, until the service answers it with a 2xx. */
type ClientRequest = {
  nonce: string;
  idempotencyKey: string;
  path: string;
  body: Record<string, unknown>;
  /** The share link with which a person sends the message; omitted if an API key sends it. */
  shareUrl?: string;
};

type Created = {
  sessionId: string;
  requestId: string;
  runId: string;
  statusUrl: string;
  streamUrl: string;
  shareUrl: string;
};

/** A person's answer to a question of the agent, which the service acknowledged with a 2xx. */
type AcknowledgedAnswer = { elicitationId: string; text: string };
const ANSWER_EVERY_MS = 60;

/**
 * Creates clients that record the answers of the service. They can repeat the requests that got no 2xx answer, which
 * are called unanswered.
 */
export function createClients(deps: { service: () => RunningService; random: Random; receiverUrl: string }) {
  const { service, random, receiverUrl } = deps;
  const acknowledged: Acknowledged[] = [];
  const unanswered: ClientRequest[] = [];
  const problems: string[] = [];
  const answers: { name: string; text: string }[] = [];
  const canaries: string[] = [];
  const secretsByNonce = new Map<string, string>();
  /** Requests that are sent after a delay. `settleDelayed` waits for them. */
  const delayed: Promise<unknown>[] = [];
  const acknowledgedAnswers: AcknowledgedAnswer[] = [];

  async function ask(request: ClientRequest): Promise<Created | undefined> {
    try {
      const headers = request.shareUrl === undefined ? {} : asVisitor(request.shareUrl, service().baseUrl);
      const answer = await service().call("POST", request.path, request.body, headers);
      const text = await answer.text();
      answers.push({ name: `the answer to ${request.path}`, text });
      if (answer.status >= 400 && answer.status < 500)
        problems.push(`${request.path} answered ${answer.status}: ${text}`);
      if (answer.ok) {
        const { nonce, idempotencyKey, body } = request;
        const created = JSON.parse(text) as Created;
        const { sessionId, requestId, runId } = created;
        const mode = readMode(body);
        acknowledged.push({ sessionId, requestId, runId, mode, nonce, idempotencyKey, atMs: Date.now() });
        return created;
      }
    } catch {
      // The service ended before it had answered. The client does not know whether its request had an effect.
    }
    unanswered.push(request);
    return undefined;
  }

  /**
   * Builds a follow-up request. Its random choices are made here, so they do not depend on when the request is sent.
   */
  function describeFollowUp(sessionId: string, kind: string, more: Record<string, unknown>): ClientRequest {
    const nonce = random.name();
    const idempotencyKey = `key-${nonce}`;
    const body = { text: writeTag({ kind, nonce }), idempotencyKey, ...more };
    return { nonce, idempotencyKey, path: `/api/sessions/${sessionId}/agent/messages`, body };
  }
  const describeAsPerson = (
    { sessionId, shareUrl }: Created,
    kind: string,
    mode: FollowUpMode,
  ): ClientRequest => ({
    ...describeFollowUp(sessionId, kind, { mode }),
    path: `/s/${sessionId}/actions/messages`,
    shareUrl,
  });

  /** Answers about half of a session's open questions. Each answer has a different text. */
  async function answerOpen(sessionId: string): Promise<void> {
    const path = `/api/sessions/${sessionId}/elicitations`;
    const { data = [] } = await service().read<{ data?: { elicitationId: string; state: string }[] }>(path);
    for (const { elicitationId, state } of data) {
      if (state !== "open" || random.next() < 0.5) continue;
      const text = `answer ${random.name()}`;
      const { ok } = await service().call("POST", `${path}/${elicitationId}`, { answer: text });
      if (ok) acknowledgedAnswers.push({ elicitationId, text });
    }
  }

  return {
    acknowledged,
    unanswered,
    problems,
    answers,
    canaries,
    secretsByNonce,
    /** Sends each unanswered request once more. */
    async retryUnanswered() {
      for (const request of unanswered.splice(0)) await ask(request);
    },
    /**
     * Creates a session with a callback, secrets, and a first message whose tag has this kind.
     *
     * @returns undefined if no 2xx answer arrived; `retryUnanswered` sends the request again.
     */
    create(
      kind: string,
      more: { hook?: string; receiverUrl?: string; body?: Record<string, unknown> } = {},
    ): Promise<Created | undefined> {
      const nonce = random.name();
      const secret = `canary-secret-${random.name()}`;
      const header = `canary-header-${random.name()}`;
      canaries.push(secret, header);
      const idempotencyKey = `key-${nonce}`;
      const url = `${more.receiverUrl ?? receiverUrl}/hook/${more.hook ?? "ok"}/${nonce}`;
      const body = {
        messages: [userMessage(writeTag({ kind, nonce }))],
        idempotencyKey,
        callback: { url, secret, events: ["run.started", "run.completed", "run.waiting", "run.resumed"] },
        mcpServers: {
          crm: { url: "https://127.0.0.1:9/mcp", headers: { authorization: `Bearer ${header}` } },
        },
        ...(/structured|wrong/.test(kind) ? { outputSchema: schemaOf(nonce) } : {}),
        ...more.body,
      };
      secretsByNonce.set(nonce, secret);
      return ask({ nonce, idempotencyKey, path: "/api/session", body });
    },
    /** Posts a follow-up message. */
    followUp: (sessionId: string, kind: string, more: Record<string, unknown> = {}) =>
      ask(describeFollowUp(sessionId, kind, more)),
    /** Posts a follow-up message after `afterMs`. If no 2xx answer arrives, `retryUnanswered` repeats the request. */
    followUpLater(sessionId: string, kind: string, mode: FollowUpMode, afterMs: number) {
      const request = describeFollowUp(sessionId, kind, { mode });
      delayed.push(sleep(afterMs).then(() => ask(request)));
    },
    /** Posts a message as a person on the session page. */
    sayAsPerson: (created: Created, kind: string, mode: FollowUpMode = "queue") =>
      ask(describeAsPerson(created, kind, mode)),
    /** Posts a message as a person on the session page after `afterMs`. */
    sayAsPersonLater(created: Created, kind: string, mode: FollowUpMode, afterMs: number) {
      const request = describeAsPerson(created, kind, mode);
      delayed.push(sleep(afterMs).then(() => ask(request)));
    },
    acknowledgedAnswers,
    /**
     * Starts to answer the open questions of all sessions periodically. @returns a function that stops the answering.
     */
    answerQuestions(): () => Promise<void> {
      let isOver = false;
      const answering = (async () => {
        while (!isOver) {
          // Errors are ignored, because a case may kill the service at any moment.
          for (const sessionId of new Set(acknowledged.map((one) => one.sessionId)))
            await answerOpen(sessionId).catch(() => {});
          await sleep(ANSWER_EVERY_MS);
        }
      })();
      return () => {
        isOver = true;
        return answering;
      };
    },
    /** Waits until every delayed request has got an answer or failed. */
    async settleDelayed() {
      await Promise.all(delayed.splice(0));
    },
  };
}

const asVisitor = (shareUrl: string, baseUrl: string): Record<string, string> => ({
  authorization: "",
  origin: new URL(baseUrl).origin,
  cookie: `share=${new URL(shareUrl, baseUrl).searchParams.get("key")}`,
});

const readMode = ({ mode }: Record<string, unknown>): FollowUpMode =>
  mode === "steer" || mode === "interrupt" ? mode : "queue";

/** Creates a schema with rules that a model provider cannot enforce. Its title contains the nonce. */
const schemaOf = (nonce: string) => ({
  type: "object",
  title: `Result ${nonce}`,
  properties: {
    name: { type: "string", minLength: 3 },
    tags: { type: "array", items: { type: "string" }, minItems: 1 },
  },
  required: ["name", "tags"],
  additionalProperties: false,
});
