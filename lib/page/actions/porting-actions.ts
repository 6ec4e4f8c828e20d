import type { ExportedMessage, ImportSummary, LeftOut } from "../state/view-types.ts";
import { type ActionOutcome, callAction } from "./call-action.ts";

/** Imports documents, and reads imported conversations. Source: `wire.md`, Export and import of a session. */
export type PortingActions = {
  /** Imports a document. Importing the same document again changes nothing and returns the same answer. */
  importDocument: (
    document: unknown,
  ) => Promise<ActionOutcome<{ import: ImportSummary; leftOut: LeftOut[] }>>;
  /**
   * Reads one page of an imported conversation. `cursor` is the `nextCursor` of the previous page; null for the first
   * page.
   */
  readImport: (importId: string, cursor: string | null) => Promise<ActionOutcome<ImportPage>>;
};

/** One page of an imported conversation, and the parts that the import left out. */
export type ImportPage = { data: ExportedMessage[]; leftOut: LeftOut[]; nextCursor: string | null };

/** Long enough to upload the largest document, 10 MiB, over a slow connection. */
const IMPORT_TIMEOUT_MS = 180_000;

/** @param paths the paths of the session's actions and of its imports. */
export function createPortingActions(
  { actions, imports }: { actions: string; imports: string },
  fetcher: typeof fetch,
): PortingActions {
  return {
    importDocument: (document) =>
      callAction(fetcher, "POST", `${actions}/import`, document, { timeoutMs: IMPORT_TIMEOUT_MS }),
    readImport: (importId, cursor) =>
      callAction(fetcher, "GET", `${imports}/${importId}${cursor === null ? "" : `?cursor=${cursor}`}`),
  };
}

/** Returns the path from which a browser downloads an export of the session. */
export const exportPath = (actions: string, format: "json" | "html"): string =>
  `${actions}/export?format=${format}`;
