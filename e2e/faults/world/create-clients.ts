import { setTimeout as sleep } from "node:timers/promises";
import type { FollowUpMode } from "#db/schema/unions.ts";
import { type RunningService, userMessage } from "#e2e/fixtures/service.ts";
import type { Acknowledged } from "./evidence.ts";
import type { Random } from "./random.ts";
import { writeTag } from "./tag.ts";

/** A call that a client makes, and makes again with the same key until it is answered. */
type Ask = {
  nonce: string;
  idempotencyKey: string;
  path: string;
  body: Record<string, unknown>;
  /** The session's share link, for a person's message. */
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

/** An answer of a person that the service acknowledged. */
type AnswerTaken = { elicitationId: string; text: string };
const ANSWER_EVERY_MS = 60;

/** Clients of a service that never give up, and remember what they were told. */
export function createClients(deps: { service: () => RunningService; random: Random; receiverUrl: string }) {
  const { service, random, receiverUrl } = deps;
  const acknowledged: Acknowledged[] = [];
  const unanswered: Ask[] = [];
  const problems: string[] = [];
  const answers: { name: string; text: string }[] = [];
  const canaries: string[] = [];
  const secretsByNonce = new Map<string, string>();
  /** What goes on beside the play: calls that come at their own time. */
  const beside: Promise<unknown>[] = [];
  const taken: AnswerTaken[] = [];

  async function ask(asked: Ask): Promise<Created | undefined> {
    try {
      const headers = asked.shareUrl === undefined ? {} : asVisitor(asked.shareUrl, service().baseUrl);
      const answer = await service().call("POST", asked.path, asked.body, headers);
      const text = await answer.text();
      answers.push({ name: `the answer to ${asked.path}`, text });
      if (answer.status >= 400 && answer.status < 500)
        problems.push(`${asked.path} answered ${answer.status}: ${text}`);
      if (answer.ok) {
        const { nonce, idempotencyKey, body } = asked;
        const created = JSON.parse(text) as Created;
        const { sessionId, requestId, runId } = created;
        const mode = readMode(body);
        acknowledged.push({ sessionId, requestId, runId, mode, nonce, idempotencyKey, atMs: Date.now() });
        return created;
      }
    } catch {
      // The service has gone, or went while it answered: the client does not know whether it was heard.
    }
    unanswered.push(asked);
    return undefined;
  }

  /** Everything that chance decides about a message is decided before it is sent. */
  function describeFollowUp(sessionId: string, kind: string, more: Record<string, unknown>): Ask {
    const nonce = random.name();
    const idempotencyKey = `key-${nonce}`;
    const body = { text: writeTag({ kind, nonce }), idempotencyKey, ...more };
    return { nonce, idempotencyKey, path: `/api/sessions/${sessionId}/agent/messages`, body };
  }
  const describePersons = ({ sessionId, shareUrl }: Created, kind: string, mode: FollowUpMode): Ask => ({
    ...describeFollowUp(sessionId, kind, { mode }),
    path: `/s/${sessionId}/actions/messages`,
    shareUrl,
  });

  /** Answers every open question of a session with a text of its own, as long as the service takes answers. */
  async function answerOpen(sessionId: string): Promise<void> {
    const path = `/api/sessions/${sessionId}/elicitations`;
    const { data = [] } = await service().read<{ data?: { elicitationId: string; state: string }[] }>(path);
    for (const { elicitationId, state } of data) {
      if (state !== "open" || random.next() < 0.5) continue;
      const text = `answer ${random.name()}`;
      const { ok } = await service().call("POST", `${path}/${elicitationId}`, { answer: text });
      if (ok) taken.push({ elicitationId, text });
    }
  }

  return {
    acknowledged,
    unanswered,
    problems,
    answers,
    canaries,
    secretsByNonce,
    /** Asks again what was not answered. */
    async askAgain() {
      for (const asked of unanswered.splice(0)) await ask(asked);
    },
    /**
     * Creates a session with a callback, secrets and a first message of a kind the oracle knows.
     *
     * @returns undefined when no answer came; the call is made again by `askAgain`.
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
        callback: { url, secret },
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
    /** Posts a message of its own accord, some time from now, whatever happens to the service meanwhile. */
    followUpLater(sessionId: string, kind: string, mode: FollowUpMode, afterMs: number) {
      const asked = describeFollowUp(sessionId, kind, { mode });
      beside.push(sleep(afterMs).then(() => ask(asked)));
    },
    /** Posts a message as a person on the session page. */
    sayAsPerson: (created: Created, kind: string, mode: FollowUpMode = "queue") =>
      ask(describePersons(created, kind, mode)),
    /** The same some time from now, whatever happens to the service meanwhile. */
    sayAsPersonLater(created: Created, kind: string, mode: FollowUpMode, afterMs: number) {
      const asked = describePersons(created, kind, mode);
      beside.push(sleep(afterMs).then(() => ask(asked)));
    },
    taken,
    /** Answers the questions of all sessions from now on. @returns stops that. */
    answerQuestions(): () => Promise<void> {
      let isOver = false;
      const answering = (async () => {
        while (!isOver) {
          // The service may be killed at any moment.
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
    /** Waits until what comes at its own time has come. */
    async settleBeside() {
      await Promise.all(beside.splice(0));
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

/** A schema with a rule that a provider cannot enforce; its title names the session. */
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
