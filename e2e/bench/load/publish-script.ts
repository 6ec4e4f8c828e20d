import type { Change } from "#lib/variant/document.ts";
import { callJson } from "../http.ts";
import { startTurn } from "../play-turn.ts";
import type { Subject } from "../subject.ts";
import type { LoadOrder } from "./main.ts";

const CHANGES = 20;

const changes = Array.from(
  { length: CHANGES },
  (_, index): Change => ({ id: `c${index}`, op: "setText", selector: `.c${index}`, text: "New text" }),
);

/** Creates a session, and publishes a variant of it. @returns the URLs of the variant's scripts. */
export async function publishScript(subject: Subject): Promise<{ moving: string; pinned: string }> {
  const { sessionId } = await startTurn(subject, { tools: 0 });
  const variant = `${subject.baseUrl}/api/sessions/${sessionId}/variants/main`;
  const pages = [{ url: "https://shop.example/", match: "path", changes, css: "", js: "" }];
  await callJson("POST", `${variant}/import`, subject.headers, { format: "json", document: { pages } });
  const answer = await callJson("POST", `${variant}/publish`, subject.headers, { unchecked: true });
  const { publication } = answer as { publication: { scriptUrl: string; pinnedScriptUrl: string } };
  const onService = (url: string) => subject.baseUrl + new URL(url).pathname;
  return { moving: onService(publication.scriptUrl), pinned: onService(publication.pinnedScriptUrl) };
}

/**
 * Returns the requests of visitors for each script: without compression, with gzip, and with the ETag of a cached copy.
 */
export async function planLoads(urls: string[]): Promise<LoadOrder["requests"]> {
  const gzip = { "accept-encoding": "gzip" };
  const requests = urls.map(async (url) => {
    const answer = await fetch(url, { headers: gzip });
    await answer.arrayBuffer();
    const cached = { ...gzip, "if-none-match": answer.headers.get("etag") ?? "" };
    return [
      { url, headers: {}, status: 200 },
      { url, headers: gzip, status: 200 },
      { url, headers: cached, status: 304 },
      { url, headers: gzip, status: 200 },
      { url, headers: cached, status: 304 },
    ];
  });
  return (await Promise.all(requests)).flat();
}
