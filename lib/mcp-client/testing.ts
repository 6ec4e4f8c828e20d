import type { ElicitationForm } from "#db/schema/index.ts";
import { makeCertificate } from "#e2e/fixtures/make-certificate.ts";
import { startToolServer, type ToolServerOptions } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { trustCertificate } from "#e2e/fixtures/trust-certificate.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createGuardedWebFetch } from "#lib/net/fetch/guarded-web-fetch.ts";
import type { ElicitationEnd } from "#lib/session/elicitation/elicitation.ts";
import type { ClientCredentials } from "./connection/client-credentials.ts";
import type { ServerDeps } from "./connection/find-server.ts";
import { createMcpClient, type McpCall } from "./create-mcp-client.ts";
import type { McpLimits } from "./mcp-limits.ts";
import type { McpTurn } from "./tool-server.ts";
import type { CheckOutput } from "./tools/check-structured.ts";

const DEFAULT_CALL = { callId: "call_t", serverId: "crm", input: {} };

export type Question = {
  callId: string;
  question: string;
  options: string[] | null;
  form: ElicitationForm | null;
};

/**
 * Creates a test bench. Its `startServer` starts a real tool server on loopback. Its `open` creates a client that uses
 * the real guarded fetch, which may connect to loopback here.
 */
export function openMcpBench() {
  const certificate = makeCertificate();
  trustCertificate(certificate);
  const fetch = createGuardedWebFetch(createAddressRule({ allow: ["127.0.0.1"] }), { protocols: ["https:"] });
  const closing: (() => Promise<unknown>)[] = [];
  let turns = 0;

  return {
    certificate,
    async startServer(options: ToolServerOptions = {}) {
      const server = await startToolServer({ certificate, ...options });
      closing.unshift(() => server.close());
      return server;
    },
    /** Creates a client, and a turn of a session with these servers. */
    open(
      urls: Record<string, string | McpTurn["servers"][string]>,
      options: {
        limits?: Partial<McpLimits>;
        headers?: Record<string, Record<string, string>>;
        auth?: Record<string, ClientCredentials>;
        sealedUrls?: Record<string, string>;
        builtin?: ServerDeps["builtin"];
        mayAskPeople?: boolean;
        revisions?: McpTurn["revisions"];
        checkOutput?: CheckOutput;
        /** Ends a question for which the turn would be parked; undefined if it stays open. */
        answerParked?: (question: Question) => ElicitationEnd | undefined;
        answer?: (question: Question) => ElicitationEnd | Promise<ElicitationEnd>;
      } = {},
    ) {
      const questions: Question[] = [];
      /** What the turn's call needs to go on. */
      let round: string | undefined;
      const client = createMcpClient({
        fetch,
        readSecrets: async (_, serverId) => ({
          headers: options.headers?.[serverId] ?? {},
          auth: options.auth?.[serverId],
          url: options.sealedUrls?.[serverId],
        }),
        elicitations: {
          askAndWait: async ({ callId }, { question, options: choices, form }) => {
            const entry = { callId, question, options: choices, form };
            questions.push(entry);
            return options.answer?.(entry) ?? { state: "declined" };
          },
          async ask({ callId }, { question, options: choices, form }, endedBy) {
            const entry = { callId, question, options: choices, form };
            const id = `eli_${callId}`;
            if (!questions.some((question) => question.callId === callId)) questions.push(entry);
            const end =
              endedBy === undefined ? await options.answerParked?.(entry) : { state: "unanswered" as const };
            return end ?? { state: "open", id, expiresAt: new Date(Date.now() + 1_000) };
          },
        },
        rounds: {
          read: async () => round,
          store: async (_, text) => {
            round = text;
          },
          remove: async () => {
            round = undefined;
          },
        },
        checkOutput: options.checkOutput ?? (async () => ({ valid: true })),
        ...(options.limits && { limits: options.limits }),
        ...(options.builtin && { builtin: options.builtin }),
      });
      closing.push(() => client.close());
      const servers = Object.fromEntries(
        Object.entries(urls).map(([id, url]) => [
          id,
          typeof url === "string" ? { url, type: "http" as const } : url,
        ]),
      );
      const { mayAskPeople = false } = options;
      const turn: McpTurn = {
        sessionId: "ses_t",
        runId: `run_${++turns}`,
        epoch: 1,
        mayAskPeople,
        servers,
        revisions: options.revisions ?? {},
        offerKey: "",
      };
      const { signal } = new AbortController();
      return {
        client,
        turn,
        questions,
        list: () => client.list(turn, client.listServerIds(turn), signal),
        async call(tool: string, more: Partial<McpCall> = {}) {
          const answer = await client.call(turn, { ...DEFAULT_CALL, tool, signal, ...more });
          if ("waitsFor" in answer) throw new Error("the call waits");
          return answer;
        },
        /** Makes a call that may wait. */
        callOrWait: (tool: string, more: Partial<McpCall> = {}) =>
          client.call(turn, { ...DEFAULT_CALL, tool, signal, ...more }),
      };
    },
    async close() {
      for (const each of closing.toReversed()) await each();
      await fetch.close();
    },
  };
}
