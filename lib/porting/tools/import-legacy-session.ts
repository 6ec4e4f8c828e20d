import { z } from "zod";
import type { ImportSummary } from "#lib/events/event.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { excerptAround } from "#lib/session/transcript/transcript.ts";
import { countOf } from "#lib/text/count-of.ts";
import { quoteAsData } from "#lib/tools/quote-as-data.ts";
import { defineTool, errorResult, type Tool, type ToolCall } from "#lib/tools/tool.ts";
import { DOCUMENT_LIMITS, type LeftOut } from "../format.ts";
import { importDocument } from "../import-document.ts";
import { listImportedMessages } from "../import-store.ts";
import type { PortingDeps } from "../porting-deps.ts";
import { type ReadDocument, readDocument } from "../read-document.ts";
import { readInThread } from "../read-in-thread.ts";

const LISTED_MAX = 20;

/**
 * `import_legacy_session`: imports a document into the session.
 * Source: specification, Structured sessions; `wire.md`, Export and import of a session.
 */
export const importLegacySession = (deps: PortingDeps): Tool =>
  defineTool({
    name: "import_legacy_session",
    description:
      "Imports a session's JSON export, a variant's JSON export, or a GrowthBook or PostHog document into this session: its variants as new variants, its conversation as history to read. A person or program imports plan and requirements. Give the document. With path, a file of the workspace is read instead.",
    input: z.strictObject({
      document: z.unknown().optional().describe("the JSON document"),
      path: z.string().min(1).optional().describe("such as downloads/session.json"),
    }),
    idempotent: true,
    readOnly: false,
    changes: true,
    async execute({ document, path }, call) {
      const read = await readInput(deps, { document, path }, call);
      if (!read.ok) return refuse(read.problem);
      const { rootSessionId: sessionId, requestId, runId, callId } = call;
      const imported = await importDocument(deps, {
        sessionId,
        plan: read.plan,
        author: "agent",
        requestId,
        runId,
        callId,
      });
      return imported.ok ? describeImport(deps, imported) : refuse(imported.problem);
    },
  });

const refuse = (problem: string) =>
  errorResult(`import_legacy_session: ${problem.replace(/[.]?$/, ".")} Nothing was imported.`);

async function readInput(
  deps: PortingDeps,
  { document, path }: { document?: unknown; path?: string | undefined },
  call: ToolCall,
): Promise<ReadDocument> {
  if ((document === undefined) === (path === undefined))
    return { ok: false, problem: "document: give either the document or its path" };
  // Some models send the document as JSON text instead of an object.
  if (typeof document === "string") return readInThread(Buffer.from(document.toWellFormed()));
  if (path === undefined) return readDocument(document);
  const session = await findSession(deps.db, call.rootSessionId);
  if (!session?.capabilities.sandbox)
    return { ok: false, problem: "path: this session has no workspace; give the document itself" };
  try {
    const workspace = await deps.sandbox.open(call.rootSessionId);
    const { bytes, totalBytes } = await workspace.readFile(path, DOCUMENT_LIMITS.bytesMax);
    if (totalBytes > DOCUMENT_LIMITS.bytesMax)
      return { ok: false, problem: `path: the file has ${totalBytes} bytes; a document may have 10 MiB` };
    return await readInThread(bytes);
  } catch (error) {
    if (isWorkspaceError(error))
      return { ok: false, problem: `path: ${error.message.replace(/^path: /, "")}` };
    throw error;
  }
}

async function describeImport(
  deps: PortingDeps,
  imported: { isNew: boolean; summary: ImportSummary; leftOut: LeftOut[] },
): Promise<string> {
  const { isNew, summary, leftOut } = imported;
  const { id, variants, messageCount, planItemCount, requirementCount, createdAt } = summary;
  const lines = [
    isNew
      ? `Imported as ${id}.`
      : `Imported already, as ${id} at ${createdAt}. This call changed nothing. It held:`,
    ...variants.map(
      ({ from, key }) => `- variant ${key}${from === key ? "" : `, which was ${from}`}: not checked yet`,
    ),
  ];
  if (messageCount > 0) {
    const first = await listImportedMessages(deps.db, id, { after: 0, limit: LISTED_MAX });
    const excerpts = first.map(({ position, role, parts }) => {
      const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
      return `${id}/${position} ${role}: ${excerptAround(text, "")}`;
    });
    lines.push(
      `- a conversation: ${countOf(messageCount, "message")}. read_message reads one by its id, ${id}/1 to ${id}/${messageCount}; search_transcript finds them by text.`,
      quoteAsData("the imported conversation, its beginning", excerpts.join("\n")),
    );
  }
  if (planItemCount > 0) lines.push(`- a plan of ${countOf(planItemCount, "item")}`);
  if (requirementCount > 0)
    lines.push(`- ${countOf(requirementCount, "requirement")}: list_requirements shows them`);
  if (leftOut.length > 0) {
    const listed = leftOut.slice(0, LISTED_MAX).map(({ field, reason }) => `${field}: ${reason}`);
    const more = leftOut.length > LISTED_MAX ? [`and ${leftOut.length - LISTED_MAX} more`] : [];
    lines.push("Left out:", quoteAsData("the document", [...listed, ...more].join("\n")));
  }
  return lines.join("\n");
}
