import assert from "node:assert/strict";
import type { TestService } from "../testing.ts";

/** An annotation as the API lists it. */
type ListedAnnotation = {
  id: string;
  status: string;
  resolution: string | null;
  resolvedBy: string | null;
  sentRequestId: string | null;
  annotations: { comment: string }[];
};

/** A session whose first turn has ended, with functions for its annotations. */
export async function openAnnotated(service: TestService) {
  const session = await service.create(`Hello ${crypto.randomUUID()}`);
  await service.completed(session.statusUrl);
  const { sessionId, shareUrl } = session;
  const api = `/api/sessions/${sessionId}`;
  const list = async (query = "") =>
    (await service.read<{ data: ListedAnnotation[] }>(`${api}/annotations${query}`)).data;
  return {
    sessionId,
    shareUrl,
    api,
    list,
    /** Submits an annotation of the element `#pay`. @returns its id. */
    async annotate(comment: string, note: Record<string, unknown> = {}, url = "https://shop.example/cart") {
      const element = { type: "element", selector: "#pay", element: "button “Pay”", text: "Pay", comment };
      const body = { event: "submit", url, annotations: [{ ...element, ...note }] };
      const response = await service.call("POST", `${api}/annotations/webhook`, body);
      assert.equal(response.status, 200, await response.clone().text());
      const [newest] = await list();
      assert.ok(newest);
      return newest.id;
    },
    statusOf: async (id: string) => (await list()).find((each) => each.id === id)?.status,
    /** Calls an operation in the way the session page does for the holder of a link with this role. */
    async as(role: "view" | "comment" | "drive") {
      const created = await service.call("POST", `${api}/share-links`, { role });
      const link = ((await created.json()) as { shareUrl: string }).shareUrl;
      const cookie = `share=${new URL(link, service.env.baseUrl).searchParams.get("key")}`;
      return (method: string, path: string, body?: unknown) =>
        service.call(method, path, body, { authorization: "", cookie, origin: service.env.baseUrl });
    },
    /** Reads the kinds and fields of the session's events about annotations. */
    async events() {
      const stored = await service.container.services.log.read(sessionId, { after: 0, limit: 500 });
      return stored
        .map(({ body }) => JSON.parse(body) as Record<string, unknown> & { kind: string })
        .filter(({ kind }) => kind.startsWith("annotation."));
    },
  };
}
