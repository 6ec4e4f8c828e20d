import type { SessionRow } from "#lib/session/store/session-store.ts";
import { slugOf } from "#lib/text/slug-of.ts";
import { writeHtml } from "./html/write-html.ts";
import type { PortingDeps } from "./porting-deps.ts";
import { readSessionContent } from "./read-content.ts";
import { writeJson } from "./write-json.ts";

type ExportFormat = "json" | "html";

const CHUNK_CHARACTERS = 64 * 1024;

/** Exports a session as a stream. The content is read only as fast as the client reads the stream. */
export async function openExport(
  deps: PortingDeps,
  session: SessionRow,
  { format, hasBytes }: { format: ExportFormat; hasBytes: boolean },
): Promise<ReadableStream<Uint8Array>> {
  const content = await readSessionContent(deps, session);
  return toStream(format === "json" ? writeJson(content, { hasBytes }) : writeHtml(content));
}

function toStream(pieces: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const parts: string[] = [];
        for (let length = 0; length < CHUNK_CHARACTERS; ) {
          const next = await iterator.next();
          if (next.done) {
            if (parts.length > 0) controller.enqueue(encoder.encode(parts.join("")));
            return controller.close();
          }
          parts.push(next.value);
          length += next.value.length;
        }
        controller.enqueue(encoder.encode(parts.join("")));
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 1 },
  );
}

const NAME_CHARACTERS_MAX = 60;

/**
 * Builds the file name that browsers suggest for an export. The name has only characters that all file systems support.
 */
export function fileNameOf({ id, title }: Pick<SessionRow, "id" | "title">, format: ExportFormat): string {
  return `${slugOf(title, NAME_CHARACTERS_MAX) || id}.session.${format}`;
}
