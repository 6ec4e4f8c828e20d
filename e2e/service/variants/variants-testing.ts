import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { readOfferedTools } from "#e2e/fixtures/offered-tools.ts";
import type { Step, StepToolCall } from "#e2e/fixtures/scripted-model/types.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import type { CheckedPage, CheckReport, Finding } from "#lib/variant/check/check-report.ts";
import type { VariantDocument } from "#lib/variant/document.ts";
import { recordCheck, storeRevision } from "#lib/variant/store-revision.ts";
import { openTestService, type TestService } from "../testing.ts";

/** Creates a call of the tool `apply_variant`. */
export const apply = (input: Record<string, unknown>): StepToolCall => ({
  name: "apply_variant",
  arguments: input,
});

/** Creates a step in which the scripted model calls one tool. */
export const step = (name: string, input: Record<string, unknown> = {}): Step => ({
  toolCalls: [{ name, arguments: input }],
});

/** Creates a step that runs a script in the live page. */
export const script = (text: string): Step => step("browser_execute", { script: text });

/** Plays a turn in a new session. @returns the session and the results of the turn's tool calls, in order. */
export async function playTurn(
  service: TestService,
  steps: Step[],
  profile: Record<string, unknown> = {},
  withinMs = 150_000,
): Promise<{ session: Awaited<ReturnType<TestService["create"]>>; results: string[] }> {
  const marker = `task ${crypto.randomUUID()}`;
  scriptTurn(service, marker, steps);
  const session = await service.create(marker, profile);
  await service.completed(session.statusUrl, withinMs);
  return { session, results: readResults(service, marker) };
}

/** Plays a further turn of a session. @returns the results of the turn's tool calls, in order. */
export async function playFollowUp(
  service: TestService,
  sessionId: string,
  steps: Step[],
): Promise<string[]> {
  const marker = `task ${crypto.randomUUID()}`;
  scriptTurn(service, marker, steps);
  const posted = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, { text: marker });
  await service.completed(((await posted.json()) as { statusUrl: string }).statusUrl, 60_000);
  return readResults(service, marker);
}

const scripts = new WeakMap<TestService, Map<string, Step[]>>();

/** Scripts the steps of the turns whose user message contains `marker`. */
export function scriptTurn(service: TestService, marker: string, steps: Step[]): void {
  const scripted = scripts.get(service) ?? new Map<string, Step[]>();
  if (!scripts.has(service)) {
    scripts.set(service, scripted);
    service.model.respondWith(({ kind, userText, answersSoFar }) => {
      if (kind === "probe") return { text: "{", finish: "length" };
      if (kind === "structured") return { json: { title: "Shop" } };
      const own = [...scripted].findLast(([text]) => userText.includes(text))?.[1];
      return own?.[answersSoFar] ?? { text: "Done." };
    });
  }
  scripted.set(marker, steps);
}

function readResults(service: TestService, marker: string): string[] {
  const request = service.model.requests.findLast(
    ({ kind, userText }) => kind === "turn" && userText.includes(marker),
  );
  assert.ok(request, `no model call of ${marker}`);
  return request.toolResults;
}

/** Returns the names of the tools that the last model call of a turn offered. */
export function readOffered(service: TestService): string[] {
  const request = service.model.requests.findLast(({ kind }) => kind === "turn");
  return readOfferedTools(request);
}

export const listVariants = async (service: TestService, sessionId: string): Promise<VariantSummary[]> =>
  (await service.read<{ data: VariantSummary[] }>(`/api/sessions/${sessionId}/variants`)).data;

/** Reads a revision of a variant with the API. */
export async function readRevision(
  service: TestService,
  sessionId: string,
  number: number,
  variant = "main",
): Promise<ShownRevision> {
  const path = `/api/sessions/${sessionId}/variants/${variant}/revisions/${number}`;
  return (await service.read<{ revision: ShownRevision }>(path)).revision;
}

type ShownRevision = {
  author: string;
  isShown: boolean;
  document: VariantDocument;
  check: Pick<CheckReport, "status" | "at" | "findings" | "pages"> | null;
};

/** Stores revision 1 of the variant `main`, which changes the text of `#pay`. */
export async function storeVariant(
  service: TestService,
  sessionId: string,
  url = "https://shop.example/",
): Promise<void> {
  const change = { id: "c1", op: "setText" as const, selector: "#pay", text: "Pay now" };
  const page = { url, match: "path" as const, changes: [change], css: "", js: "" };
  await storeRevision(service.container.services.variants, {
    sessionId,
    variant: "main",
    baseRevision: 0,
    author: "agent",
    document: { pages: [page] },
    requestId: null,
    runId: null,
    callId: null,
  });
}

/**
 * Stores a check of a revision of `main` with these outcomes, as `check_variant` does. @returns the stored report.
 */
export async function storeOutcomes(
  service: TestService,
  sessionId: string,
  revision: number,
  outcomes: Record<string, "proved" | "failed" | "not_examined">,
  {
    viewports = ["desktop"] as CheckedPage["viewport"][],
    reason = "It is not visible on the loaded page.",
    at = new Date().toISOString(),
  } = {},
): Promise<CheckReport> {
  const url = "https://shop.example/";
  const findings = Object.entries(outcomes).flatMap(([changeId, outcome]): Finding[] => {
    if (outcome === "proved") return [];
    const code = outcome === "failed" ? "no_effect" : "not_examined";
    return [{ level: "fail", code, changeId, url, viewport: "desktop", message: "A message." }];
  });
  const done = "ok" as const;
  const changes = Object.entries(outcomes).map(([id, outcome]) => ({
    id,
    matched: 1,
    outcome,
    reason: outcome === "not_examined" ? reason : null,
    applied: done,
    hydration: done,
    rerender: done,
    navigation: done,
    revert: done,
  }));
  const pictures = { before: null, after: null, difference: null };
  const pages = viewports.map((viewport) => ({
    url,
    viewport,
    changes,
    paintToAppliedMs: 0,
    layoutShift: 0,
    pictures,
  }));
  const report = {
    variant: "main",
    revision,
    status: "fail" as const,
    durationMs: 1,
    findings,
    pages,
    notes: [],
  };
  const about = { sessionId, requestId: null, runId: null };
  const stored = await recordCheck(service.container.services.variants, about, { ...report, at });
  return stored ?? assert.fail("the revision is gone");
}

/** Posts an action of the session page as the holder of a share link. */
export const actOnPage = (
  service: TestService,
  { sessionId, shareUrl }: { sessionId: string; shareUrl: string },
  path: string,
  body: unknown,
): Promise<Response> =>
  service.call("POST", `/s/${sessionId}/actions${path}`, body, {
    authorization: "",
    cookie: `share=${new URL(shareUrl, service.env.baseUrl).searchParams.get("key")}`,
    origin: service.env.baseUrl,
  });

/** Opens a service with a browser, and a site on this machine. The tests of a file share the service and the site. */
export async function openVariantsService(listener: RequestListener) {
  const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
  const [service, site] = await Promise.all([
    openTestService({ BROWSER_EXECUTABLE_PATH, SANDBOX: "unconfined" }),
    openSite(listener),
  ]);
  const close = async () => {
    await service.close();
    site.close();
  };
  return { service, site, close };
}

/** Starts a site on this machine. */
export async function openSite(listener: RequestListener): Promise<{ url: string; close: () => void }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
