import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LandingPage } from "#lib/events/event.ts";
import type { TestService } from "../testing.ts";

/** The contents of files, by path in a folder. */
export type Files = Record<string, string | Uint8Array>;

/** Returns the path of a session's workspace. Creates the folder if it does not exist. */
export async function workspaceOf(service: TestService, sessionId: string): Promise<string> {
  const folder = join(service.dataDir, "workspaces", sessionId);
  await mkdir(folder, { recursive: true });
  return folder;
}

/** Writes a folder in a session's workspace. Replaces an existing folder. */
export async function writeFolder(
  service: TestService,
  sessionId: string,
  folder: string,
  files: Files,
): Promise<string> {
  const root = join(await workspaceOf(service, sessionId), folder);
  await rm(root, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return root;
}

/** Creates a session and waits until its first turn has ended. */
export async function openSession(service: TestService, more: Record<string, unknown> = {}) {
  const session = await service.create("Make a page.", more);
  await service.completed(session.statusUrl);
  return session;
}

type Session = { sessionId: string; requestId: string; runId: string };

/** Calls the tool `deploy_landing_page` in the way the agent of this session does. */
export async function deploy(
  service: TestService,
  { sessionId, requestId, runId }: Session,
  input: Record<string, unknown>,
  callId: string = crypto.randomUUID(),
): Promise<{ isError: boolean; text: string }> {
  const tool = service.container.services.tools.find(({ name }) => name === "deploy_landing_page");
  assert.ok(tool);
  const result = await tool.execute(tool.input.parse(input), {
    sessionId,
    browserSessionId: sessionId,
    rootSessionId: sessionId,
    requestId,
    runId,
    callId,
    mayAskPeople: true,
    hasTool: () => true,
    signal: new AbortController().signal,
  });
  assert.ok("isError" in result);
  const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  return { isError: result.isError, text };
}

/** Lists the landing pages of a session with the API. */
export const listPages = async (service: TestService, sessionId: string): Promise<LandingPage[]> =>
  (await service.read<{ data: LandingPage[] }>(`/api/sessions/${sessionId}/pages`)).data;

/** Deploys a folder in the given session or in a new one. @returns the session and its landing page. */
export async function deployFiles(
  service: TestService,
  files: Files,
  input: { slug?: string; note?: string } = {},
  existing?: Awaited<ReturnType<typeof openSession>>,
) {
  const session = existing ?? (await openSession(service));
  await writeFolder(service, session.sessionId, "site", files);
  const { isError, text } = await deploy(service, session, { folder: "site", ...input });
  assert.equal(isError, false, text);
  const page = (await listPages(service, session.sessionId)).at(-1);
  assert.ok(page);
  return { session, page, text };
}

/** Reads the stored events of one kind from a session's log. */
export async function readEvents(service: TestService, sessionId: string, kind: string) {
  const events = await service.container.services.log.read(sessionId, { after: 0, limit: 500 });
  return events.filter((event) => event.kind === kind).map(({ body }) => JSON.parse(body));
}
