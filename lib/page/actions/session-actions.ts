import type { SessionSnapshot } from "../state/session-snapshot.ts";
import type {
  AgentView,
  DeliveryView,
  ElicitationAnswer,
  FollowUpMode,
  QueuedMessage,
  ShareLinkView,
  ShareRole,
  Skill,
  VariantEdit,
  VariantRevision,
  VariantSummary,
} from "../state/view-types.ts";
import { type BrowserFileActions, createBrowserFileActions } from "./browser-file-actions.ts";
import { type ActionOutcome, callAction, pick } from "./call-action.ts";
import { createFileActions, type FileActions } from "./file-actions.ts";
import { createPageActions, type PageActions } from "./page-actions.ts";
import { createPlanningActions, type PlanningActions } from "./planning-actions.ts";
import { createPortingActions, type PortingActions } from "./porting-actions.ts";
import { createPublicationActions, type PublicationActions } from "./publication-actions.ts";
import { type EarlierMessages, readEarlier } from "./read-earlier.ts";
import { createTestRunActions, type TestRunActions } from "./test-run-actions.ts";

/** An item of a paste: text, or a file with its bytes in base64. */
export type PastedItem =
  | { type: "text/plain" | "text/html"; text: string }
  | { type: string; name: string; base64: string };

/** The actions of the page on its session. The share cookie is the credential. Source: `wire.md`, Follow-ups. */
export type SessionActions = PublicationActions &
  PlanningActions &
  PageActions &
  BrowserFileActions &
  TestRunActions &
  PortingActions &
  FileActions & {
    /** @param attachments paths of files of the workspace. */
    sendMessage: (
      text: string,
      mode: FollowUpMode,
      attachments?: readonly string[],
    ) => Promise<ActionOutcome<{ requestId: string; runId: string; queued: boolean }>>;
    /**
     * Sends a message of the page around a frame. Its turn counts as started by a program.
     *
     * @param id the id of the host page's command. The service accepts a message with an id only once.
     */
    sendHostMessage: (
      text: string,
      mode: FollowUpMode,
      id: string,
    ) => Promise<ActionOutcome<{ requestId: string; runId: string; queued: boolean }>>;
    /** Stops the running turn. The answer contains the id of the stopped run; null if no run was stopped. */
    cancel: () => Promise<ActionOutcome<{ runId: string | null }>>;
    answer: (
      elicitationId: string,
      reply: { answer: ElicitationAnswer } | { decline: true },
    ) => Promise<ActionOutcome<unknown>>;
    /** Reads every sub-agent below the session. */
    readAgents: () => Promise<ActionOutcome<AgentView[]>>;
    /** Stops a sub-agent, and all sub-agents below that sub-agent. */
    cancelAgent: (agentId: string) => Promise<ActionOutcome<unknown>>;
    readQueue: () => Promise<ActionOutcome<QueuedMessage[]>>;
    editQueued: (requestId: string, text: string) => Promise<ActionOutcome<unknown>>;
    removeQueued: (requestId: string) => Promise<ActionOutcome<unknown>>;
    /** Reads the newest callbacks of the session, with their attempts. */
    readDeliveries: () => Promise<ActionOutcome<DeliveryView[]>>;
    /** Sends a delivered or dropped callback again. */
    redeliver: (deliveryId: string) => Promise<ActionOutcome<DeliveryView>>;
    /** Reads the messages directly before the sequence number `before`. */
    readEarlier: (before: number) => Promise<ActionOutcome<EarlierMessages>>;
    /** Reads the skills that the session was created with. */
    readSkills: () => Promise<ActionOutcome<Skill[]>>;
    /** Reads the variants of the session, at most 100. */
    readVariants: () => Promise<ActionOutcome<VariantSummary[]>>;
    /** Reads a revision of a variant with its newest check. */
    readRevision: (key: string, revision: number) => Promise<ActionOutcome<VariantRevision>>;
    /**
     * Stores edits of a revision as a new revision. Fails with 409 if the variant has a newer revision than
     * `baseRevision`.
     */
    editVariant: (
      key: string,
      baseRevision: number,
      edits: VariantEdit[],
    ) => Promise<ActionOutcome<VariantSummary>>;
    /** Checks the newest revision of a variant; resolves when the check is done. */
    checkVariant: (key: string) => Promise<ActionOutcome<VariantSummary>>;
    /** Shows a variant in the live browser; null shows none. */
    showVariant: (key: string | null) => Promise<ActionOutcome<{ variant: string | null }>>;
    moveBrowser: (
      move: { url: string } | { action: "back" | "forward" | "reload" | "open" },
    ) => Promise<ActionOutcome<unknown>>;
    /** Pastes into the live page. Fails with 409 if this visitor does not have control of the browser. */
    pasteIntoPage: (items: PastedItem[]) => Promise<ActionOutcome<unknown>>;
    /** Reads the session's own link, and the newest share links without their secrets. */
    /** Reads all share links of the session, newest first. */
    readShareLinks: () => Promise<ActionOutcome<{ shareUrl: string; data: ShareLinkView[] }>>;
    /** Creates a link. The service returns `shareUrl` only in this answer. */
    createShareLink: (link: ShareLinkDraft) => Promise<ActionOutcome<{ shareUrl: string }>>;
    revokeShareLink: (linkId: string) => Promise<ActionOutcome<unknown>>;
    /** Revokes every link, including the session's own link. The answer contains the session's new link. */
    revokeAllShareLinks: () => Promise<ActionOutcome<{ shareUrl: string }>>;
  };

/** Long, because a check loads each page several times and may have to wait for a browser. */
const CHECK_TIMEOUT_MS = 310_000;

/** A share link to create. Without `expiresAt`, the link does not expire. */
export type ShareLinkDraft = { role: ShareRole; label?: string; expiresAt?: string };

type ShareLinkPage = { shareUrl: string; data: ShareLinkView[]; nextCursor: string | null };

/**
 * Creates the actions of one session.
 *
 * @param connectionId returns the id of the page's live connection. Navigation requests contain the id, because while a
 * person has control, only the connection of that person may navigate.
 * @param headers headers of uploads, which `fetcher` does not send.
 */
export function createSessionActions(
  {
    actions,
    files,
    messages,
    agents,
    variants,
    tests,
    planning,
    imports,
    skills,
  }: Pick<
    SessionSnapshot["paths"],
    "actions" | "files" | "messages" | "agents" | "variants" | "tests" | "planning" | "imports" | "skills"
  >,
  fetcher: typeof fetch,
  connectionId: () => string | null = () => null,
  headers: Readonly<Record<string, string>> = {},
): SessionActions {
  const call = <Answer>(method: string, path: string, body?: unknown) =>
    callAction<Answer>(fetcher, method, `${actions}${path}`, body);
  return {
    ...createPublicationActions(variants, fetcher),
    ...createPlanningActions({ planning, actions }, fetcher),
    ...createPageActions(actions, fetcher),
    ...createBrowserFileActions(actions, fetcher, connectionId, headers),
    ...createTestRunActions({ tests, actions }, fetcher),
    ...createPortingActions({ actions, imports }, fetcher),
    ...createFileActions(files, fetcher, headers),
    sendMessage: (text, mode, attachments = []) =>
      call("POST", "/messages", { text, mode, ...(attachments.length > 0 && { attachments }) }),
    sendHostMessage: (text, mode, id) =>
      call("POST", "/host-messages", { text, mode, idempotencyKey: `frame-command:${id}` }),
    cancel: () => call("POST", "/cancel", {}),
    answer: (elicitationId, reply) => call("POST", `/elicitations/${elicitationId}`, reply),
    async readAgents() {
      const outcome = await call<{ agents: AgentView[] }>("GET", "/agents");
      return pick(outcome, "agents");
    },
    cancelAgent: (agentId) => callAction(fetcher, "POST", `${agents}/${agentId}/actions/cancel`, {}),
    async readQueue() {
      const outcome = await call<{ data: QueuedMessage[] }>("GET", "/queue");
      return pick(outcome, "data");
    },
    editQueued: (requestId, text) => call("PATCH", `/queue/${requestId}`, { text }),
    removeQueued: (requestId) => call("DELETE", `/queue/${requestId}`),
    async readDeliveries() {
      const outcome = await call<{ data: DeliveryView[] }>("GET", "/deliveries");
      return pick(outcome, "data");
    },
    async redeliver(deliveryId) {
      const path = `/deliveries/${deliveryId}/redeliver`;
      const outcome = await call<{ delivery: DeliveryView }>("POST", path, {});
      return pick(outcome, "delivery");
    },
    readEarlier: (before) => readEarlier(messages, before, fetcher),
    async readSkills() {
      const outcome = await callAction<{ data: Skill[] }>(fetcher, "GET", skills);
      return pick(outcome, "data");
    },
    async readVariants() {
      const outcome = await callAction<{ data: VariantSummary[] }>(fetcher, "GET", `${variants}?limit=100`);
      return pick(outcome, "data");
    },
    async readRevision(key, revision) {
      const path = `${variants}/${key}/revisions/${revision}`;
      return pick(await callAction<{ revision: VariantRevision }>(fetcher, "GET", path), "revision");
    },
    async editVariant(key, baseRevision, edits) {
      const path = `/variants/${key}/revisions`;
      const outcome = await call<{ variant: VariantSummary }>("POST", path, { baseRevision, edits });
      return pick(outcome, "variant");
    },
    async checkVariant(key) {
      const path = `${actions}/variants/${key}/check`;
      const outcome = await callAction<{ variant: VariantSummary }>(fetcher, "POST", path, undefined, {
        timeoutMs: CHECK_TIMEOUT_MS,
      });
      return pick(outcome, "variant");
    },
    showVariant: (variant) => call("POST", "/shown-variant", { variant }),
    moveBrowser(move) {
      const id = connectionId();
      return call("POST", "/browser", id === null ? move : { ...move, connectionId: id });
    },
    pasteIntoPage: (items) => call("POST", "/paste", { connectionId: connectionId() ?? "", items }),
    async readShareLinks() {
      const data: ShareLinkView[] = [];
      for (let cursor: string | null = ""; ; ) {
        const page: ActionOutcome<ShareLinkPage> = await call(
          "GET",
          `/share-links?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        if (!page.isDone) return page;
        data.push(...page.answer.data);
        cursor = page.answer.nextCursor;
        if (cursor === null) return { ...page, answer: { shareUrl: page.answer.shareUrl, data } };
      }
    },
    createShareLink: (link) => call("POST", "/share-links", link),
    revokeShareLink: (linkId) => call("DELETE", `/share-links/${linkId}`),
    revokeAllShareLinks: () => call("POST", "/share-links/revoke-all", {}),
  };
}
