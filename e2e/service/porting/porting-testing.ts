import assert from "node:assert/strict";
import type { SessionExport } from "#lib/porting/format.ts";
import type { VariantDocument } from "#lib/variant/document.ts";
import { storeRevision } from "#lib/variant/store-revision.ts";
import type { TestService } from "../testing.ts";

/** Exports a session as JSON. */
export async function exportSession(
  service: TestService,
  sessionId: string,
  query = "",
): Promise<SessionExport> {
  const answer = await service.call("GET", `/api/sessions/${sessionId}/export${query}`);
  assert.equal(answer.status, 200, await answer.clone().text());
  return (await answer.json()) as SessionExport;
}

/** Exports a session as HTML. */
export async function exportHtml(service: TestService, sessionId: string): Promise<string> {
  const answer = await service.call("GET", `/api/sessions/${sessionId}/export?format=html`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8");
  return answer.text();
}

/** Imports a document with the API. */
export const importInto = (service: TestService, sessionId: string, body: unknown): Promise<Response> =>
  service.call("POST", `/api/sessions/${sessionId}/import`, body);

export type Imported = {
  import: {
    id: string;
    format: string;
    variants: { from: string; key: string; revision: number }[];
    messageCount: number;
  };
  leftOut: { field: string; reason: string }[];
};

/** Imports a document and checks that the service accepts it. */
export async function imported(service: TestService, sessionId: string, body: unknown, status = 201) {
  const answer = await importInto(service, sessionId, body);
  assert.equal(answer.status, status, await answer.clone().text());
  return (await answer.json()) as Imported;
}

/** Stores revision 1 of a variant. */
export async function storeVariant(
  service: TestService,
  sessionId: string,
  variant: string,
  document: VariantDocument,
): Promise<void> {
  const stored = await storeRevision(service.container.services.variants, {
    sessionId,
    variant,
    baseRevision: 0,
    author: "agent",
    document,
    requestId: null,
    runId: null,
    callId: null,
  });
  assert.ok(stored.ok);
}

/** Creates a variant document with one change. */
export const oneChange = (text: string, url = "https://shop.example/"): VariantDocument => ({
  pages: [
    {
      url,
      match: "path",
      changes: [{ id: "c1", op: "setText", selector: "#pay", text }],
      css: "",
      js: "",
    },
  ],
});

/** Creates a session and waits until its first turn has ended. */
export async function makeSession(service: TestService, task = "work", more: Record<string, unknown> = {}) {
  const session = await service.create(task, more);
  await service.completed(session.statusUrl);
  return session;
}
