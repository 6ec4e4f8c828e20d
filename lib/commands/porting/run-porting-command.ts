import { createWriteStream } from "node:fs";
import { open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { syncFolder } from "#lib/disk/durable.ts";
import { DOCUMENT_LIMITS } from "#lib/porting/format.ts";
import { countOf } from "#lib/text/count-of.ts";
import type { ExportClient } from "./open-export-client.ts";
import type { PortingCommand } from "./read-command.ts";

type Run = Extract<PortingCommand, { kind: "export" | "import" }>;

/** Runs a command. @returns whether it succeeded, and the lines to print. */
export function runPortingCommand(
  client: ExportClient,
  command: Run,
): Promise<{ isDone: boolean; lines: string[] }> {
  return command.kind === "export" ? runExport(client, command) : runImport(client, command);
}

const refuse = (problem: string) => ({ isDone: false, lines: [problem] });

async function runExport(
  client: ExportClient,
  { sessionId, out, ...options }: Extract<Run, { kind: "export" }>,
) {
  const opened = await client.openExport(sessionId, options);
  if (!opened.ok) return refuse(`${sessionId} was not exported: ${opened.problem}.`);
  const path = resolve(out ?? opened.name);
  const exists = await open(path, "wx").then(
    (file) => file.close(),
    (error: NodeJS.ErrnoException) => error,
  );
  if (exists) {
    await opened.body.cancel();
    const why =
      exists.code === "EEXIST"
        ? "exists already; name another file with --out"
        : `cannot be written (${exists.code})`;
    return refuse(`${path} ${why}.`);
  }
  // The export is written to a second file. The complete file replaces the empty file at `path`, so that a partial file
  // is never mistaken for an export.
  const unfinished = `${path}.unfinished`;
  try {
    await pipeline(
      Readable.fromWeb(opened.body as import("node:stream/web").ReadableStream),
      createWriteStream(unfinished, { flush: true }),
    );
    await rename(unfinished, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await Promise.all([rm(path, { force: true }), rm(unfinished, { force: true })]);
    throw error;
  }
  return { isDone: true, lines: [`Wrote ${path}.`] };
}

async function runImport(client: ExportClient, { file, sessionId }: Extract<Run, { kind: "import" }>) {
  const size = await stat(file).then(
    (found) => (found.isFile() ? found.size : undefined),
    () => undefined,
  );
  if (size === undefined) return refuse(`${file} is not a file that can be read.`);
  if (size > DOCUMENT_LIMITS.bytesMax)
    return refuse(`${file} has ${size} bytes; a document may have 10 MiB.`);
  const imported = await client.importDocument(sessionId, new Uint8Array(await readFile(file)));
  if (!imported.ok) return refuse(`Nothing was imported: ${imported.problem}.`);
  const { isNew, id, variants, messageCount, planItemCount, requirementCount, leftOut } = imported;
  return {
    isDone: true,
    lines: [
      isNew
        ? `Imported ${file} as ${id}:`
        : `${file} was imported before, as ${id}; nothing has changed. It held:`,
      ...variants.map(({ from, key }) => `  variant ${key}${from === key ? "" : `, which was ${from}`}`),
      ...(messageCount > 0 ? [`  a conversation of ${countOf(messageCount, "message")}`] : []),
      ...(planItemCount > 0 ? [`  a plan of ${countOf(planItemCount, "item")}`] : []),
      ...(requirementCount > 0 ? [`  ${countOf(requirementCount, "requirement")}`] : []),
      ...(leftOut.length > 0 ? ["Left out:"] : []),
      ...leftOut.map(({ field, reason }) => `  ${field}: ${reason}`),
    ].map(printable),
  };
}

/** Replaces control characters in text of an imported document, because a terminal could act on them. */
const printable = (line: string): string => line.replace(/[\p{Cc}\p{Cf}]/gu, " ");
