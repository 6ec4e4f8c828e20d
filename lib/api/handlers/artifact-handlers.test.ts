import assert from "node:assert/strict";
import { test } from "node:test";
import { readArtifact } from "./artifact-handlers.ts";
import type { ApiServices } from "./services.ts";

/** Requests an artifact of a media type. @returns the response. */
async function read(mediaType: string, ifNoneMatch?: string): Promise<Response> {
  const artifact = {
    pointer: { id: "evi_a", kind: "file", title: "", url: null, mediaType },
    bytes: new Uint8Array(),
  };
  const services = { evidence: { read: async () => artifact } } as unknown as ApiServices;
  const request = new Request("http://service.example", {
    headers: ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch },
  });
  const params = { sessionId: "ses_a", artifactId: "evi_a" };
  const call = { request, params } as Parameters<typeof readArtifact>[1];
  const answer = await readArtifact(services, call);
  assert.ok(answer instanceof Response);
  return answer;
}

test("a file is downloaded with the extension of its media type, and always as octet-stream", async () => {
  const extensions = {
    "text/html": "html",
    "text/html; charset=utf-8": "html",
    "Text/Markdown": "md",
    "text/plain": "txt",
    "application/json": "json",
    "application/zip": "zip",
    "image/svg+xml": "bin",
    "application/octet-stream": "bin",
    constructor: "bin",
  };
  for (const [mediaType, extension] of Object.entries(extensions)) {
    const { headers } = await read(mediaType);
    assert.equal(headers.get("content-disposition"), `attachment; filename="evi_a.${extension}"`, mediaType);
    assert.equal(headers.get("content-type"), "application/octet-stream");
  }
});

test("a picture is shown inline", async () => {
  const { headers } = await read("image/png");
  assert.deepEqual(
    [headers.get("content-type"), headers.get("content-disposition")],
    ["image/png", "inline"],
  );
});

test("an artifact is stored by browsers but asked for each time, so that a revoked link ends the access", async () => {
  const { headers } = await read("image/png");
  assert.equal(headers.get("cache-control"), "private, no-cache");
  const again = await read("image/png", String(headers.get("etag")));
  assert.equal(again.status, 304);
  assert.equal(again.headers.get("cache-control"), "private, no-cache");
  assert.equal((await read("image/png", '"evi_b"')).status, 200);
});
