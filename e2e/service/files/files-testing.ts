import { readFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { TEST_KEY, type TestService } from "../testing.ts";

/** Creates a session whose turn has ended, and returns how to reach its files. */
export async function openFiles(service: TestService, more: Record<string, unknown> = {}) {
  const created = await service.create("work", more);
  await service.completed(created.statusUrl);
  const { sessionId, shareUrl } = created;
  const api = `/api/sessions/${sessionId}`;
  const files = `${api}/files`;
  const own = { authorization: "", origin: service.env.baseUrl };
  const cookieOf = (url: string) => ({
    ...own,
    cookie: `share=${new URL(url, service.env.baseUrl).searchParams.get("key")}`,
  });
  return {
    sessionId,
    api,
    files,
    folder: join(service.dataDir, "workspaces", sessionId),
    asOwner: cookieOf(shareUrl),
    /** The headers of a visitor with a share link of the role. */
    async as(role: "view" | "comment" | "drive") {
      const link = await service.call("POST", `${api}/share-links`, { role });
      return cookieOf(((await link.json()) as { shareUrl: string }).shareUrl);
    },
    get: (path: string, headers: Record<string, string> = {}) =>
      service.call("GET", `${files}/${path}`, undefined, headers),
    put: (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
      service.call("PUT", `${files}/${path}`, body, headers),
    remove: (path: string, headers: Record<string, string> = {}) =>
      service.call("DELETE", `${files}/${path}`, undefined, headers),
    list: async (query = "") => (await service.call("GET", `${files}${query}`)).json() as Promise<Listed>,
    onDisk: (path: string) => readFile(join(service.dataDir, "workspaces", sessionId, path)),
  };
}

type Listed = {
  data: { path: string; type: string; sizeBytes: number; modifiedAt: string; mediaType: string | null }[];
  nextCursor: string | null;
  note: string | null;
};

/** Returns status and error of a refusal. */
export async function refusalOf(response: Response): Promise<[number, string]> {
  const { error } = (await response.json()) as { error: string };
  return [response.status, error];
}

export const keyed = { authorization: `Bearer ${TEST_KEY}` };

/** Draws a picture of one color. */
export const drawPicture = (width = 40, height = 30, format: "png" | "jpeg" = "png"): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: "#2a6" } })
    .toFormat(format)
    .toBuffer();
